import { sql } from "kysely";
import type pg from "pg";
import { maxPartCharacters } from "../../../contract/transcripts/transcript-editing.ts";
import type {
  TranscriptEditDetails,
  TranscriptEditKind,
} from "../../../contract/transcripts/transcript-history.ts";
import { maxHistory } from "../../../contract/transcripts/transcript-history.ts";
import { maxMilliseconds, maxTranscriptCharacters } from "../../../shared/transcripts/transcript-limits.ts";
import type { Tx } from "../../platform/db/database.ts";
import type { SegmentChange, TranscriptChanges } from "../../platform/db/json-columns.ts";
import type { Identity } from "./changes.ts";

const speakers = `coalesce((
  select array_to_json(array_agg((select row_to_json(q) from (select v.participant_id as "participant_id", v.speaker as "name",
    v.segments as "segments", v.duration_ms as "duration_ms") q) order by v.first))
  from (select participant_id, speaker, count(*) as segments, min(position) as first,
      sum(greatest(end_ms - start_ms, 0)) as duration_ms
    from transcript_segments where recording_id = r.id group by participant_id, speaker) v), '[]')`;

const hasWordTimes = `exists (
  select 1 from transcript_segments s where s.recording_id = r.id and s.word_times is not null)`;

const headJson = `(select row_to_json(q) from (select
        r.transcript_version as "transcript_version",
        r.transcript_language as "language",
        ${hasWordTimes} as "has_word_times",
        ${speakers} as "speakers") q)`;

const viewJson = `(select row_to_json(q) from (select
        r.transcript_version as "transcript_version",
        r.transcript_language as "language",
        ${hasWordTimes} as "has_word_times",
        ${speakers} as "speakers",
        coalesce((
          select array_to_json(array_agg((select row_to_json(q) from (select s.position as "index", s.participant_id as "participant_id",
            s.speaker as "speaker", s.start_ms as "start", s.end_ms as "end", s.text as "text",
            s.original is not null as "is_edited") q) order by s.position))
          from transcript_segments s where s.recording_id = r.id), '[]') as "segments") q)`;

/** A transcript as the management API shows it, in one statement, so that version and text match. */
export async function findTranscriptView(pool: pg.Pool, recordingId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ json: string }>({
    name: "transcript_view",
    text: `select ${viewJson}::text as json
      from recordings r where r.id = $1`,
    values: [recordingId],
  });
  return rows[0]?.json;
}

/** A segment of a transcript part. */
interface PartSegment {
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a line of a transcript adds to speaker and text: time, punctuation and line break. */
const lineCharacters = 16;

/** The segments that touch a range, as many as fit into a part, and at least one. */
export async function findTranscriptPart(
  pool: pg.Pool,
  recordingId: string,
  {
    from_ms = 0,
    to_ms = maxMilliseconds,
  }: { readonly from_ms?: number | undefined; readonly to_ms?: number | undefined },
): Promise<{ segments: PartSegment[]; next_from_ms: number | null }> {
  const { rows } = await pool.query<PartSegment & { readonly fits: boolean }>({
    name: "transcript_part",
    text: `
      with touching as (
        select position, speaker, start_ms, end_ms, left(text, $4) as text from transcript_segments
        where recording_id = $1 and end_ms >= $2 and start_ms <= $3 order by position limit $5
      ), measured as (
        select *, row_number() over (order by position) = 1 or
            sum(length(speaker) + length(text) + ${lineCharacters}) over (order by position) <= $4 as fits
        from touching
      ), numbered as (
        select *, count(*) filter (where not fits) over (order by position) as missed from measured
      )
      select speaker, start_ms as start, end_ms as "end", text, fits
      from numbered where missed <= 1 order by position`,
    values: [recordingId, from_ms, to_ms, maxPartCharacters, maxPartCharacters / lineCharacters + 2],
  });
  return {
    segments: rows
      .filter(({ fits }) => fits)
      .map(({ speaker, start, end, text }) => ({ speaker, start, end, text })),
    next_from_ms: rows.find(({ fits }) => !fits)?.start ?? null,
  };
}

/** The transcript as the management API shows it, without the segments. */
export async function findTranscriptHead(tx: Tx, recordingId: string): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(headJson)}::text as json
      from recordings r where r.id = ${recordingId}`.execute(tx);
  return rows[0]?.json;
}

/** The fields of a locked recording that decide about edits. */
export interface TranscriptState {
  readonly transcript_version: number;
  /** It is being transcribed again, and edits will be dropped. */
  readonly is_being_discarded: boolean;
}

export async function findTranscriptState(tx: Tx, recordingId: string): Promise<TranscriptState> {
  const { rows } = await sql<TranscriptState>`
    select r.transcript_version,
      exists (select 1 from transcriptions t where t.recording_id = r.id and t.edits = 'discard'
        and t.status in ('pending', 'running')) as is_being_discarded
    from recordings r where r.id = ${recordingId}`.execute(tx);
  const state = rows[0];
  if (state === undefined) throw new Error(`recording ${recordingId} was not locked before`);
  return state;
}

/** Segments as edits see them. */
export interface EditableSegment extends Identity {
  readonly position: number;
  readonly text: string;
}

export async function findSegmentsAt(
  tx: Tx,
  recordingId: string,
  positions: readonly number[],
): Promise<EditableSegment[]> {
  const { rows } = await sql<EditableSegment>`
    select position, participant_id, speaker, text from transcript_segments
    where recording_id = ${recordingId} and position = any(${positions}::integer[])
    order by position`.execute(tx);
  return rows;
}

/** Whether pending changes make a transcript too long. One that is too long already may be shortened. */
export async function growsTooLong(
  tx: Tx,
  recordingId: string,
  changes: readonly SegmentChange[],
): Promise<boolean> {
  const added = changes.reduce(
    (sum, { positions, before, after }) =>
      sum + positions.length * ((after.text?.length ?? 0) - (before.text?.length ?? 0)),
    0,
  );
  if (added <= 0) return false;
  const { rows } = await sql<{ length: number }>`
    select coalesce(sum(length(text)), 0)::float8 as length from transcript_segments
    where recording_id = ${recordingId}`.execute(tx);
  return (rows[0]?.length ?? 0) + added > maxTranscriptCharacters;
}

/** The speakers in a range of segments, without the text. */
export async function findIdentities(
  tx: Tx,
  recordingId: string,
  range?: { readonly from: number; readonly to: number },
): Promise<(Identity & { position: number })[]> {
  const { rows } = await sql<Identity & { position: number }>`
    select position, participant_id, speaker from transcript_segments
    where recording_id = ${recordingId}
      and position between ${range?.from ?? 0} and ${range?.to ?? 2_147_483_647}
    order by position`.execute(tx);
  return rows;
}

/** The participants of a recording, with the fields that transcripts need. */
export interface TranscriptParticipant {
  readonly id: string;
  readonly name: string;
  readonly confirmed_attendee: boolean;
  readonly is_invited: boolean;
}

export async function findParticipants(
  tx: Tx,
  recordingId: string,
): Promise<Map<string, TranscriptParticipant>> {
  const rows = await tx
    .selectFrom("participants")
    .select(["id", "name", "confirmed_attendee", "is_invited"])
    .where("recording_id", "=", recordingId)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

const fields = ["text", "speaker", "participant_id"] as const;

/** The changes in the form `jsonb_to_recordset` reads. */
function toRecords(changes: readonly SegmentChange[]): string {
  return JSON.stringify(
    changes.map(({ positions, before, after }) => ({
      positions,
      before,
      after,
      absent: fields.filter((field) => !(field in after)),
    })),
  );
}

const now = sql`jsonb_build_object('text', s.text, 'speaker', s.speaker, 'participant_id', s.participant_id)`;

/** How many of the segments no longer have the values that the changes expect. */
export async function countDiffering(
  tx: Tx,
  recordingId: string,
  changes: readonly SegmentChange[],
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n
    from jsonb_to_recordset(${toRecords(changes)}::jsonb) as c (positions integer[], before jsonb)
    cross join unnest(c.positions) as p (position)
    left join transcript_segments s on s.recording_id = ${recordingId} and s.position = p.position
    where s.position is null or not ${now} @> c.before`.execute(tx);
  return rows[0]?.n ?? 0;
}

/**
 * Writes changes of segments. The original text of a segment is stored with its first edit, until the segment has it
 * again.
 * @returns the times of the changed segments.
 */
export async function writeSegments(
  tx: Tx,
  recordingId: string,
  changes: readonly SegmentChange[],
): Promise<{ start_ms: number; end_ms: number }[]> {
  if (changes.length === 0) return [];
  const { rows } = await sql<{ start_ms: number; end_ms: number }>`
    update transcript_segments s set
      text = coalesce(c.after ->> 'text', s.text),
      speaker = coalesce(c.after ->> 'speaker', s.speaker),
      participant_id = case when c.after ? 'participant_id'
        then (c.after ->> 'participant_id')::uuid else s.participant_id end,
      original = case when (${now} || c.after) @> ((${now} - c.absent) || coalesce(s.original, '{}'))
        then null else (${now} - c.absent) || coalesce(s.original, '{}') end
    from (
      select p.position, c.after, c.absent
      from jsonb_to_recordset(${toRecords(changes)}::jsonb)
        as c (positions integer[], after jsonb, absent text[])
      cross join unnest(c.positions) as p (position)
    ) c
    where s.recording_id = ${recordingId} and s.position = c.position
    returning s.start_ms, s.end_ms`.execute(tx);
  if (changes.some(({ after }) => after.speaker !== undefined || after.participant_id !== undefined))
    await deleteVoicesWithoutSpeaker(tx, recordingId);
  return rows;
}

/** Deletes the voices of speakers who were renamed or merged: their labels may later be those of other voices. */
async function deleteVoicesWithoutSpeaker(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    delete from recording_voices v where v.recording_id = ${recordingId} and not exists (
      select 1 from transcript_segments s where s.recording_id = v.recording_id
        and s.participant_id is null and s.speaker = v.speaker)`.execute(tx);
}

export async function writeParticipant(
  tx: Tx,
  participantId: string,
  values: Partial<Omit<TranscriptParticipant, "id">>,
): Promise<void> {
  await tx.updateTable("participants").set(values).where("id", "=", participantId).execute();
}

/** Increments the transcript's version. @returns the new version. */
export async function nextVersion(tx: Tx, recordingId: string): Promise<number> {
  const row = await tx
    .updateTable("recordings")
    .set({
      transcript_version: sql`transcript_version + 1`,
      updated_at: sql`clock_timestamp()`,
    })
    .where("id", "=", recordingId)
    .returning("transcript_version")
    .executeTakeFirstOrThrow();
  return row.transcript_version;
}

export interface NewEdit {
  readonly kind: TranscriptEditKind;
  readonly userId: string | null;
  readonly version: number;
  readonly segments: number;
  readonly details: TranscriptEditDetails;
  readonly changes: TranscriptChanges;
  readonly undoes?: number;
}

/** Stores an edit in the history and removes the oldest. The recording is locked. @returns its number. */
export async function insertEdit(tx: Tx, recordingId: string, edit: NewEdit): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    insert into transcript_edits
      (recording_id, number, kind, user_id, transcript_version, segments, details, changes, undoes)
    select ${recordingId}, coalesce(max(number), 0) + 1, ${edit.kind}, ${edit.userId}::uuid, ${edit.version},
      ${edit.segments}, ${JSON.stringify(edit.details)}::jsonb, ${JSON.stringify(edit.changes)}::jsonb,
      ${edit.undoes ?? null}::integer
    from transcript_edits where recording_id = ${recordingId}
    returning number`.execute(tx);
  const number = rows[0]?.number ?? 0;
  await sql`
    delete from transcript_edits
    where recording_id = ${recordingId} and number <= ${number - maxHistory}`.execute(tx);
  return number;
}

export async function markUndone(
  tx: Tx,
  recordingId: string,
  number: number,
  undoneBy: number | null,
): Promise<void> {
  await tx
    .updateTable("transcript_edits")
    .set({ undone_by: undoneBy })
    .where("recording_id", "=", recordingId)
    .where("number", "=", number)
    .execute();
}

export interface EditRow {
  readonly number: number;
  readonly kind: TranscriptEditKind;
  readonly undoes: number | null;
  readonly undone_by: number | null;
  readonly changes: TranscriptChanges;
}

const edits = ["text", "rename", "merge", "assign", "reapplied"] as const;

/** An edit by its number, or the last one that is in effect. */
export async function findEditToUndo(
  tx: Tx,
  recordingId: string,
  number: number | undefined,
): Promise<EditRow | undefined> {
  return tx
    .selectFrom("transcript_edits")
    .select(["number", "kind", "undoes", "undone_by", "changes"])
    .where("recording_id", "=", recordingId)
    .$if(number !== undefined, (query) => query.where("number", "=", number ?? 0))
    .$if(number === undefined, (query) => query.where("kind", "in", edits).where("undone_by", "is", null))
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The number of the history entry for the last replacement of the transcript; 0 if there is none. */
export async function findLastReplacement(tx: Tx, recordingId: string): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    select coalesce(max(number), 0) as number from transcript_edits
    where recording_id = ${recordingId} and kind in ('transcribed', 'supplied')`.execute(tx);
  return rows[0]?.number ?? 0;
}
