import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../storage/store.ts";

/** A folder for one piece of work on media, gone when the work is over. */
export interface Scratch {
  readonly folder: string;
  /** Path of an object on this machine: its own where the store is local, or else a copy in the folder. */
  fetch(store: ObjectStore, key: string): Promise<string>;
}

/** How often work says that it goes on, by the time of its folder. */
const beatMs = 30_000;

/** Work that has said nothing for this long is no more: several beats, since a busy machine may be late with some. */
const silentMs = 300_000;

/** Other folders, such as those that the store keeps bodies in on their way, say nothing: they have a day. */
const othersMs = 86_400_000;

/** How the folders of work are named. */
const workName = /^work-/;

/**
 * Gives the work a folder of its own inside the data folder, so that a local store can take finished files by a link
 * instead of a copy.
 */
export async function withScratch<T>(dataDir: string, work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const folder = join(dataDir, "scratch", `work-${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const beat = setInterval(() => {
    const now = new Date();
    // The next beat comes soon, and whoever misses the folder says so itself.
    utimes(folder, now, now).catch(() => {});
  }, beatMs);
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
    clearInterval(beat);
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Removes folders that work of a process that died has left. Told by the time of the folder alone: processes of other
 * machines and containers may share the data folder, and neither their names nor their numbers say who is who.
 */
export async function sweepScratch(dataDir: string): Promise<void> {
  const root = join(dataDir, "scratch");
  for (const name of await readdir(root).catch(() => [])) {
    const folder = join(root, name);
    const info = await stat(folder).catch(() => null);
    const silentFor = info === null ? 0 : Date.now() - info.mtimeMs;
    if (silentFor > (workName.test(name) ? silentMs : othersMs))
      await rm(folder, { recursive: true, force: true });
  }
}
