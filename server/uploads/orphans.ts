import type { Database } from "../db/database.ts";
import { ownerOf, recordingsPrefix, uploadsPrefix } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { findRecordingsWithObjects, findUploadsWithFile } from "./media-queries.ts";

const batch = 500;

/**
 * Removes objects that belong to nothing: files of uploads that ended, and what a worker that was killed has stored
 * for a recording that was not made. An id is planned before its first object is stored and never used again once
 * nothing needs it, so what is orphaned stays so, and no grace time is needed.
 * @returns how many objects were removed.
 */
export async function removeOrphans(db: Database, store: ObjectStore): Promise<number> {
  let removed = 0;
  for (const [prefix, findOwners] of [
    [uploadsPrefix, findUploadsWithFile],
    [recordingsPrefix, findRecordingsWithObjects],
  ] as const) {
    for await (const keys of inBatches(store.list(prefix))) {
      const owners = await findOwners(db.kysely, [...new Set(keys.map(ownerOf).filter((id) => id !== null))]);
      for (const key of keys) {
        const owner = ownerOf(key);
        // Under another form of name lies what we have not put there.
        if (owner === null || owners.has(owner)) continue;
        await store.delete(key);
        removed += 1;
      }
    }
  }
  for await (const keys of inBatches(store.listAppends(uploadsPrefix))) {
    const owners = await findUploadsWithFile(db.kysely, [
      ...new Set(keys.map(ownerOf).filter((id) => id !== null)),
    ]);
    for (const key of keys) {
      const owner = ownerOf(key);
      if (owner === null || owners.has(owner)) continue;
      await store.dropAppend(key);
      removed += 1;
    }
  }
  return removed;
}

async function* inBatches(objects: AsyncIterable<{ readonly key: string }>): AsyncIterable<string[]> {
  let keys: string[] = [];
  for await (const { key } of objects) {
    keys.push(key);
    if (keys.length < batch) continue;
    yield keys;
    keys = [];
  }
  if (keys.length > 0) yield keys;
}
