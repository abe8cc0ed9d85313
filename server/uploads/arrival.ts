import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFileKey } from "../storage/layout.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
} from "../storage/store.ts";
import { eachAlone, type SweepLog } from "./each-alone.ts";
import { findExpiredUploads, findUploadById, takeDueArrivals } from "./media-queries.ts";
import { lockUploadById, type UploadRow } from "./queries.ts";
import { refuseArrived } from "./refusals.ts";
import { isLeased } from "./resumable-queries.ts";
import { uploadNotFound } from "./service.ts";
import { transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";

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
 * @param etag of the file that was found.
 * @returns whether the upload was still waiting for it.
 */
export async function fileReceived(
  { db, jobs }: Pick<Dependencies, "db" | "jobs">,
  uploadId: string,
  etag: string,
): Promise<boolean> {
  const moved = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status !== "awaiting") return false;
    await transition(tx, jobs, row, "file_received", { fileEtag: etag });
    return true;
  });
  if (moved) jobs.wake();
  return moved;
}

/**
 * Lets an upload go on with the file that its sender has just brought to the store. While it was on its way the upload
 * may have been given up or deleted, or may have got another file, whose place was free again when this one came.
 * @throws ProblemError when the upload does not take this file; then it is not kept.
 */
export async function takeFile(deps: Dependencies, uploadId: string, file: ObjectInfo): Promise<void> {
  const { db, store } = deps;
  if (await fileReceived(deps, uploadId, file.etag)) return;
  const row = await findUploadById(db.kysely, uploadId);
  // Somebody who looked into the store was faster.
  if (row?.received_at && row.file_etag === file.etag) return;
  if ((await store.head(file.key))?.etag === file.etag)
    await (row === undefined ? store.delete(file.key) : removeFile(store, row));
  if (row === undefined) throw uploadNotFound(uploadId);
  refuseArrived(row);
}

/**
 * Looks whether an upload's file has arrived, and lets the upload go on if so.
 * @returns whether it is there.
 */
export async function lookForFile(deps: Dependencies, uploadId: string): Promise<boolean> {
  const file = await deps.store.head(uploadFileKey(uploadId));
  if (file === null) return false;
  await fileReceived(deps, uploadId, file.etag);
  return true;
}

/**
 * The same for whoever may write to the upload (holds its lease): a file sent in pieces of which all have arrived is
 * put together first.
 */
export async function lookOrFinish(deps: Dependencies, uploadId: string): Promise<boolean> {
  if (await lookForFile(deps, uploadId)) return true;
  const row = await findUploadById(deps.db.kysely, uploadId);
  if (row === undefined || !(await hasAllPieces(deps, row))) return false;
  try {
    const file = await deps.store.finishAppend(uploadFileKey(uploadId));
    await fileReceived(deps, uploadId, file.etag);
    return true;
  } catch (error) {
    // Somebody else has put the pieces together in the meantime, or sent the file whole.
    if (!(error instanceof ObjectExistsError) && !(error instanceof ObjectMissingError)) throw error;
    return lookForFile(deps, uploadId);
  }
}

async function hasAllPieces({ store }: Dependencies, row: UploadRow): Promise<boolean> {
  if (row.status !== "awaiting" || row.resumable_length === null) return false;
  const arrived = await store.appended(uploadFileKey(row.id));
  return arrived?.offset === Number(row.resumable_length);
}

/**
 * Looks for an upload's file; one of which all pieces are there gets a job that puts it together, since that may take
 * long and others wait for their look. Whoever is just sending does it by itself.
 * @returns whether the file is there or soon will be.
 */
async function lookOrHaveFinished(deps: Dependencies, uploadId: string): Promise<boolean> {
  if (await lookForFile(deps, uploadId)) return true;
  const { db, jobs } = deps;
  const row = await findUploadById(db.kysely, uploadId);
  if (row === undefined || row.resumable_length === null) return false;
  if (await isLeased(db.kysely, uploadId)) return true;
  if (!(await hasAllPieces(deps, row))) return false;
  await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, "finish_upload", { uploadId }, uploadId));
  jobs.wake();
  return true;
}

/**
 * Notices files that have arrived without a word: sent straight to a bucket, or to a server that died before it could
 * say so.
 * @param soonestMs how soon to look again.
 */
export async function noticeArrivals(
  deps: Dependencies & { readonly log: SweepLog },
  soonestMs: number,
): Promise<void> {
  const due = await takeDueArrivals(deps.db.kysely, batch, soonestMs);
  const look = async ({ id }: { id: string }): Promise<void> => {
    await lookOrHaveFinished(deps, id);
  };
  await eachAlone(deps.log, "looking for the files of uploads", due, look, atOnce);
}

/** Contract: "upload URL expired without a file", "checked 24 hours after expiry": such uploads fail. */
export async function failExpiredUploads(
  deps: Dependencies & {
    readonly config: Pick<Config, "uploadExpiryGraceMs">;
    readonly log: SweepLog;
  },
): Promise<void> {
  const { db, jobs, config, log } = deps;
  const graceMs = config.uploadExpiryGraceMs;
  const expired = await findExpiredUploads(db.kysely, graceMs);
  await eachAlone(log, "failing uploads whose URL has expired", expired, async (uploadId) => {
    if (await lookOrHaveFinished(deps, uploadId)) return;
    await db.kysely.transaction().execute(async (tx) => {
      const row = await lockUploadById(tx, uploadId);
      // A sender may have come while this one waited for its turn.
      if (row?.status !== "awaiting" || lastSignOf(row) > Date.now() - graceMs) return;
      await transition(tx, jobs, row, "url_expired", {
        failureReason: `No file arrived before the upload URL expired at ${row.url_expires_at?.toISOString()}. Create the upload again and send the file to its new URL.`,
      });
    });
  });
}

/** When the URL expired or a sender was last heard of, whichever was later. */
function lastSignOf({ url_expires_at, active_at, put_active_at }: UploadRow): number {
  return Math.max(...[url_expires_at, active_at, put_active_at].map((at) => at?.getTime() ?? 0));
}
