import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, fsync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { coalesce } from "../../coalesce.ts";
import type { ObjectInfo } from "../store.ts";
import { failedWith } from "./folders.ts";
import { infoOf, type LocalFolders } from "./object-folders.ts";

/** Objects of at most this size are written in groups. */
export const smallBytes = 128 * 1024;

/** Objects of a group. Each is a file that is open until all are on the disk. */
const maxItems = 128;

/** Folders waited for at a time. */
const maxFolders = 128;

const syncFile = promisify(fsync);

interface Item {
  readonly key: string;
  readonly body: Buffer;
}

/**
 * Returns a `put` for small objects. Concurrent calls share the waiting for the disk: all files of a group are written, then
 * all are synced, then all get their names, and then each of their folders is synced once. So an object is complete or does
 * not exist, as with `put`. System calls that only touch memory block the process, which is several times as fast: for
 * commands, not for servers.
 */
export function groupedPut({ root, temporary }: LocalFolders): (item: Item) => Promise<ObjectInfo> {
  return coalesce((items) => putGroup(root, temporary, items), { concurrency: 1, maxItems });
}

async function putGroup(root: string, temporary: string, items: readonly Item[]): Promise<ObjectInfo[]> {
  const written: { readonly key: string; readonly path: string; readonly fd: number }[] = [];
  let infos: ObjectInfo[];
  try {
    try {
      for (const { key, body } of items) {
        const path = join(temporary, randomUUID());
        const fd = openSync(path, "wx", 0o600);
        written.push({ key, path, fd });
        writeFileSync(fd, body);
      }
      await syncAll(written.map(({ fd }) => fd));
      infos = written.map(({ key, fd }) => infoOf(key, fstatSync(fd, { bigint: true })));
    } finally {
      for (const { fd } of written) closeSync(fd);
    }
    const folders = new Set<string>();
    for (const { key, path } of written) {
      const parent = place(path, join(root, key));
      for (let folder = parent; folder.length >= root.length; folder = dirname(folder)) folders.add(folder);
    }
    await syncFolders([...folders]);
  } catch (error) {
    for (const { path } of written) rmSync(path, { force: true });
    throw error;
  }
  return infos;
}

/** Renames a file. @returns the folder in which it is now. */
function place(from: string, to: string): string {
  const parent = dirname(to);
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(from, to);
      return parent;
    } catch (error) {
      // The folder does not exist yet, or a concurrent removal of its last object has removed it.
      if (attempt === 10 || !failedWith(error, "ENOENT")) throw error;
      mkdirSync(parent, { recursive: true, mode: 0o700 });
    }
  }
}

async function syncFolders(folders: readonly string[]): Promise<void> {
  for (let from = 0; from < folders.length; from += maxFolders) {
    const fds: number[] = [];
    try {
      for (const folder of folders.slice(from, from + maxFolders)) {
        try {
          fds.push(openSync(folder, "r"));
        } catch (error) {
          // A concurrent call has already removed the file again, and the folder with it.
          if (!failedWith(error, "ENOENT")) throw error;
        }
      }
      await syncAll(fds);
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  }
}

/** Waits for all before it throws the first error: none may be closed while it is synced. */
async function syncAll(fds: readonly number[]): Promise<void> {
  const results = await Promise.allSettled(fds.map((fd) => syncFile(fd)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
