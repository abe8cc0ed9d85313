import { sql } from "kysely";
import type { Database, Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { insertSegments, type NewSegment } from "../recordings/create.ts";
import { reportHighlights } from "../transcripts/highlights.ts";
import { completeRenewal, findFormer } from "../transcripts/renew.ts";
import { mergeChunks } from "./merge.ts";
import type { MergedTranscript } from "./merged.ts";
import type { ChunkRow } from "./queries.ts";

interface LockedRecording {
  readonly workspace_id: string;
  /** Whether it has a transcript that this program did not make: that one stays. */
  readonly has_own_transcript: boolean;
  /** A transcript that is there is to be replaced, and what becomes of the edits in it; null: none is. */
  readonly edits: "keep" | "discard" | null;
}

/** A transcript of a recording that somebody supplied has a language or segments, and a version we did not write. */
async function lockRecording(tx: Tx, recordingId: string): Promise<LockedRecording | undefined> {
  const { rows } = await sql<LockedRecording>`
    select r.workspace_id,
      (r.transcript_language is not null
        or exists (select 1 from transcript_segments s where s.recording_id = r.id))
      and t.written_version is distinct from r.transcript_version
      and t.edits is null as has_own_transcript, t.edits
    from recordings r join transcriptions t on t.recording_id = r.id
    where r.id = ${recordingId} and t.status in ('pending', 'running')
    for update of r`.execute(tx);
  return rows[0];
}

/**
 * Whether the recording has a transcript already, so that none has to be made; then the transcription ends here.
 */
export async function endIfSupplied(db: Database, recordingId: string): Promise<boolean> {
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, recordingId);
    if (recording === undefined || !recording.has_own_transcript) return false;
    await markDone(tx, recordingId, null);
    return true;
  });
}

/**
 * Writes the transcript, its language and version, the end of the transcription and `recording_updated`, all in one
 * transaction. Run twice, or after the recording was deleted, it changes nothing.
 * @param language what the operator set; null: what the model heard.
 * @param onTranscript what follows from it, in the same transaction.
 */
export async function finishTranscription(
  db: Database,
  recordingId: string,
  chunks: readonly ChunkRow[],
  language: string | null,
  onTranscript?: (tx: Tx, recording: { readonly id: string; readonly workspaceId: string }) => Promise<void>,
): Promise<void> {
  const merged = mergeChunks(
    chunks.flatMap(({ start_ms, end_ms, result }) =>
      result === null ? [] : [{ startMs: start_ms, endMs: end_ms, transcript: result }],
    ),
  );
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, recordingId);
    if (recording === undefined) return;
    if (recording.has_own_transcript) return markDone(tx, recordingId, null);
    const segments = await attribute(tx, recordingId, merged);
    const { edits } = recording;
    const former = edits === null ? [] : await findFormer(tx, recordingId);
    await sql`delete from transcript_segments where recording_id = ${recordingId}`.execute(tx);
    await insertSegments(tx, recordingId, segments);
    const { rows } = await sql<{ transcript_version: number }>`
      update recordings set transcript_language = ${language ?? merged.language},
        transcript_version = transcript_version + 1, updated_at = clock_timestamp()
      where id = ${recordingId} returning transcript_version`.execute(tx);
    const version = rows[0]?.transcript_version ?? null;
    await markDone(tx, recordingId, version);
    if (edits !== null && version !== null)
      await completeRenewal(tx, recordingId, { edits, version, former, fresh: segments });
    if (former.length + segments.length > 0) await reportHighlights(tx, recordingId, null);
    await record(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
    await onTranscript?.(tx, { id: recordingId, workspaceId: recording.workspace_id });
  });
}

async function markDone(tx: Tx, recordingId: string, writtenVersion: number | null): Promise<void> {
  await sql`
    update transcriptions set status = 'done', progress = 100, attempts = 0, failing_since = null, not_before = null,
      last_error = null, edits = null, written_version = coalesce(${writtenVersion}::integer, written_version),
      updated_at = clock_timestamp()
    where recording_id = ${recordingId}`.execute(tx);
  // They have served their purpose: the transcript is in its place.
  await sql`delete from transcription_chunks where recording_id = ${recordingId}`.execute(tx);
}

/** Ends a transcription, if there is one, because somebody supplies the transcript; a job at work on it writes nothing more. */
export async function endTranscription(tx: Tx, recordingId: string): Promise<void> {
  await markDone(tx, recordingId, null);
  await sql`update transcriptions set written_version = null where recording_id = ${recordingId}`.execute(tx);
}

/**
 * Says who spoke. A model tells voices apart at best, not who they belong to, so its speakers stay unknown. Only where
 * one single person took part and at most one voice was heard, that person is taken to have spoken. What has no
 * speaker is by "Unknown Speaker" without a number: a number would say that it is always the same one.
 */
async function attribute(tx: Tx, recordingId: string, merged: MergedTranscript): Promise<NewSegment[]> {
  const people = await tx
    .selectFrom("participants")
    .select(["id", "name"])
    .where("recording_id", "=", recordingId)
    .limit(2)
    .execute();
  const voices = new Set(merged.segments.map((segment) => segment.speaker));
  const person = people.length === 1 && voices.size <= 1 ? people[0] : undefined;
  return merged.segments.map((segment) => ({
    participant_id: person?.id ?? null,
    speaker: person?.name ?? segment.speaker ?? "Unknown Speaker",
    start_ms: segment.startMs,
    end_ms: segment.endMs,
    text: segment.text,
  }));
}
