import type { Cause } from "../../../../contract/causes/causes.ts";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { announceRecording } from "../../../recordings/recordings/announce.ts";
import { requestMeetingMatch } from "../../../recordings/recordings/request-match.ts";
import { requestSummary } from "../../intelligence/index.ts";
import type { FailureFacts } from "../../media/facts.ts";
import { ofUpload, type UploadPayload } from "../job-of-upload.ts";
import { attempt } from "../lifecycle/attempt.ts";
import { endIfDeactivated } from "../lifecycle/end-access.ts";
import { transition } from "../lifecycle/transition.ts";
import { lockUploadById } from "../queries.ts";
import { createRecording } from "./create-recording.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "newRecordingShareState" | "languageModel" | "dataDir">;
}

/**
 * The job that turns a promoting transcript upload into a recording, in one transaction that also sets the status:
 * killed at any point it leaves nothing behind and runs again; run twice it finds the upload no longer promoting.
 */
export async function promoteUploadJob(deps: Dependencies, uploadId: string): Promise<void> {
  const { db, jobs } = deps;
  try {
    await db.kysely.transaction().execute(async (tx) => {
      const upload = await lockUploadById(tx, uploadId);
      if (upload?.status !== "promoting" || (await endIfDeactivated(tx, jobs, upload))) return;
      const { recordingId } = await createRecording(tx, deps, upload, null);
      await transition(tx, jobs, upload, "promotion_completed", { recordingId });
      await requestSummary(tx, jobs, deps.config, {
        id: recordingId,
        workspaceId: upload.workspace_id,
      });
      await announceRecording(tx, { id: recordingId, workspaceId: upload.workspace_id });
      await requestMeetingMatch(tx, jobs, { id: recordingId, workspaceId: upload.workspace_id });
    });
    jobs.wake();
  } catch (error) {
    // Only failed attempts are counted; the others, which mostly succeed at once, are spared the write.
    if (isDataError(error)) await failPromotion(deps, uploadId, unfit, { detail: detailOf(error) });
    else await attempt(db, uploadId, "promoting", () => Promise.reject(error));
    throw error;
  }
}

/** Why an upload fails: a sentence, and its causes. */
export interface FailureReason {
  readonly sentence: string;
  readonly causes: readonly Cause[];
}

export const unfit: FailureReason = {
  sentence:
    "The recording could not be stored, because something in the upload is invalid. Check its title, participants and transcript, and create it again.",
  causes: [fileCause("data_unfit", {})],
};

/** PostgreSQL error classes 22, 23 and 54: the data itself is invalid, so a retry would not help. */
export function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(22|23|54)/.test(code);
}

/** An error's message, for admins and the log. */
export function detailOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Fails a promoting upload. */
export async function failPromotion(
  { db, jobs }: Pick<Dependencies, "db" | "jobs">,
  uploadId: string,
  { sentence, causes }: FailureReason,
  failureFacts?: FailureFacts,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const upload = await lockUploadById(tx, uploadId);
    if (upload?.status !== "promoting") return;
    await transition(tx, jobs, upload, "promotion_failed", {
      failureReason: sentence,
      failureCauses: causes,
      failureFacts,
    });
  });
}

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    promote_upload: UploadPayload;
  }
}

export const promoteUploadKind = defineJob({
  ...ofUpload,
  name: "promote_upload",
  label: (i18n) => i18n.t("Publish transcript"),
  concurrency: 4,
  hasReservedSlots: true,
  handler: (deps, { uploadId }) => promoteUploadJob(deps, uploadId),
});
