import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { isAtWork, type JobQueue } from "../jobs/queue.ts";
import type { ObjectStore } from "../storage/store.ts";
import { eachAlone, type SweepLog } from "./each-alone.ts";
import { findExpiredMedia } from "./media-queries.ts";
import { lockUploadById, type UploadRow } from "./queries.ts";
import { jobOf, transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";
import { findHopeless, findLingering, type WorkStatus } from "./work-queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly log: SweepLog;
}

/** A job begins within seconds; one that has not ended after this may be long, or lost. */
const restartAfterMs = 60_000;

/** So many attempts are made before an upload is given up: some may have ended because their server was stopped. */
export const fewestAttempts = 5;

/**
 * Looks after uploads that only a job can move on: gives those their job back that have lost it, and gives those up
 * that many attempts in all the time allowed have not brought to an end. Nothing stays processing for ever, and
 * nothing is given up because no worker was there, or while one is at it.
 */
export async function tendLingering(
  deps: Dependencies & { readonly config: Pick<Config, "processingTtlMs"> },
): Promise<void> {
  const { db, jobs, config, log } = deps;
  for (const status of ["processing", "promoting"] as const) {
    const lingering = await findLingering(db.kysely, status, restartAfterMs);
    await eachAlone(log, "looking after the jobs of uploads", lingering, async (row) => {
      const job = jobOf(row);
      // The queue takes it only when no job for this upload waits or runs.
      if (job !== null)
        await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, job, { uploadId: row.id }, row.id));
    });
    const limits = { afterMs: config.processingTtlMs, attempts: fewestAttempts };
    const hopeless = await findHopeless(db.kysely, status, limits);
    await eachAlone(log, "giving uploads up", hopeless, (uploadId) => giveUp(deps, uploadId, status));
  }
}

async function giveUp(
  { db, jobs, store, config, log }: Parameters<typeof tendLingering>[0],
  uploadId: string,
  status: WorkStatus,
): Promise<void> {
  const ended = await db.kysely.transaction().execute(async (tx): Promise<UploadRow | null> => {
    const row = await lockUploadById(tx, uploadId);
    // One that has moved on meanwhile has no attempts yet.
    if (row?.status !== status || row.work_attempts < fewestAttempts) return null;
    const job = jobOf(row);
    if (job !== null && (await isAtWork(tx, job, uploadId))) return null;
    log.error(
      { uploadId, status, attempts: row.work_attempts, lastError: row.work_error },
      "gave an upload up that no job could finish; see its job's errors",
    );
    return transition(tx, jobs, row, status === "processing" ? "processing_failed" : "promotion_failed", {
      failureReason: `The server could not finish this upload within ${Math.round(config.processingTtlMs / 60_000)} minutes, through no fault of the file as far as is known. Send it again; if that fails too, ask the operator to look into the server's log.`,
    });
  });
  if (ended !== null) await removeFile(store, ended);
}

/** Contract: a staged upload fails when "media expired before promotion". */
export async function failExpiredMedia({ db, jobs, store, log }: Dependencies): Promise<void> {
  const expired = await findExpiredMedia(db.kysely);
  await eachAlone(log, "failing uploads whose file has expired", expired, async (uploadId) => {
    const failed = await db.kysely.transaction().execute(async (tx): Promise<UploadRow | null> => {
      const row = await lockUploadById(tx, uploadId);
      if (row?.status !== "staged" || row.media_expires_at === null) return null;
      return transition(tx, jobs, row, "media_expired", {
        failureReason: `The uploaded file expired at ${row.media_expires_at.toISOString()}, before the upload was promoted. Create the upload again, and promote it in time.`,
      });
    });
    if (failed !== null) await removeFile(store, failed);
  });
}
