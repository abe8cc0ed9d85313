import type { BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import type { ObjectInfo } from "./store.ts";

/** Where a local store keeps what; all in one file system, so that a link reaches from one to the other. */
export interface LocalFolders {
  /** Objects, by key. */
  readonly root: string;
  /** Files being written, by chance names. */
  readonly temporary: string;
  /** What was appended and not finished, by key. */
  readonly partial: string;
}

/**
 * What the file system knows of an object. The etag is not of the bytes, since hashing 4 GiB takes longer than taking
 * them in: a file is never changed in its place, so another content is another file written at another time.
 */
export function infoOf(key: string, stats: BigIntStats): ObjectInfo {
  const etag = [stats.size, stats.mtimeNs, stats.ino].map((part) => part.toString(36)).join("-");
  return { key, size: Number(stats.size), etag, modifiedAt: stats.mtime };
}

/** Makes the content of a file that is not open survive a crash of the machine. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
