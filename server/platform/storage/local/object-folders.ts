import type { BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import type { ObjectInfo } from "../store.ts";

/** The folders of a local store; all in one file system, so that links between them work. */
export interface LocalFolders {
  /** Objects, by key. */
  readonly root: string;
  /** Files being written, by random names. */
  readonly temporary: string;
  /** Unfinished appends, by key. */
  readonly partial: string;
}

/**
 * The properties of an object, from the file system. The etag is not a hash of the bytes, since hashing 4 GiB takes
 * longer than receiving them: a file is never changed in place, so other content is another file written at another
 * time.
 */
export function infoOf(key: string, stats: BigIntStats): ObjectInfo {
  const etag = [stats.size, stats.mtimeNs, stats.ino].map((part) => part.toString(36)).join("-");
  return { key, size: Number(stats.size), etag, modifiedAt: stats.mtime };
}

/** Makes the content of a closed file survive a crash of the machine. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
