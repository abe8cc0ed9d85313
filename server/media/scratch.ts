import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../storage/store.ts";

/** A folder for one piece of work on media, gone when the work is over. */
export interface Scratch {
  readonly folder: string;
  /** Path of an object on this machine: its own where the store is local, or else a copy in the folder. */
  fetch(store: ObjectStore, key: string): Promise<string>;
}

/**
 * Gives the work a folder of its own inside the data folder, so that a local store can take finished files by a link
 * instead of a copy.
 */
export async function withScratch<T>(dataDir: string, work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const folder = join(dataDir, "scratch", `${hostName()}_${process.pid}_${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work({
      folder,
      async fetch(store, key) {
        const own = store.localPath(key);
        if (own !== null) {
          await stat(own).catch(() => store.get(key)); // Says in the store's own words that it is missing.
          return own;
        }
        const path = join(folder, "input");
        const { body } = await store.get(key);
        await pipeline(body, createWriteStream(path, { mode: 0o600, highWaterMark: 1 << 20 }));
        return path;
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As far as it may stand in a file name. */
function hostName(): string {
  return hostname().replace(/[^\w.-]/g, "-");
}

/** Whether the folder's process was one of this machine that is no more. */
function isAbandoned(name: string): boolean {
  const [host, pid] = name.split("_");
  if (host !== hostName() || !/^\d+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Removes folders that work of a process that died has left; those of other machines by their age. */
export async function sweepScratch(dataDir: string, olderThan: Date): Promise<void> {
  const root = join(dataDir, "scratch");
  for (const name of await readdir(root).catch(() => [])) {
    const folder = join(root, name);
    const info = await stat(folder).catch(() => null);
    if (isAbandoned(name) || (info !== null && info.mtime < olderThan))
      await rm(folder, { recursive: true, force: true });
  }
}
