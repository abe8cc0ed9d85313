import { sql } from "kysely";
import { foldName } from "../../../../shared/fold-case.ts";
import type { Executor } from "../../../platform/db/database.ts";
import type { CalendarPerson, Invited } from "../../../platform/db/json-columns.ts";
import { isInvited } from "../queries.ts";

/** An event that a recording may be of. */
export interface Candidate {
  readonly id: string;
  readonly calendar_id: string;
  readonly key: string;
  readonly ical_uid: string | null;
  readonly title: string | null;
  readonly start_at: Date;
  readonly end_at: Date;
  readonly organizer: CalendarPerson | null;
  readonly attendees: readonly Invited[];
  /** Whether a user it was found for is its organizer or invited, or it is their own and names nobody. */
  readonly is_theirs: boolean;
  /** The time that event and recording share, of the time that either takes. */
  readonly fit: number;
}

/** Fits that differ by less say nothing. */
const equalFit = 0.1;

/**
 * SQL: recorder `rr` created the recording, or a workspace token named them. Anybody can name a colleague as the recorder, so
 * only then their calendars may decide about it.
 */
export const isTrustedRecorder = sql<boolean>`exists (
  select 1 from uploads u where u.recording_id = rr.recording_id and (u.scope = 'workspace' or u.created_by = rr.user_id))`;

/**
 * Events that overlap a recording by at least half of the shorter of both, best first: of the calendars of these users, and
 * of room calendars where one of these users is invited. Events of a whole day, private ones and those that the user declined
 * are left out.
 * @param ofRooms whether the users' own calendars are left out.
 */
export async function findCandidates(
  db: Executor,
  recordingId: string,
  userIds: readonly string[],
  { ofRooms = false }: { readonly ofRooms?: boolean } = {},
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with people as (
      select u.id, u.email_key from users u where u.deactivated_at is null and u.id = any(${userIds}::uuid[])
    ), found as (
      select e.id, e.calendar_id, e.key, e.ical_uid, e.title, e.start_at, e.end_at, e.organizer, e.attendees,
        (${isInvited("u")} or e.organizer is null and e.attendees = '[]') as is_theirs, c.user_id is null as is_room,
        extract(epoch from least(e.end_at, r.end_datetime) - greatest(e.start_at, r.start_datetime)) as shared,
        extract(epoch from e.end_at - e.start_at) as event_length,
        extract(epoch from r.end_datetime - r.start_datetime) as length
      from recordings r
        join calendars c on c.workspace_id = r.workspace_id
        join people u on c.user_id is null or c.user_id = u.id and not ${ofRooms}::boolean
        join calendar_events e on e.calendar_id = c.id and e.start_at < r.end_datetime and e.end_at > r.start_datetime
      where r.id = ${recordingId} and not e.is_all_day and not e.is_private
        and (c.user_id is not null or ${isInvited("u")})
        and not exists (select 1 from jsonb_array_elements(e.attendees) a
          where parley_lower(a ->> 'email') = u.email_key and (a ->> 'declined')::boolean)
    )
    select * from (
      select distinct on (key) id, calendar_id, key, ical_uid, title, start_at, end_at, organizer, attendees, is_theirs,
        (shared / (event_length + length - shared))::float8 as fit
      from found where shared > 0 and shared * 2 >= least(event_length, length)
      order by key, is_theirs desc, is_room
    ) one
    order by is_theirs desc, fit desc, start_at, key
    limit 20`.execute(db);
  return rows;
}

/** The recorders whose calendars may decide which meeting a recording is. */
export async function findTrustedRecorders(db: Executor, recordingId: string): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    select rr.user_id from recording_recorders rr
    where rr.recording_id = ${recordingId} and ${isTrustedRecorder}`.execute(db);
  return rows.map((row) => row.user_id);
}

/**
 * The event that a recording's own calendar event names, as that of a meeting that was recorded with its Record button: it
 * needs no overlap, unless it was moved since. null: the calendars of these users, and of rooms they are invited to, don't
 * have it.
 */
export async function findNamedEvent(
  db: Executor,
  recordingId: string,
  userIds: readonly string[],
): Promise<Candidate | null> {
  const { rows } = await sql<Candidate>`
    select e.id, e.calendar_id, e.key, e.ical_uid, e.title, e.start_at, e.end_at, e.organizer, e.attendees,
      true as is_theirs, 1::float8 as fit
    from recordings r
      join users u on u.id = any(${userIds}::uuid[]) and u.deactivated_at is null
      join calendars c on c.workspace_id = r.workspace_id and (c.user_id = u.id or c.user_id is null)
      join calendar_events e on e.calendar_id = c.id and e.ical_uid = r.calendar_event ->> 'ical_uid'
      cross join lateral (select e.start_at - (r.calendar_event ->> 'scheduled_start_datetime')::timestamptz as moved) m
    where r.id = ${recordingId} and not e.is_all_day and not e.is_private
      and (c.user_id is not null or ${isInvited("u")})
      and (m.moved = interval '0' or e.start_at < r.end_datetime and e.end_at > r.start_datetime)
    order by m.moved <> interval '0', greatest(m.moved, -m.moved), c.user_id is null, c.id limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}

/**
 * The event that fits best; "unclear": some fit equally, or the best names only other people; null: none fits.
 * @param title of the recording, unless generated.
 */
export function chooseCandidate(
  candidates: readonly Candidate[],
  title: string | null,
): Candidate | "unclear" | null {
  const [best] = candidates;
  if (best === undefined) return null;
  // It may be the meeting of others, seen in a calendar that is shared.
  if (!best.is_theirs) return "unclear";
  const equal = candidates.filter(
    ({ is_theirs: isTheirs, fit }) => isTheirs === best.is_theirs && best.fit - fit < equalFit,
  );
  if (equal.length === 1) return best;
  const scored = equal
    .map((candidate) => ({ candidate, score: titleScore(title, candidate.title) }))
    .toSorted((a, b) => b.score - a.score);
  const [first, second] = scored;
  return first !== undefined && first.score > (second?.score ?? 0) ? first.candidate : "unclear";
}

/** How many words of the event's title are in the recording's, from 0 to 1. */
function titleScore(title: string | null, eventTitle: string | null): number {
  const words = wordsOf(eventTitle);
  const own = wordsOf(title);
  if (words.size === 0) return 0;
  return [...words].filter((word) => own.has(word)).length / words.size;
}

function wordsOf(text: string | null): Set<string> {
  return new Set(foldName(text ?? "").match(/[\p{L}\p{N}]+/gu) ?? []);
}
