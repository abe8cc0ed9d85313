import { fileCause } from "../../../../contract/causes/files.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { forEachIsolated, type SweepLog } from "../../../platform/jobs/for-each-isolated.ts";
import { isAtWork, type JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { findExpiredMedia } from "../media-queries.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { jobOf, transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";
import { findStuckUploads, findUploadsWithoutJob, type WorkStatus } from "./work-queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly log: SweepLog;
}

/** A job starts within seconds; one that has not ended after this is slow or lost. */
const restartAfterMs = 60_000;

/** An upload fails only after this many attempts: some may have ended because their server was stopped. */
export const minAttempts = 5;

/** Enqueues the lost jobs of uploads that only a job can move on. */
export async function retryStuckUploads({ db, jobs, log }: Omit<Dependencies, "store">): Promise<void> {
  for (const status of ["processing", "promoting"] as const) {
    const withoutJob = await findUploadsWithoutJob(db.kysely, status, restartAfterMs);
    await forEachIsolated(log, "restarting jobs of uploads", withoutJob, async (row) => {
      const job = jobOf(row);
      // The queue accepts it only when no job for this upload is waiting or running.
      if (job !== null)
        await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, job, { uploadId: row.id }, row.id));
    });
  }
}

type ExpiryDependencies = Dependencies & { readonly config: Pick<Config, "processingTtlMs"> };

/**
 * Fails uploads that many attempts within the allowed time have not finished, so that none stays processing
 * indefinitely. An upload does not fail because no worker was running, or while a worker is processing it.
 */
export async function failStuckUploads(deps: ExpiryDependencies): Promise<void> {
  const { db, config, log } = deps;
  for (const status of ["processing", "promoting"] as const) {
    const limits = { afterMs: config.processingTtlMs, attempts: minAttempts };
    const stuck = await findStuckUploads(db.kysely, status, limits);
    await forEachIsolated(log, "failing stuck uploads", stuck, (uploadId) =>
      failStuckUpload(deps, uploadId, status),
    );
  }
}

async function failStuckUpload(
  { db, jobs, store, config, log }: ExpiryDependencies,
  uploadId: string,
  status: WorkStatus,
): Promise<void> {
  const ended = await db.kysely.transaction().execute(async (tx): Promise<UploadRow | null> => {
    const row = await lockUploadById(tx, uploadId);
    // An upload that has moved on in the meantime has no attempts yet.
    if (row?.status !== status || row.work_attempts < minAttempts) return null;
    const job = jobOf(row);
    if (job !== null && (await isAtWork(tx, job, uploadId))) return null;
    log.error(
      { uploadId, status, attempts: row.work_attempts, lastError: row.work_error },
      "failed an upload that no job could finish; see its job's errors",
    );
    return transition(tx, jobs, row, status === "processing" ? "processing_failed" : "promotion_failed", {
      failureReason: `The server could not finish this upload within ${Math.round(config.processingTtlMs / 60_000)} minutes. The file may not be the cause: send it again; if that fails too, ask the operator to check the server's log.`,
      failureCauses: [fileCause("never_finished", { minutes: Math.round(config.processingTtlMs / 60_000) })],
    });
  });
  if (ended !== null) await removeFile(store, ended);
}

/** Contract: a staged upload fails when "media expired before promotion". */
export async function failExpiredMedia({ db, jobs, store, log }: Dependencies): Promise<void> {
  const expired = await findExpiredMedia(db.kysely);
  await forEachIsolated(log, "failing uploads whose file has expired", expired, async (uploadId) => {
    const failed = await db.kysely.transaction().execute(async (tx): Promise<UploadRow | null> => {
      const row = await lockUploadById(tx, uploadId);
      if (row?.status !== "staged" || row.media_expires_at === null) return null;
      return transition(tx, jobs, row, "media_expired", {
        failureReason: `The uploaded file expired at ${row.media_expires_at.toISOString()}, before the upload was promoted. Create the upload again, and promote it sooner.`,
        failureCauses: [fileCause("file_expired", { time: row.media_expires_at.toISOString() })],
      });
    });
    if (failed !== null) await removeFile(store, failed);
  });
}

export const retryStuckUploadsKind = defineRecurringJob({
  name: "retry_stuck_uploads",
  label: (i18n) => i18n.t("Retry stuck uploads"),
  every: "sweep",
  handler: (deps) => retryStuckUploads(deps),
});

export const failStuckUploadsKind = defineRecurringJob({
  name: "fail_stuck_uploads",
  label: (i18n) => i18n.t("Fail stuck uploads"),
  every: "sweep",
  guard: "age",
  handler: (deps) => failStuckUploads(deps),
});

export const failExpiredMediaKind = defineRecurringJob({
  name: "fail_expired_media",
  label: (i18n) => i18n.t("Fail expired media"),
  every: "sweep",
  guard: "age",
  handler: (deps) => failExpiredMedia(deps),
});
