import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFileKey } from "../storage/layout.ts";
import { ObjectExistsError, ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { findExpiredUploads, findUploadById, takeDueArrivals } from "./media-queries.ts";
import { lockUploadById } from "./queries.ts";
import { transition } from "./transition.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
}

/** How many uploads one look takes on, and how many of them at a time. */
const batch = 200;
const atOnce = 8;

/**
 * Lets an upload go on once its file is whole in the store. The file itself is the truth: whoever finds it there may
 * call this, any number of times, after a crash as well.
 * @returns whether the upload was still waiting for it.
 */
export async function fileReceived(
  { db, jobs }: Pick<Dependencies, "db" | "jobs">,
  uploadId: string,
): Promise<boolean> {
  const moved = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status !== "awaiting") return false;
    await transition(tx, jobs, row, "file_received", { receivedAt: new Date() });
    return true;
  });
  if (moved) jobs.wake();
  return moved;
}

/**
 * Looks whether an upload's file has arrived, and lets the upload go on if so. A file sent in pieces of which all
 * have arrived is put together first.
 */
export async function lookForFile(deps: Dependencies, uploadId: string): Promise<boolean> {
  const key = uploadFileKey(uploadId);
  if ((await deps.store.head(key)) === null && !(await finishPieces(deps, uploadId, key))) return false;
  await fileReceived(deps, uploadId);
  return true;
}

async function finishPieces({ db, store }: Dependencies, uploadId: string, key: string): Promise<boolean> {
  const row = await findUploadById(db.kysely, uploadId);
  if (row?.status !== "awaiting" || row.resumable_length === null) return false;
  const arrived = await store.appended(key);
  if (arrived?.offset !== Number(row.resumable_length)) return false;
  try {
    await store.finishAppend(key);
  } catch (error) {
    // Somebody else has put the pieces together in the meantime, or sent the file whole.
    if (!(error instanceof ObjectExistsError) && !(error instanceof ObjectMissingError)) throw error;
    return (await store.head(key)) !== null;
  }
  return true;
}

/**
 * Notices files that have arrived without a word: sent straight to a bucket, or to a server that died before it could
 * say so.
 * @param soonestMs how soon to look again.
 */
export async function noticeArrivals(deps: Dependencies, soonestMs: number): Promise<void> {
  const due = await takeDueArrivals(deps.db.kysely, batch, soonestMs);
  for (let first = 0; first < due.length; first += atOnce) {
    await Promise.all(due.slice(first, first + atOnce).map(({ id }) => lookForFile(deps, id)));
  }
}

/** Contract: "upload URL expired without a file", "checked 24 hours after expiry": such uploads fail. */
export async function failExpiredUploads(
  deps: Dependencies & { readonly config: Pick<Config, "uploadExpiryGraceMs"> },
): Promise<void> {
  const { db, jobs, config } = deps;
  for (const uploadId of await findExpiredUploads(db.kysely, config.uploadExpiryGraceMs)) {
    if (await lookForFile(deps, uploadId)) continue;
    await db.kysely.transaction().execute(async (tx) => {
      const row = await lockUploadById(tx, uploadId);
      if (row?.status !== "awaiting") return;
      await transition(tx, jobs, row, "url_expired", {
        failureReason: `No file arrived before the upload URL expired at ${row.url_expires_at?.toISOString()}. Create the upload again and send the file to its new URL.`,
      });
    });
  }
}
