import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { requestUnderstanding } from "../intelligence/index.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { attempt } from "./attempt.ts";
import { createRecording } from "./make-recording.ts";
import { lockUploadById } from "./queries.ts";
import { transition } from "./transition.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "newRecordingShareState" | "languageModel">;
}

/**
 * The job that turns a promoting transcript upload into a recording. All of it is one transaction that ends with the status:
 * killed at any point it leaves nothing behind and runs again; run twice it finds the upload no longer promoting.
 */
export async function promoteUploadJob(deps: Dependencies, uploadId: string): Promise<void> {
  const { db, jobs } = deps;
  try {
    await db.kysely.transaction().execute(async (tx) => {
      const upload = await lockUploadById(tx, uploadId);
      if (upload?.status !== "promoting") return;
      const { recordingId } = await createRecording(tx, deps, upload, null);
      await transition(tx, jobs, upload, "promotion_completed", { recordingId });
      await requestUnderstanding(tx, jobs, deps.config, {
        id: recordingId,
        workspaceId: upload.workspace_id,
      });
    });
    jobs.wake();
  } catch (error) {
    // What is tried in vain counts; what succeeds, mostly at once, is spared the writing.
    if (isDataError(error)) await failPromotion(deps, uploadId, unfitReason);
    else await attempt(db, uploadId, "promoting", () => Promise.reject(error));
    throw error;
  }
}

export const unfitReason =
  "The recording could not be stored, because something in the upload does not fit. Check its title, participants and transcript, and create it again.";

/** PostgreSQL classes 22, 23 and 54: the data itself does not fit, so that trying again would not help. */
export function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(22|23|54)/.test(code);
}

/** Gives a promoting upload up. */
export async function failPromotion(
  { db, jobs }: Pick<Dependencies, "db" | "jobs">,
  uploadId: string,
  failureReason: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const upload = await lockUploadById(tx, uploadId);
    if (upload?.status !== "promoting") return;
    await transition(tx, jobs, upload, "promotion_failed", { failureReason });
  });
}
