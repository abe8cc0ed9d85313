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

/** Takes the lock of a stored file until the returned function is called; null: a tab has it already. */
async function lock(key: IDBValidKey): Promise<(() => void) | null> {
  const taken = Promise.withResolvers<boolean>();
  const released = Promise.withResolvers<void>();
  void navigator.locks.request(`${databaseName}-${key}`, { ifAvailable: true }, (granted) => {
    taken.resolve(granted !== null);
    return granted === null ? undefined : released.promise;
  });
  return (await taken.promise) ? released.resolve : null;
}

async function storedKeys(): Promise<readonly IDBValidKey[]> {
  const store = await openStore("readonly");
  return store === null ? [] : done(store.getAllKeys());
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
 * Shows a user's stored files, except those that a tab shows or uploads already.
 * @param show resolves once they are uploaded or discarded.
 */
export async function offerSharedFiles(
  userId: string,
  show: (shared: SharedFiles) => Promise<void>,
): Promise<void> {
  const locks = new Map<IDBValidKey, () => void>();
  for (const key of await storedKeys()) {
    const release = await lock(key);
    if (release !== null) locks.set(key, release);
  }
  try {
    // Read now: another tab may have uploaded some before it released their locks.
    const shared = locks.size === 0 ? [] : await readShared(userId);
    const free: SharedFiles = new Map([...shared].filter(([, key]) => locks.has(key)));
    if (free.size > 0) await show(free);
  } finally {
    for (const release of locks.values()) release();
  }
}

/** Removes the stored files, when their user signs out. */
export async function clearSharedFiles(): Promise<void> {
  const store = await openStore("readwrite");
  if (store !== null) await done(store.clear());
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
      const queued = new Set(sender.list().flatMap(({ file, texts }) => [file, ...(texts?.files ?? [])]));
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
