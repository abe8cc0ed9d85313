import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../../platform/storage/store.ts";

/** A folder for one task, removed when the task ends. */
export interface Scratch {
  readonly folder: string;
  /** Path of an object on this machine: its own in a local store, otherwise a copy in the folder. */
  fetch(store: ObjectStore, key: string): Promise<string>;
  /** Removes the folder. */
  close(): Promise<void>;
}

/** How often a task marks its folder as in use, by the folder's time. */
const beatMs = 30_000;

/** A folder not marked for this long is abandoned: several intervals, since a busy machine may be late with some. */
const silentMs = 300_000;

/** Other folders, such as those in which the store receives bodies, are not marked: they have a day. */
const othersMs = 86_400_000;

/** Prefix of the folders' names. */
const workName = /^work-/;

/** Gives the task a folder until it ends. */
export async function withScratch<T>(dataDir: string, work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const scratch = await openScratch(dataDir);
  try {
    return await work(scratch);
  } finally {
    await scratch.close();
  }
}

/**
 * Creates a task's folder inside the data folder, so that a local store can take finished files by a link instead of a
 * copy. The caller closes it.
 */
export async function openScratch(dataDir: string): Promise<Scratch> {
  const folder = join(dataDir, "scratch", `work-${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const beat = setInterval(() => {
    const now = new Date();
    // The next mark comes soon, and a missing folder shows itself anyway.
    utimes(folder, now, now).catch(() => {});
  }, beatMs);
  return {
    folder,
    async fetch(store, key) {
      const own = store.localPath(key);
      if (own !== null) {
        await stat(own).catch(() => store.get(key)); // Throws the store's own error for a missing object.
        return own;
      }
      const path = join(folder, "input");
      const { body } = await store.get(key);
      await pipeline(body, createWriteStream(path, { mode: 0o600, highWaterMark: 1 << 20 }));
      return path;
    },
    async close() {
      clearInterval(beat);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Removes folders of tasks whose process died. Decided by the folder's time alone: processes of other machines and
 * containers may share the data folder, and neither their names nor their numbers identify them.
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
