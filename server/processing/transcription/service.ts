import type { Tx } from "../../platform/db/database.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { insertTranscription, restartFailed } from "./queries.ts";

/**
 * Requests a transcript of a recording, in the transaction that creates the recording: requested exactly when the
 * recording exists. If it was requested before, nothing happens.
 * @param spokenLanguage null: that of the meeting type or the workspace.
 */
export async function requestTranscription(
  tx: Tx,
  jobs: JobQueue,
  recordingId: string,
  spokenLanguage: string | null = null,
): Promise<void> {
  if (await insertTranscription(tx, recordingId, spokenLanguage))
    await jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId);
}

/**
 * Retries a failed transcription, such as after the API key was corrected.
 * @returns whether there was one.
 */
export async function retryTranscription(tx: Tx, jobs: JobQueue, recordingId: string): Promise<boolean> {
  const isRestarted = await restartFailed(tx, recordingId);
  if (isRestarted) await jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId);
  return isRestarted;
}
