import { sql } from "kysely";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Tx } from "../../platform/db/database.ts";

interface Reported {
  readonly workspace_id: string;
  readonly status: string;
  readonly stage: string | null;
  readonly progress: number;
  readonly error: string | null;
}

/**
 * Records `transcription_updated` with the state of a transcription, in the transaction that changed it. Unlike other
 * events of a recording, it may come before `recording_added`, which waits for the transcript.
 */
export async function reportTranscription(tx: Tx, recordingId: string): Promise<void> {
  const { rows } = await sql<Reported>`
    select r.workspace_id, t.status, t.stage, t.progress, case when t.status = 'failed' then t.last_error end as error
    from transcriptions t join recordings r on r.id = t.recording_id
    where t.recording_id = ${recordingId}`.execute(tx);
  if (rows[0] === undefined) return;
  const { workspace_id: workspaceId, ...state } = rows[0];
  await recordEvent(tx, {
    workspaceId,
    type: "transcription_updated",
    subjectId: recordingId,
    recordingId,
    data: { recording_id: recordingId, ...state },
  });
}
