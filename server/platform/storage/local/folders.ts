import type { Dirent } from "node:fs";
import { link, mkdir, open, readdir, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ObjectExistsError } from "../store.ts";

/** Whether a system call failed with one of these codes. */
export function failedWith(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(error.code as string);
}

/** Makes the entries of a folder survive a crash of the machine. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Moves a file to its path below `root` with `place` (a link or a rename), and makes that survive a crash: any parent
 * folder may have been created a moment ago, by this process or another that has not synced it yet.
 */
export async function placeBelow<T>(root: string, path: string, place: () => Promise<T>): Promise<T> {
  let placed: T;
  for (let attempt = 1; ; attempt++) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      placed = await place();
      break;
    } catch (error) {
      // A concurrent removal of the last object in the folder has removed the folder in between.
      if (attempt === 10 || !failedWith(error, "ENOENT")) throw error;
    }
  }
  const folders: string[] = [];
  for (let folder = dirname(path); folder.length >= root.length; folder = dirname(folder))
    folders.push(folder);
  await Promise.all(
    folders.map((folder) =>
      syncFolder(folder).catch((error: unknown) => {
        // A concurrent call has already removed the file again, and the folder with it.
        if (!failedWith(error, "ENOENT")) throw error;
      }),
    ),
  );
  return placed;
}

/** Links a finished file to its key. @throws ObjectExistsError when another file is there. */
export async function linkIfAbsent(from: string, to: string, key: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (failedWith(error, "EEXIST")) throw new ObjectExistsError(`${key} is taken`, { cause: error });
    throw error;
  }
}

/** Removes a file if it exists, and the parent folders up to `root` that this leaves empty. */
export async function removeBelow(root: string, path: string): Promise<void> {
  const folder = dirname(path);
  try {
    await unlink(path);
    await syncFolder(folder);
  } catch (error) {
    // ENOTDIR: a parent folder of the key is an object, so the key does not exist either.
    if (!failedWith(error, "ENOENT", "ENOTDIR")) throw error;
  }
  for (let empty = folder; empty.length > root.length; empty = dirname(empty)) {
    try {
      await rmdir(empty);
    } catch (error) {
      if (failedWith(error, "ENOENT")) continue;
      // The folder is not empty, which is the usual case.
      if (failedWith(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) return;
      throw error;
    }
  }
}

/**
 * Iterates over the files below a folder in the order of their keys (paths with `/`), those whose key begins with
 * `prefix`. Hidden entries are skipped.
 */
export async function* walkFiles(root: string, prefix: string): AsyncGenerator<string, void, undefined> {
  const start = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  yield* walkFolder(root, start, prefix);
}

async function* walkFolder(
  root: string,
  parent: string,
  prefix: string,
): AsyncGenerator<string, void, undefined> {
  let entries: Dirent[];
  try {
    entries = await readdir(join(root, parent), { withFileTypes: true });
  } catch (error) {
    // The folder was never created, or its last object was removed in the meantime.
    if (failedWith(error, "ENOENT", "ENOTDIR")) return;
    throw error;
  }
  const found = entries
    .filter((entry) => !entry.name.startsWith("."))
    // With the slash, folders sort among files as their keys do: `a-b` comes before `a/b`, which comes before `a0`.
    .map((entry) => (entry.isDirectory() ? `${parent}${entry.name}/` : `${parent}${entry.name}`))
    .filter((path) => path.startsWith(prefix) || (path.endsWith("/") && prefix.startsWith(path)))
    .sort((a, b) => (a < b ? -1 : 1));
  for (const path of found) {
    if (path.endsWith("/")) yield* walkFolder(root, path, prefix);
    else yield path;
  }
}
