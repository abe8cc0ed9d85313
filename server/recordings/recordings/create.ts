import type { Insertable } from "kysely";
import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import type { Recordings } from "../../platform/db/types.ts";

export type NewRecording = Pick<
  Insertable<Recordings>,
  | "id"
  | "workspace_id"
  | "title"
  | "start_datetime"
  | "end_datetime"
  | "duration_ms"
  | "media_type"
  | "source"
  | "share_state"
  | "external"
  | "meeting_type_id"
  | "transcript_language"
  | "has_thumbnail"
> &
  Partial<Pick<Insertable<Recordings>, "default_title">>;

export async function insertRecording(tx: Tx, recording: NewRecording): Promise<void> {
  await tx.insertInto("recordings").values(recording).execute();
}

/** Credits the users as recorders, in this order. */
export async function insertRecorders(
  tx: Tx,
  recordingId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await tx
    .insertInto("recording_recorders")
    .values(userIds.map((user_id, position) => ({ recording_id: recordingId, user_id, position })))
    .execute();
}

export interface NewParticipant {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly scope: "internal" | "external" | "unknown";
  readonly confirmed_attendee: boolean;
  readonly attended: boolean;
}

export async function insertParticipants(
  tx: Tx,
  workspaceId: string,
  recordingId: string,
  people: readonly NewParticipant[],
): Promise<void> {
  if (people.length === 0) return;
  await sql`
    insert into participants
      (id, workspace_id, recording_id, position, name, email, phone, scope, confirmed_attendee, attended)
    select id, ${workspaceId}, ${recordingId}, position, name, email, phone, scope, confirmed_attendee, attended
    from jsonb_to_recordset(${JSON.stringify(people.map((person, position) => ({ ...person, position })))}::jsonb)
      as p (id uuid, position integer, name text, email text, phone text, scope text,
            confirmed_attendee boolean, attended boolean)`.execute(tx);
}

/** Attaches a team, unless it was deleted in the meantime. */
export async function insertRecordingTeam(tx: Tx, recordingId: string, teamId: string): Promise<void> {
  await sql`
    insert into recording_teams (recording_id, team_id)
    select ${recordingId}, id from teams where id = ${teamId}`.execute(tx);
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
    ) with ordinality as s (participant_id, speaker, start_ms, end_ms, text, word_times, position)`.execute(
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
    order by position`.execute(tx);
  return rows.map((row) => row.is_internal);
}
