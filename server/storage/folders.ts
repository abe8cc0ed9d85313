import type { Dirent } from "node:fs";
import { link, mkdir, open, readdir, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ObjectExistsError } from "./store.ts";

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
 * Gives a file its place below `root` by `place` (a link or a rename), and makes that survive a crash: every folder on
 * the way may have been made a moment ago, by this process or another that has not synced it yet.
 */
export async function placeBelow(root: string, path: string, place: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      await place();
      break;
    } catch (error) {
      // Somebody who removed the last object in the folder has taken the folder along in between.
      if (attempt === 10 || !failedWith(error, "ENOENT")) throw error;
    }
  }
  for (let folder = dirname(path); folder.length >= root.length; folder = dirname(folder)) {
    try {
      await syncFolder(folder);
    } catch (error) {
      // Somebody has already removed what we placed, and the folder along with it.
      if (!failedWith(error, "ENOENT")) throw error;
    }
  }
}

/** Links a finished file to its place. @throws ObjectExistsError when another file is there. */
export async function linkIfAbsent(from: string, to: string, key: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (failedWith(error, "EEXIST")) throw new ObjectExistsError(`${key} is taken`, { cause: error });
    throw error;
  }
}

/** Removes a file, where it is, and the folders above it up to `root` that this leaves empty. */
export async function removeBelow(root: string, path: string): Promise<void> {
  const folder = dirname(path);
  try {
    await unlink(path);
    await syncFolder(folder);
  } catch (error) {
    // ENOTDIR: what would be a folder on the way is an object, so there is nothing at the key either.
    if (!failedWith(error, "ENOENT", "ENOTDIR")) throw error;
  }
  for (let empty = folder; empty.length > root.length; empty = dirname(empty)) {
    try {
      await rmdir(empty);
    } catch (error) {
      if (failedWith(error, "ENOENT")) continue;
      // Something else is in it, which is the usual case.
      if (failedWith(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) return;
      throw error;
    }
  }
}

/**
 * Walks the files below a folder in the order of their keys (paths with `/`), those whose key begins with `prefix`.
 * Hidden entries are left out.
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
    // Nothing was ever put there, or the last object went while we walked.
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
