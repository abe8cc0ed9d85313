import type { Sender } from "./sending/sender.ts";

/** Files that other apps have shared with the installed app, stored by the service worker until they are uploaded. */
const databaseName = "parley-shared";
const storeName = "files";
const maxAgeMs = 30 * 86_400_000;

interface SharedFile {
  readonly file: File;
  /** Unix time in milliseconds. */
  readonly at: number;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Null where nothing was ever shared. */
async function openStore(mode: IDBTransactionMode): Promise<IDBObjectStore | null> {
  const known = (await indexedDB.databases?.()) ?? [];
  if (!known.some(({ name }) => name === databaseName)) return null;
  const database = await done(indexedDB.open(databaseName, 1));
  return database.transaction(storeName, mode).objectStore(storeName);
}

/** Stored files with their keys; old ones are left out, and removed. */
async function readShared(): Promise<Map<File, IDBValidKey>> {
  const store = await openStore("readwrite");
  if (store === null) return new Map();
  const [keys, files] = await Promise.all([done(store.getAllKeys()), done<SharedFile[]>(store.getAll())]);
  const shared = new Map<File, IDBValidKey>();
  for (const [index, { file, at }] of files.entries()) {
    const key = keys[index] ?? 0;
    if (Date.now() - at > maxAgeMs) store.delete(key);
    else shared.set(file, key);
  }
  return shared;
}

/** Removes the stored files, when their user signs out. */
export async function clearSharedFiles(): Promise<void> {
  (await openStore("readwrite"))?.clear();
}

/** Adds the stored files to the upload queue. Each stays stored until it is uploaded or removed from the queue. */
export async function uploadSharedFiles(sender: Sender, willBeReviewed: boolean): Promise<void> {
  const shared = await readShared();
  if (shared.size === 0) return;
  await sender.add([...shared.keys()], { willBeReviewed, spokenLanguage: "auto" });
  sender.subscribe(() => {
    const queued = new Set(sender.list().map(({ file }) => file));
    for (const [file, key] of shared) {
      if (queued.has(file)) continue;
      shared.delete(file);
      void openStore("readwrite").then((store) => store?.delete(key));
    }
  });
}
