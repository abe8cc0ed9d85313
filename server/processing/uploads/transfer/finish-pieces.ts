import type { Database } from "../../../platform/db/database.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { SweepLog } from "../../../platform/jobs/for-each-isolated.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { ofUpload, type UploadPayload } from "../job-of-upload.ts";
import { checkOrJoin } from "./arrival.ts";
import { createLeaseLocker } from "./resumable-lease.ts";
import { isLeased } from "./resumable-queries.ts";

/**
 * The job that joins the pieces of a file whose server died right before it could. It holds the upload's lease
 * meanwhile, as a sender would. If a sender is active it does nothing: the sender finishes the file itself, and
 * otherwise the next sweep enqueues the job again.
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
    // The lease's own errors are plain objects with a status: a sender was faster, or the upload is gone.
    if (!(error instanceof Error) && (error as { status_code?: unknown })?.status_code !== undefined) return;
    throw error;
  }
  try {
    await checkOrJoin(deps, uploadId);
  } finally {
    await lock.unlock();
  }
}

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    join_upload_parts: UploadPayload;
  }
}

export const joinUploadPartsKind = defineJob({
  ...ofUpload,
  name: "join_upload_parts",
  label: (i18n) => i18n.t("Assemble uploaded file"),
  concurrency: 2,
  hasReservedSlots: true,
  handler: (deps, { uploadId }) => finishUploadJob(deps, uploadId),
});
