import { sql } from "kysely";
import type { UsedSpeechModel } from "../../../contract/transcripts/transcript-history.ts";
import {
  fitsTranscript,
  maxSegments,
  maxTranscriptCharacters,
} from "../../../shared/transcripts/transcript-limits.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { anonymousNames, isAnonymousName } from "../../recordings/recordings/anonymous-speaker.ts";
import { insertSegments, type NewSegment } from "../../recordings/recordings/create.ts";
import { markTranscriptionDone } from "../../recordings/transcripts/end-transcription.ts";
import { reportHighlights } from "../../recordings/transcripts/highlights.ts";
import { completeRenewal, findFormer } from "../../recordings/transcripts/replace.ts";
import { type StoredWordTimes, storeAllWordTimes } from "../../recordings/transcripts/word-times.ts";
import { mergeChunks } from "./merge/merge.ts";
import type { MergedSegment, MergedTranscript } from "./merge/merged.ts";
import { type ChunkRow, findSpeakerTracks, markFailed, saveUnclearPassages, saveUsed } from "./queries.ts";
import { findTurns } from "./speakers/assign.ts";
import { saveRecordingVoices } from "./voices/profiles.ts";
import { findSpeakerVoices } from "./voices/speaker-voices.ts";

interface LockedRecording {
  readonly workspace_id: string;
  /** Whether the recording has a transcript that Parley did not generate, which is kept. */
  readonly has_own_transcript: boolean;
  /** How to treat the edits of an existing transcript that is to be replaced; null: none is to be replaced. */
  readonly edits: "keep" | "discard" | null;
}

/** More can't be added to a recording. */
const maxParticipants = 500;

/**
 * Locks a recording whose transcription runs. One that was canceled and requested again is pending: what an earlier run
 * found may be in another language than is requested now.
 *
 * A supplied transcript has a language or segments, and a version that transcription did not write.
 */
async function lockRecording(tx: Tx, recordingId: string): Promise<LockedRecording | undefined> {
  const { rows } = await sql<LockedRecording>`
    select r.workspace_id,
      (r.transcript_language is not null
        or exists (select 1 from transcript_segments s where s.recording_id = r.id))
      and t.written_version is distinct from r.transcript_version
      and t.edits is null as has_own_transcript, t.edits
    from recordings r join transcriptions t on t.recording_id = r.id
    where r.id = ${recordingId} and t.status = 'running'
    for update of r, t`.execute(tx);
  return rows[0];
}

/** If the recording already has a transcript, ends the transcription. @returns whether it has. */
export async function endIfSupplied(db: Database, recordingId: string): Promise<boolean> {
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, recordingId);
    if (recording === undefined || !recording.has_own_transcript) return false;
    await markTranscriptionDone(tx, recordingId, null);
    return true;
  });
}

/**
 * Writes the transcript, its language and version, the end of the transcription and `recording_updated` in one
 * transaction. Run twice, or after the recording was deleted, it changes nothing.
 * @param choices.language the one that was set; null: the language that the model detected.
 * @param choices.voiceModel name and revision of the model that told the speakers apart; null: none.
 * @param onTranscript follow-up work, in the same transaction.
 */
export async function finishTranscription(
  db: Database,
  recordingId: string,
  chunks: readonly ChunkRow[],
  choices: { readonly language: string | null; readonly voiceModel: string | null },
  onTranscript?: (tx: Tx, recording: { readonly id: string; readonly workspaceId: string }) => Promise<void>,
): Promise<void> {
  const turns = findTurns(
    chunks.map(({ start_ms, end_ms, voices }) => ({ startMs: start_ms, endMs: end_ms, found: voices })),
    await countSpeakers(db, recordingId),
  );
  const merged = await mergeChunks(
    chunks.flatMap(({ start_ms, end_ms, channel, result }) =>
      result === null ? [] : [{ startMs: start_ms, endMs: end_ms, channel, transcript: result }],
    ),
    turns,
    await findSpeakerTracks(db.kysely, recordingId),
  );
  const unclear = chunks.reduce((sum, { result }) => sum + (result?.unclear ?? 0), merged.repeated);
  if (merged.segments.length > maxSegments || !fitsTranscript(merged.segments))
    return db.kysely
      .transaction()
      .execute((tx) =>
        markFailed(
          tx,
          recordingId,
          `The speech server returned more text than a transcript may have: at most ${maxSegments} segments with ${maxTranscriptCharacters} characters in all.`,
          "model",
        ),
      );
  // Before the transaction, because it yields to other work.
  const wordTimes = await storeAllWordTimes(merged.segments.map(timedSegment));
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, recordingId);
    if (recording === undefined) return;
    if (recording.has_own_transcript) return markTranscriptionDone(tx, recordingId, null);
    const segments = await attribute(tx, recordingId, merged, wordTimes);
    const { edits } = recording;
    const former = edits === null ? [] : await findFormer(tx, recordingId);
    await sql`delete from transcript_segments where recording_id = ${recordingId}`.execute(tx);
    await insertSegments(tx, recordingId, segments);
    const { rows } = await sql<{ transcript_version: number }>`
      update recordings set transcript_language = ${choices.language ?? merged.language},
        transcript_version = transcript_version + 1, updated_at = clock_timestamp()
      where id = ${recordingId} returning transcript_version`.execute(tx);
    const version = rows[0]?.transcript_version ?? null;
    await markTranscriptionDone(tx, recordingId, version);
    const used = joinUsed(chunks);
    await saveUsed(tx, recordingId, used);
    await saveUnclearPassages(tx, recordingId, unclear);
    await saveRecordingVoices(
      tx,
      recordingId,
      choices.voiceModel,
      findSpeakerVoices(chunks, segments.filter(isUnnamed)),
    );
    if (edits !== null && version !== null)
      await completeRenewal(tx, recordingId, {
        edits,
        version,
        former,
        fresh: segments,
        ...(used === null ? {} : { used }),
      });
    if (former.length + segments.length > 0) await reportHighlights(tx, recordingId, null);
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
    await onTranscript?.(tx, { id: recordingId, workspaceId: recording.workspace_id });
  });
}

/** Whether a segment is of a speaker whom nobody has named; "Unknown Speaker" without a number may be several. */
function isUnnamed({ participant_id, speaker }: NewSegment): boolean {
  return participant_id === null && speaker !== "Unknown Speaker";
}

/** What was used in all: a server may have refused the vocabulary for the first chunks. */
function joinUsed(chunks: readonly ChunkRow[]): UsedSpeechModel | null {
  const all = chunks.flatMap(({ result }) => result?.used ?? []);
  const [first] = all;
  if (first === undefined) return null;
  return { ...first, vocabulary: [...new Set(all.flatMap(({ vocabulary }) => vocabulary))] };
}

/** The number of speakers, if the participants are known. A single one is more often the uploader than everybody. */
async function countSpeakers(db: Database, recordingId: string): Promise<number | null> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from participants where recording_id = ${recordingId} and attended`.execute(
    db.kysely,
  );
  const count = rows[0]?.count ?? 0;
  return count >= 2 ? count : null;
}

/**
 * Names the speakers. Those with a track of their own are participants if one has their name. A model at best distinguishes voices without knowing who they belong to, so its speakers stay
 * unknown. Only if a single participant attended and at most one voice was heard is that participant taken as the
 * speaker. Segments without a speaker get "Unknown Speaker" without a number, since a number would claim that it is
 * always the same voice.
 */
async function attribute(
  tx: Tx,
  recordingId: string,
  merged: MergedTranscript,
  wordTimes: readonly (StoredWordTimes | null)[],
): Promise<NewSegment[]> {
  const people = await tx
    .selectFrom("participants")
    .select(["id", "name"])
    .where("recording_id", "=", recordingId)
    .limit(maxParticipants)
    .execute();
  // Only speakers with a track of their own have names.
  const named = new Map(people.map((one) => [one.name, one]));
  const voices = new Set(merged.segments.map((segment) => segment.speaker));
  const person = people.length === 1 && voices.size <= 1 ? people[0] : undefined;
  // A voice is not the participant who happens to have the name it was given.
  const nextName = anonymousNames(named.keys());
  const anonymous = new Map(
    [...voices]
      .filter((voice) => voice !== null && isAnonymousName(voice))
      .map((voice) => [voice, nextName()]),
  );
  return merged.segments.map(({ startMs, endMs, text, ...segment }, index) => {
    const voice = segment.speaker ?? "";
    const speaker = person ?? (anonymous.has(voice) ? undefined : named.get(voice));
    return {
      start_ms: startMs,
      end_ms: endMs,
      text,
      participant_id: speaker?.id ?? null,
      speaker: speaker?.name ?? anonymous.get(voice) ?? segment.speaker ?? "Unknown Speaker",
      word_times: wordTimes[index] ?? null,
    };
  });
}

function timedSegment({ startMs, endMs, text, words = [] }: MergedSegment) {
  return {
    start: startMs,
    end: endMs,
    text,
    words: words.map((word) => ({ text: word.text, time: { start: word.startMs, end: word.endMs } })),
  };
}
