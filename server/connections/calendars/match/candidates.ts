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
 * Events that overlap a recording by at least half of the shorter of both, best first: of the calendars of these users, and
 * of room calendars if one of these users or a recorder is invited. Events of a whole day, private ones and those that the
 * user declined are left out.
 */
export async function findCandidates(
  db: Executor,
  recordingId: string,
  userIds: readonly string[],
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with people as (
      select u.id, u.email_key, u.id = any(${userIds}::uuid[]) as is_meant from users u
      where u.deactivated_at is null and (u.id = any(${userIds}::uuid[]) or exists (
        select 1 from recording_recorders rr where rr.recording_id = ${recordingId} and rr.user_id = u.id))
    ), found as (
      select e.id, e.calendar_id, e.key, e.ical_uid, e.title, e.start_at, e.end_at, e.organizer, e.attendees,
        (${isInvited("u")} or e.organizer is null and e.attendees = '[]') as is_theirs, c.user_id is null as is_room,
        extract(epoch from least(e.end_at, r.end_datetime) - greatest(e.start_at, r.start_datetime)) as shared,
        extract(epoch from e.end_at - e.start_at) as event_length,
        extract(epoch from r.end_datetime - r.start_datetime) as length
      from recordings r
        join calendars c on c.workspace_id = r.workspace_id
        join people u on c.user_id = u.id and u.is_meant or c.user_id is null
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

/**
 * The event that a recording's own calendar event names, as that of a meeting that was recorded with its Record button: it
 * needs no overlap. null: the calendars of its recorders and rooms don't have it.
 */
export async function findNamedEvent(db: Executor, recordingId: string): Promise<Candidate | null> {
  const { rows } = await sql<Candidate>`
    select e.id, e.calendar_id, e.key, e.ical_uid, e.title, e.start_at, e.end_at, e.organizer, e.attendees,
      true as is_theirs, 1::float8 as fit
    from recordings r
      join recording_recorders rr on rr.recording_id = r.id
      join calendars c on c.workspace_id = r.workspace_id and (c.user_id = rr.user_id or c.user_id is null)
      join calendar_events e on e.calendar_id = c.id and e.ical_uid = r.calendar_event ->> 'ical_uid'
        and e.start_at = (r.calendar_event ->> 'scheduled_start_datetime')::timestamptz
    where r.id = ${recordingId} and not e.is_all_day and not e.is_private
    order by c.user_id is null, c.id limit 1`.execute(db);
  return rows[0] ?? null;
}

/** The event that fits best; "several": some fit equally; null: none fits. @param title of the recording, unless generated. */
export function chooseCandidate(
  candidates: readonly Candidate[],
  title: string | null,
): Candidate | "several" | null {
  const [best] = candidates;
  if (best === undefined) return null;
  const equal = candidates.filter(
    ({ is_theirs: isTheirs, fit }) => isTheirs === best.is_theirs && best.fit - fit < equalFit,
  );
  if (equal.length === 1) return best;
  const scored = equal
    .map((candidate) => ({ candidate, score: titleScore(title, candidate.title) }))
    .toSorted((a, b) => b.score - a.score);
  const [first, second] = scored;
  return first !== undefined && first.score > (second?.score ?? 0) ? first.candidate : "several";
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
