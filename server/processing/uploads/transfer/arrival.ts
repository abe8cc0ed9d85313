import { sql } from "kysely";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { forEachIsolated, type SweepLog } from "../../../platform/jobs/for-each-isolated.ts";
import { hasJob, type JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
} from "../../../platform/storage/store.ts";
import { graceMsOf, isBegunRecording } from "../lifecycle/activity.ts";
import { accessEnded, isCreatorDeactivated } from "../lifecycle/end-access.ts";
import { transition } from "../lifecycle/transition.ts";
import { removeFile } from "../lifecycle/upload-file.ts";
import { findExpiredUploads, findUploadById, takeDueArrivals } from "../media-queries.ts";
import { uploadNotFound } from "../not-found.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { refuseArrived } from "./refusals.ts";
import { endResumable, isLeased } from "./resumable-queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
}

/** How many uploads one sweep checks, and how many at a time. */
const batch = 200;
const concurrency = 8;

/**
 * Moves an upload on once its file is complete in the store. The stored file is the source of truth, so this may be
 * called any number of times, including after a crash.
 * @param etag of the stored file.
 * @returns whether the upload was still waiting for it.
 */
export async function fileReceived(
  { db, jobs }: Pick<Dependencies, "db" | "jobs">,
  uploadId: string,
  etag: string,
): Promise<boolean> {
  const moved = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    // The sweep that fails the uploads of deactivated users removes the file.
    if (row?.status !== "awaiting" || (await isCreatorDeactivated(tx, row))) return false;
    await transition(tx, jobs, row, "file_received", { fileEtag: etag });
    return true;
  });
  if (moved) jobs.wake();
  return moved;
}

/**
 * Moves an upload on with the file that was just stored. During the transfer the upload may have been failed or
 * deleted, or may have received another file, whose key was free again when this one was stored.
 * @throws ProblemError when the upload no longer accepts this file, which is then removed.
 */
export async function takeFile(deps: Dependencies, uploadId: string, file: ObjectInfo): Promise<void> {
  const { db, store } = deps;
  if (await fileReceived(deps, uploadId, file.etag)) return;
  const row = await findUploadById(db.kysely, uploadId);
  // A sweep found the file in the store first.
  if (row?.received_at && row.file_etag === file.etag) return;
  if ((await store.head(file.key))?.etag === file.etag)
    await (row === undefined ? store.delete(file.key) : removeFile(store, row));
  if (row === undefined) throw uploadNotFound(uploadId);
  if (await isCreatorDeactivated(db.kysely, row)) throw accessEnded();
  refuseArrived(row);
}

/**
 * Checks whether an upload's file has arrived, and moves the upload on if so.
 * @returns whether the file is there.
 */
export async function checkForFile(deps: Dependencies, uploadId: string): Promise<boolean> {
  const file = await deps.store.head(uploadFileKey(uploadId));
  if (file === null) return false;
  await fileReceived(deps, uploadId, file.etag);
  return true;
}

/**
 * The same for the holder of the upload's lease: a file sent in pieces is joined first once all of them have arrived.
 */
export async function checkOrJoin(deps: Dependencies, uploadId: string): Promise<boolean> {
  if (await checkForFile(deps, uploadId)) return true;
  const row = await findUploadById(deps.db.kysely, uploadId);
  if (row === undefined || !(await hasAllPieces(deps, row))) return false;
  try {
    const file = await deps.store.finishAppend(uploadFileKey(uploadId));
    await fileReceived(deps, uploadId, file.etag);
    return true;
  } catch (error) {
    // Another process has joined the pieces in the meantime, or the file was sent whole.
    if (!(error instanceof ObjectExistsError) && !(error instanceof ObjectMissingError)) throw error;
    return checkForFile(deps, uploadId);
  }
}

async function hasAllPieces({ store }: Dependencies, row: UploadRow): Promise<boolean> {
  if (row.status !== "awaiting" || row.resumable_length === null) return false;
  const arrived = await store.appended(uploadFileKey(row.id));
  return arrived?.offset === Number(row.resumable_length);
}

/**
 * Checks for an upload's file. A file whose pieces are complete gets a job that joins them, since that may take long
 * and other uploads wait to be checked. An active sender does this itself.
 * @returns whether the file is there or soon will be.
 */
async function checkOrScheduleJoin(deps: Dependencies, uploadId: string): Promise<boolean> {
  if (await checkForFile(deps, uploadId)) return true;
  const { db, jobs } = deps;
  const row = await findUploadById(db.kysely, uploadId);
  if (row === undefined || row.resumable_length === null) return false;
  if (await isLeased(db.kysely, uploadId)) return true;
  if (!(await hasAllPieces(deps, row))) return false;
  await db.kysely.transaction().execute(async (tx) => {
    if (!(await hasJob(tx, "join_upload_parts", uploadId)))
      await jobs.enqueue(tx, "join_upload_parts", { uploadId }, uploadId);
  });
  jobs.wake();
  return true;
}

/**
 * Notices files that arrived unannounced: sent straight to a bucket, or to a server that died before it could record
 * them.
 * @param minDelayMs how soon to check again.
 */
export async function noticeArrivals(
  deps: Dependencies & { readonly log: SweepLog },
  minDelayMs: number,
): Promise<void> {
  const due = await takeDueArrivals(deps.db.kysely, batch, minDelayMs);
  const check = async ({ id }: { id: string }): Promise<void> => {
    await checkOrScheduleJoin(deps, id);
  };
  await forEachIsolated(deps.log, "checking for the files of uploads", due, check, concurrency);
}

/**
 * Contract: "upload URL expired without a file", "checked 24 hours after expiry": such uploads fail. A recording made in
 * the browser waits longer, and then becomes what has arrived of it: it plays up to its last whole fragment.
 */
export async function failExpiredUploads(
  deps: Dependencies & {
    readonly config: Pick<Config, "uploadExpiryGraceMs">;
    readonly log: SweepLog;
  },
): Promise<void> {
  const { db, jobs, config, log } = deps;
  const expired = await findExpiredUploads(db.kysely, graceMsOf(false, config), graceMsOf(true, config));
  await forEachIsolated(log, "failing uploads whose URL has expired", expired, async (uploadId) => {
    if (await checkOrScheduleJoin(deps, uploadId)) return;
    if (await endRecording(deps, uploadId)) {
      await checkOrScheduleJoin(deps, uploadId);
      return;
    }
    await db.kysely.transaction().execute(async (tx) => {
      const row = await lockUploadById(tx, uploadId);
      // A sender may have arrived while this upload waited to be checked.
      if (
        row?.status !== "awaiting" ||
        lastSignOf(row) > Date.now() - graceMsOf(isBegunRecording(row), config)
      )
        return;
      await transition(tx, jobs, row, "url_expired", {
        failureReason: `No file arrived before the upload URL expired at ${row.url_expires_at?.toISOString()}. Create the upload again and send the file to its new URL.`,
        failureCauses: [fileCause("file_never_arrived", { time: row.url_expires_at?.toISOString() ?? "" })],
      });
    });
  });
}

/**
 * Declares what has arrived of a recording made in the browser to be all of it, once its grace period is over.
 * @returns whether anything has arrived.
 */
async function endRecording(
  { db, store, config }: Dependencies & { readonly config: Pick<Config, "uploadExpiryGraceMs"> },
  uploadId: string,
): Promise<boolean> {
  const row = await findUploadById(db.kysely, uploadId);
  if (row === undefined || !isBegunRecording(row) || (await isLeased(db.kysely, uploadId))) return false;
  const arrived = (await store.appended(uploadFileKey(uploadId)))?.offset ?? 0;
  if (arrived === 0) return false;
  return endResumable(db.kysely, uploadId, arrived, graceMsOf(true, config));
}

/** When the URL expired or the sender was last active, whichever was later. */
function lastSignOf({ url_expires_at, active_at, put_active_at }: UploadRow): number {
  return Math.max(...[url_expires_at, active_at, put_active_at].map((at) => at?.getTime() ?? 0));
}

export const failExpiredUploadsKind = defineRecurringJob({
  name: "fail_expired_uploads",
  label: (i18n) => i18n.t("Fail expired uploads"),
  every: "sweep",
  guard: "age",
  handler: (deps) => failExpiredUploads(deps),
});

export const correctFutureUploadChecksKind = defineRecurringJob({
  name: "correct_future_upload_checks",
  label: (i18n) => i18n.t("Correct future upload checks"),
  every: "sweep",
  // Only once the clock is trusted again: by a clock that is ahead, nothing is in the future.
  guard: "age",
  async handler({ db }) {
    await sql`
      update uploads set next_check_at = now()
      where status = 'awaiting' and next_check_at > now() + interval '1 hour'`.execute(db.kysely);
  },
});
