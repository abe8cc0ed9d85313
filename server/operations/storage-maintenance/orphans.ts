import type { Database, Executor } from "../../platform/db/database.ts";
import { forEachIsolated, type SweepLog } from "../../platform/jobs/for-each-isolated.ts";
import { clipOf, ownerOf, recordingsPrefix, uploadsPrefix } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { keepsKeyTaken, needsFile, removeFile } from "../../processing/uploads/lifecycle/upload-file.ts";
import {
  findClips,
  findFileOwners,
  findKnownRecordings,
  findRecordingsWithObjects,
} from "../../processing/uploads/media-queries.ts";

const batch = 500;

/** The parts of an object that the sweep needs; `owner` is the id in its key. */
interface Owned {
  readonly key: string;
  readonly owner: string;
  readonly size?: number;
}

/**
 * Removes orphaned objects: files of finished uploads, and what a killed worker has stored for a recording that was
 * never created, or for a clip that no link shows any more. An id is planned before its first object is stored and
 * never reused, so an orphan stays an orphan and no grace period is needed. Only for the database that the store
 * belongs to: see `refusalToSweep`.
 * @returns how many objects were removed.
 */
export async function removeOrphans(db: Database, store: ObjectStore, log: SweepLog): Promise<number> {
  let removed = 0;
  const each = (objects: readonly Owned[], remove: (object: Owned) => Promise<void>): Promise<void> =>
    forEachIsolated(log, "removing orphaned files", objects, async (object) => {
      await remove(object);
      removed += 1;
    });
  for await (const objects of inBatches(store.list(uploadsPrefix))) {
    const uploads = await findFileOwners(db.kysely, ownersOf(objects));
    await each(
      objects.filter(({ owner, size }) => {
        const upload = uploads.get(owner);
        if (upload === undefined) return true;
        return !needsFile(upload) && !(size === 0 && keepsKeyTaken(store, upload));
      }),
      async ({ key, owner }) => {
        const upload = uploads.get(owner);
        await (upload === undefined ? store.delete(key) : removeFile(store, upload));
      },
    );
  }
  for await (const objects of inBatches(store.list(recordingsPrefix))) {
    const needed = await findRecordingsWithObjects(db.kysely, ownersOf(objects));
    const clips = await findClips(
      db.kysely,
      objects.flatMap(({ key }) => clipOf(key) ?? []),
    );
    await each(
      objects.filter(({ key, owner }) => {
        const clipId = clipOf(key);
        return !needed.has(owner) || (clipId !== null && !clips.has(clipId));
      }),
      ({ key }) => store.delete(key),
    );
  }
  for await (const objects of inBatches(store.listAppends(uploadsPrefix))) {
    const uploads = await findFileOwners(db.kysely, ownersOf(objects));
    await each(
      objects.filter(({ owner }) => !needsFile(uploads.get(owner) ?? { status: "failure" })),
      ({ key }) => store.dropAppend(key),
    );
  }
  return removed;
}

/**
 * Counts the objects that no row of this database ever referenced: those of another database, or of a later state of
 * this one.
 * @param max where to stop counting.
 */
export async function countUnknown(
  db: Executor,
  store: ObjectStore,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let unknown = 0;
  for (const [list, findKnown] of [
    [() => store.list(uploadsPrefix), findFileOwners],
    [() => store.listAppends(uploadsPrefix), findFileOwners],
    [() => store.list(recordingsPrefix), findKnownRecordings],
  ] as const) {
    for await (const objects of inBatches(list())) {
      const known = await findKnown(db, ownersOf(objects));
      unknown += objects.filter(({ owner }) => !known.has(owner)).length;
      if (unknown >= most) return unknown;
    }
  }
  return unknown;
}

function ownersOf(objects: readonly Owned[]): string[] {
  return [...new Set(objects.map(({ owner }) => owner))];
}

/** Keys of another form are not Parley's and are skipped. */
async function* inBatches(
  objects: AsyncIterable<{ readonly key: string; readonly size?: number }>,
): AsyncIterable<Owned[]> {
  let found: Owned[] = [];
  for await (const { key, size } of objects) {
    const owner = ownerOf(key);
    if (owner === null) continue;
    found.push({ key, owner, ...(size === undefined ? {} : { size }) });
    if (found.length < batch) continue;
    yield found;
    found = [];
  }
  if (found.length > 0) yield found;
}
