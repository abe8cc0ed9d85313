import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import { reportTranscription } from "./report-transcription.ts";

/**
 * Marks a recording's transcription as done and deletes the chunks it was merged from.
 * @param writtenVersion the transcript version it wrote; null when it wrote none.
 */
export async function markTranscriptionDone(
  tx: Tx,
  recordingId: string,
  writtenVersion: number | null,
): Promise<void> {
  const { rows } = await sql<{ was_done: boolean }>`
    update transcriptions t set status = 'done', progress = 100, attempts = 0, failing_since = null, not_before = null,
      last_error = null, failure_cause = null, canceled_at = null, canceled_by = null, edits = null,
      written_version = coalesce(${writtenVersion}::integer, t.written_version),
      updated_at = clock_timestamp()
    from (select recording_id, status from transcriptions where recording_id = ${recordingId} for update) former
    where t.recording_id = former.recording_id
    returning former.status = 'done' as was_done`.execute(tx);
  if (rows[0]?.was_done === false) await reportTranscription(tx, recordingId);
  await sql`delete from transcription_chunks where recording_id = ${recordingId}`.execute(tx);
}

/** Ends a transcription, if there is one, because a transcript was supplied; a job in flight then writes nothing. */
export async function endTranscription(tx: Tx, recordingId: string): Promise<void> {
  await markTranscriptionDone(tx, recordingId, null);
  await sql`update transcriptions set written_version = null, unclear_passages = 0 where recording_id = ${recordingId}`.execute(
    tx,
  );
}
