import type { Sender } from "./sending/sender.ts";

/** Files that other apps have shared with the installed app, stored by the service worker until they are uploaded. */
const databaseName = "parley-shared";
const storeName = "files";
const maxAgeMs = 30 * 86_400_000;

interface SharedFile {
  readonly file: File;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Who first saw it in the web app. */
  readonly userId?: string;
}

/** Stored files with their keys. */
export type SharedFiles = Map<File, IDBValidKey>;

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

/** The stored files of a user. Old ones and those of another user, whose session has ended, are removed. */
async function readShared(userId: string): Promise<SharedFiles> {
  const store = await openStore("readwrite");
  const shared: SharedFiles = new Map();
  if (store === null) return shared;
  const [keys, files] = await Promise.all([done(store.getAllKeys()), done<SharedFile[]>(store.getAll())]);
  for (const [index, { file, at, userId: owner = userId }] of files.entries()) {
    const key = keys[index] ?? 0;
    if (Date.now() - at > maxAgeMs || owner !== userId) store.delete(key);
    else {
      shared.set(file, key);
      store.put({ file, at, userId }, key);
    }
  }
  return shared;
}

/**
 * Shows a user's stored files, in one tab at a time.
 * @param show resolves once they are uploaded or discarded.
 */
export async function offerSharedFiles(
  userId: string,
  show: (shared: SharedFiles) => Promise<void>,
): Promise<void> {
  await navigator.locks.request(databaseName, { ifAvailable: true }, async (lock) => {
    const shared = lock === null ? new Map() : await readShared(userId);
    if (shared.size > 0) await show(shared);
  });
}

/** Removes the stored files, when their user signs out. */
export async function clearSharedFiles(): Promise<void> {
  (await openStore("readwrite"))?.clear();
}

/** Removes stored files. */
export async function discardSharedFiles(keys: Iterable<IDBValidKey>): Promise<void> {
  const store = await openStore("readwrite");
  for (const key of keys) store?.delete(key);
}

/**
 * Adds stored files to the upload queue. Each stays stored until it is uploaded or removed from the queue.
 * @returns when none is left.
 */
export async function uploadSharedFiles(
  sender: Sender,
  shared: SharedFiles,
  willBeReviewed: boolean,
): Promise<void> {
  await sender.add([...shared.keys()], { willBeReviewed, spokenLanguage: "auto" });
  await new Promise<void>((resolve) => {
    const unsubscribe = sender.subscribe(() => {
      const queued = new Set(sender.list().map(({ file }) => file));
      for (const [file, key] of shared) {
        if (queued.has(file)) continue;
        shared.delete(file);
        void discardSharedFiles([key]);
      }
      if (shared.size > 0) return;
      unsubscribe();
      resolve();
    });
  });
}
