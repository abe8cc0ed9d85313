import { randomUUIDv7 } from "node:crypto";
import type { Insertable } from "kysely";
import { sql } from "kysely";
import { fieldNames, type RecordingFields, recordingFields } from "../../../contract/recordings/fields.ts";
import { syncGrants } from "../../people/access/grants.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";
import type { Recordings } from "../../platform/db/types.ts";

/** A recording with all its parts, as it is stored first. */
export interface NewRecording {
  readonly values: NewValues & RecordingFields;
  /** Credited in this order. */
  readonly recorderIds?: readonly string[];
  readonly participants?: readonly NewParticipant[];
  /** Teams, users and creators that are gone by now are left out. */
  readonly teamIds?: readonly string[];
  readonly sharedUserIds?: readonly string[];
  readonly privateNotes?: readonly { readonly user_id: string; readonly text: string }[];
  readonly highlights?: readonly NewHighlight[];
  readonly segments?: readonly NewSegment[];
}

type NewValues = Pick<
  Insertable<Recordings>,
  | "id"
  | "workspace_id"
  | "title"
  | "default_title"
  | "start_datetime"
  | "end_datetime"
  | "duration_ms"
  | "media_type"
  | "external"
  | "meeting_type_id"
  | "meeting_type_by_hand"
  | "transcript_language"
  | "has_thumbnail"
  | "ai_summary"
  | "chapters_by_hand"
  | "start_ground"
> & {
  readonly screenshares?: readonly object[] | null;
  readonly ai_action_items?: readonly object[] | null;
  readonly ai_summary_points?: readonly object[] | null;
  readonly ai_template_sections?: readonly object[] | null;
  readonly ai_chapters?: readonly object[] | null;
};

/** The columns that hold JSON, which are written as text: pg would send a list as an array of PostgreSQL. */
const jsonColumns: ReadonlySet<string> = new Set([
  ...fieldNames.filter((name) => recordingFields[name].isJson),
  "screenshares",
  "ai_action_items",
  "ai_summary_points",
  "ai_template_sections",
  "ai_chapters",
]);

/** Values of a recording, all or some, as its columns take them. */
export function toColumns(values: Partial<NewRecording["values"]>): Insertable<Recordings> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      jsonColumns.has(name) && value !== null ? JSON.stringify(value) : value,
    ]),
  ) as Insertable<Recordings>;
}

/**
 * Writes a recording whole, with its grants. The caller calls `holdMembership` before it reads what the recording refers to,
 * and afterwards writes its files and announces it.
 */
export async function createRecording(tx: Tx, recording: NewRecording): Promise<void> {
  const { id, workspace_id: workspaceId } = recording.values;
  await tx.insertInto("recordings").values(toColumns(recording.values)).modifyEnd(prepared).execute();
  await insertRecorders(tx, id, recording.recorderIds ?? []);
  await insertParticipants(tx, workspaceId, id, recording.participants ?? []);
  const { teamIds = [], sharedUserIds = [], privateNotes = [] } = recording;
  if (teamIds.length > 0)
    await sql`
      insert into recording_teams (recording_id, team_id)
      select ${id}, id from teams where id = any(${teamIds}::uuid[]) ${prepared}`.execute(tx);
  if (sharedUserIds.length > 0)
    await sql`
      insert into recording_user_shares (recording_id, user_id)
      select ${id}, id from users
      where id = any(${sharedUserIds}::uuid[]) and deactivated_at is null ${prepared}`.execute(tx);
  if (privateNotes.length > 0)
    await sql`
      insert into private_notes (recording_id, user_id, text)
      select ${id}, u.id, n.text
      from jsonb_to_recordset(${JSON.stringify(privateNotes)}::jsonb) as n (user_id uuid, text text)
        join users u on u.id = n.user_id
      on conflict do nothing`.execute(tx);
  await insertHighlights(tx, workspaceId, id, recording.highlights ?? []);
  await insertSegments(tx, id, recording.segments ?? []);
  await syncGrants(tx, [id]);
}

export interface NewHighlight {
  readonly text: string;
  readonly start_ms: number;
  readonly duration_ms: number;
  readonly tags: readonly string[];
  readonly created_by: string | null;
  /** When it was created elsewhere; absent: it is new, which is an event. */
  readonly created_at?: string;
}

async function insertHighlights(
  tx: Tx,
  workspaceId: string,
  recordingId: string,
  highlights: readonly NewHighlight[],
): Promise<void> {
  if (highlights.length === 0) return;
  const rows = highlights.map((highlight) => ({ id: randomUUIDv7(), ...highlight }));
  await sql`
    insert into highlights
      (id, workspace_id, recording_id, created_by, text, start_ms, duration_ms, tags, created_at, updated_at)
    select h.id, ${workspaceId}, ${recordingId}, u.id, h.text, h.start_ms, h.duration_ms, h.tags,
      coalesce(h.created_at, now()), coalesce(h.created_at, now())
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as h (id uuid, text text, start_ms integer,
        duration_ms integer, tags text[], created_at timestamptz, created_by uuid)
      left join users u on u.id = h.created_by`.execute(tx);
  for (const { id, created_at: at } of rows)
    if (at === undefined)
      await recordEvent(tx, {
        workspaceId,
        type: "highlight_added",
        subjectId: id,
        recordingId,
        data: { id, recording_id: recordingId },
      });
}

/** Credits the users as recorders, in this order. */
export async function insertRecorders(
  tx: Tx,
  recordingId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await sql`
    insert into recording_recorders (recording_id, user_id, position)
    select ${recordingId}, id, position - 1
    from unnest(${userIds}::uuid[]) with ordinality as u (id, position) ${prepared}`.execute(tx);
}

export interface NewParticipant {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly scope: "internal" | "external" | "unknown";
  readonly confirmed_attendee: boolean;
  readonly attended: boolean;
  /** Only invited, by a calendar: without access. Absent: false. */
  readonly is_invited?: boolean;
  readonly crm_contact_id?: string | null;
  readonly observed_join_time?: string | null;
  readonly observed_leave_time?: string | null;
}

async function insertParticipants(
  tx: Tx,
  workspaceId: string,
  recordingId: string,
  people: readonly NewParticipant[],
): Promise<void> {
  if (people.length === 0) return;
  await sql`
    insert into participants
      (id, workspace_id, recording_id, position, name, email, phone, scope, confirmed_attendee, attended,
        is_invited, crm_contact_id, observed_join_time, observed_leave_time)
    select id, ${workspaceId}, ${recordingId}, position, name, email, phone, scope, confirmed_attendee, attended,
      coalesce(is_invited, false), crm_contact_id, observed_join_time, observed_leave_time
    from jsonb_to_recordset(${JSON.stringify(people.map((person, position) => ({ ...person, position })))}::jsonb)
      as p (id uuid, position integer, name text, email text, phone text, scope text,
            confirmed_attendee boolean, attended boolean, is_invited boolean, crm_contact_id text,
            observed_join_time timestamptz, observed_leave_time timestamptz) ${prepared}`.execute(tx);
}

export interface NewSegment {
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
  /** When its words were spoken, as transcript_segments.word_times has it; absent: not known. */
  readonly word_times?: readonly (number | null)[] | null;
}

/** Writes a transcript in one statement, in the order given. */
export async function insertSegments(
  tx: Tx,
  recordingId: string,
  segments: readonly NewSegment[],
): Promise<void> {
  if (segments.length === 0) return;
  await sql`
    insert into transcript_segments
      (recording_id, position, participant_id, speaker, start_ms, end_ms, text, word_times)
    select ${recordingId}, position - 1, participant_id, speaker, start_ms, end_ms, text, word_times::integer[]
    from unnest(
      ${segments.map((segment) => segment.participant_id)}::uuid[],
      ${segments.map((segment) => segment.speaker)}::text[],
      ${segments.map((segment) => segment.start_ms)}::integer[],
      ${segments.map((segment) => segment.end_ms)}::integer[],
      ${segments.map((segment) => segment.text)}::text[],
      ${segments.map(({ word_times: times }) => (times == null ? null : arrayText(times)))}::text[]
    ) with ordinality as s (participant_id, speaker, start_ms, end_ms, text, word_times, position) ${prepared}`.execute(
    tx,
  );
}

/** Numbers as PostgreSQL writes an array, because unnest() would flatten arrays in an array. */
function arrayText(numbers: readonly (number | null)[]): string {
  return `{${numbers.map((number) => number ?? "null").join(",")}}`;
}

/**
 * Tells which emails belong to the workspace: those of its domains and those of its users.
 * @returns a flag for each email, in their order. PostgreSQL alone folds case, as it did for what is stored.
 */
export async function areInternal(
  tx: Tx,
  workspaceId: string,
  emails: readonly (string | null)[],
): Promise<boolean[]> {
  const { rows } = await sql<{ is_internal: boolean }>`
    select coalesce(
      split_part(parley_lower(e.email), '@', -1) = any(w.email_domains)
        or exists (select 1 from users u where u.workspace_id = w.id and u.email_key = parley_lower(e.email)),
      false) as is_internal
    from unnest(${emails}::text[]) with ordinality as e (email, position), workspaces w
    where w.id = ${workspaceId}
    order by position ${prepared}`.execute(tx);
  return rows.map((row) => row.is_internal);
}
