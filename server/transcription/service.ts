import type { Tx } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { insertTranscription, restartFailed } from "./queries.ts";

/**
 * Asks for a transcript of a recording, in the transaction that makes the recording: asked for exactly when the
 * recording exists. Asked for before, nothing happens.
 */
export async function requestTranscription(tx: Tx, jobs: JobQueue, recordingId: string): Promise<void> {
  if (await insertTranscription(tx, recordingId))
    await jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId);
}

/**
 * Tries a transcription again that has failed, such as after the key was put right.
 * @returns whether there is such a one.
 */
export async function retryTranscription(tx: Tx, jobs: JobQueue, recordingId: string): Promise<boolean> {
  const isRestarted = await restartFailed(tx, recordingId);
  if (isRestarted) await jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId);
  return isRestarted;
}
