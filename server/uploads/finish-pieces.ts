import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { ObjectStore } from "../storage/store.ts";
import { lookOrFinish } from "./arrival.ts";
import type { SweepLog } from "./each-alone.ts";
import { createLeaseLocker } from "./resumable-lease.ts";
import { isLeased } from "./resumable-queries.ts";

/**
 * The job that puts the pieces of a file together whose server died right before it could. It holds the upload's
 * lease meanwhile, as a sender would; where a sender is at work it does nothing: that one finishes the file itself, and
 * if not, the next look asks for the job again.
 */
export async function finishUploadJob(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly log: SweepLog;
  },
  uploadId: string,
): Promise<void> {
  const { db, log } = deps;
  if (await isLeased(db.kysely, uploadId)) return;
  const lock = createLeaseLocker({ db, log }).newLock(uploadId);
  try {
    await lock.lock(new AbortController().signal, () => {});
  } catch (error) {
    // The lease's own words (plain objects with a status): a sender was faster, or the upload is gone.
    if (!(error instanceof Error) && (error as { status_code?: unknown })?.status_code !== undefined) return;
    throw error;
  }
  try {
    await lookOrFinish(deps, uploadId);
  } finally {
    await lock.unlock();
  }
}
