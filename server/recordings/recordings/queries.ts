import { createHash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type pg from "pg";
import type { RecordingIncludeInput } from "../../../contract/recordings/recordings.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import type { Position } from "../../platform/http/page.ts";
import { recordingJson, recordingJsonOfMany } from "./json/recording.ts";
import { withoutLineBreaks } from "./json/sql.ts";
import { includeBits, isHot, type ListOptions, listStatement } from "./list/list-query.ts";
import { findRareTitles } from "./list/rare-titles.ts";

/** A page of recordings. */
export interface RecordingPage {
  /** The contract's Recordings as JSON from PostgreSQL, separated by commas. */
  readonly json: string;
  /** The last one of the page; null when no recordings follow it. */
  readonly last: Position | null;
  /** Their ids, if requested. */
  readonly ids: readonly string[];
}

/** A page of the recordings that the principal can see, newest first. */
export async function listRecordings(
  source: Queryable,
  options: Omit<ListOptions, "rareTitles">,
): Promise<RecordingPage> {
  const { principal, filter } = options;
  const rareTitles = await findRareTitles(source, principal.workspaceId, filter.title_search);
  const { rows } = await source.query<Position & { has_more: boolean; json: string; ids?: string[] }>(
    listStatement({ ...options, rareTitles }) as pg.QueryConfig,
  );
  const [row] = rows;
  if (row === undefined) return { json: "", last: null, ids: [] };
  const { at, id, has_more, json, ids = [] } = row;
  return { json: withoutLineBreaks(json), last: has_more ? { at, id } : null, ids };
}

/** One recording as JSON, or undefined when it doesn't exist or the principal can't see it. */
export async function findRecordingJson(
  source: Queryable,
  principal: Principal,
  recordingId: string,
  include: RecordingIncludeInput,
  { baseUrl, thumbnails }: Pick<ListOptions, "baseUrl" | "thumbnails">,
): Promise<string | undefined> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const json = recordingJson(include, { bind, baseUrl, thumbnails, userId: principal.userId });
  const { rows } = await source.query<{ json: string }>({
    ...(isHot(include) ? { name: `get_recording_${includeBits(include)}` } : {}),
    text: `select ${json}::text as json from recordings r
           where r.id = ${bind(recordingId)} and exists (select 1 from recording_grants g
             where g.recording_id = r.id and g.principal_id = any(${bind(principal.sees)}::uuid[]))`,
    values,
  });
  return rows[0] && withoutLineBreaks(rows[0].json);
}

/**
 * Recordings in the form events use, by id; none in the trash, whose data is no longer sent.
 * @param userId the user whose private notes are included.
 */
export async function findRecordingsForEvent(
  pool: pg.Pool,
  recordingIds: readonly string[],
  include: RecordingIncludeInput,
  context: Pick<ListOptions, "baseUrl" | "thumbnails"> & { readonly userId: string },
): Promise<Map<string, string>> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const ids = bind(recordingIds);
  const { json, joins } = recordingJsonOfMany(include, { ...context, bind }, ids);
  const text = `select r.id, ${json}::text as json from recordings r ${joins} where r.id = any(${ids}::uuid[])
    and not exists (select 1 from trashed_recordings t where t.recording_id = r.id)`;
  // Prepared once per include, because planning takes longer than reading a recording.
  const name = `event_recordings_${createHash("sha256").update(text).digest("base64url").slice(0, 20)}`;
  const { rows } = await pool.query<{ id: string; json: string }>({ name, text, values });
  return new Map(rows.map(({ id, json }) => [id, withoutLineBreaks(json)]));
}

/** The version of a recording's transcript; null when the recording doesn't exist or the principal can't see it. */
export async function findTranscriptVersion(
  pool: pg.Pool,
  { sees }: Principal,
  recordingId: string,
): Promise<number | null> {
  const { rows } = await pool.query<{ transcript_version: number }>({
    name: "find_transcript_version",
    text: `select r.transcript_version from recordings r
           where r.id = $2 and exists (
             select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any($1))`,
    values: [sees, recordingId],
  });
  return rows[0]?.transcript_version ?? null;
}

/** Whether the recording exists and the principal can see it. */
export async function canSeeRecording(
  pool: pg.Pool,
  principal: Principal,
  recordingId: string,
): Promise<boolean> {
  const { rows } = await pool.query({
    name: "can_see_recording",
    text: "select 1 from recording_grants where recording_id = $1 and principal_id = any($2::uuid[]) limit 1",
    values: [recordingId, principal.sees],
  });
  return rows.length > 0;
}

/** A transcript segment with the contract's field names. */
export interface SegmentRow {
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All segments of a transcript in spoken order. */
export async function findTranscript(pool: pg.Pool, recordingId: string): Promise<SegmentRow[]> {
  const { rows } = await pool.query<SegmentRow>({
    name: "find_transcript",
    text: `select participant_id, speaker, start_ms as start, end_ms as end, text
           from transcript_segments where recording_id = $1 order by position`,
    values: [recordingId],
  });
  return rows;
}

export interface ChangeableRecording {
  readonly id: string;
  readonly workspace_id: string;
  readonly title: string;
  readonly tags: string[];
  readonly is_visible: boolean;
  readonly is_recorder: boolean;
}

/** Locks a recording of the principal's workspace for a change, with what decides whether the principal may make it. */
export async function lockRecording(
  tx: Tx,
  principal: Principal,
  recordingId: string,
): Promise<ChangeableRecording | undefined> {
  return findChangeable(tx, principal, recordingId, sql`for update of r`);
}

/** A recording as `lockRecording` returns it, without the lock. */
export async function findChangeable(
  db: Executor,
  principal: Principal,
  recordingId: string,
  lock: RawBuilder<unknown> = sql``,
): Promise<ChangeableRecording | undefined> {
  const { rows } = await sql<ChangeableRecording>`
    select r.id, r.workspace_id, r.title, r.tags,
      exists (select 1 from recording_grants g
        where g.recording_id = r.id and g.principal_id = any(${principal.sees}::uuid[])) as is_visible,
      exists (select 1 from recording_recorders rr
        where rr.recording_id = r.id and rr.user_id = ${principal.userId}) as is_recorder
    from recordings r
    where r.id = ${recordingId} and r.workspace_id = ${principal.workspaceId}
    ${lock} ${prepared}`.execute(db);
  return rows[0];
}
