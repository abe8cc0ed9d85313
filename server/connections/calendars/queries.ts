import { randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { managesWorkspace } from "../../people/access/manages-workspace.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { CalendarEvents, Calendars } from "../../platform/db/types.ts";
import type { ReadCalendar } from "./read/read-events.ts";

export type CalendarRow = Selectable<Calendars>;

/** The first event of a calendar that ends after now. */
interface NextEvent {
  readonly title: string | null;
  readonly start_datetime: string;
  readonly is_private: boolean;
  readonly is_all_day: boolean;
}

export type ListedCalendar = CalendarRow & {
  readonly events: number;
  readonly next_event: NextEvent | null;
};

/** The calendars that a principal manages, oldest first. */
export async function findCalendars(
  db: Executor,
  principal: Principal,
  id: string | null = null,
): Promise<ListedCalendar[]> {
  const { workspaceId, userId, scope } = principal;
  const { rows } = await sql<ListedCalendar>`
    select c.*, (select count(*)::integer from calendar_events e where e.calendar_id = c.id) as events,
      case when c.user_id is not null then (
        select json_build_object('title', e.title, 'start_datetime', parley_timestamp(e.start_at),
          'is_private', e.is_private, 'is_all_day', e.is_all_day)
        from calendar_events e where e.calendar_id = c.id and e.end_at > now()
        order by e.start_at, e.key limit 1) end as next_event
    from calendars c
    where c.workspace_id = ${workspaceId} and (${id}::uuid is null or c.id = ${id}::uuid)
      and (c.user_id = ${scope === "personal" ? userId : null}::uuid
        or c.user_id is null and ${managesWorkspace(principal)})
    order by c.id`.execute(db);
  return rows;
}

/** A meeting of the caller's calendars. */
export interface MeetingRow
  extends Pick<
    Selectable<CalendarEvents>,
    | "id"
    | "calendar_id"
    | "key"
    | "ical_uid"
    | "title"
    | "start_at"
    | "end_at"
    | "is_private"
    | "organizer"
    | "attendees"
  > {
  readonly notes: string | null;
  readonly recording_id: string | null;
}

/**
 * SQL: event `e` of calendar `c` is for user `u`: the calendar is the user's own, or a room's and the event invites the user.
 * Emails are compared as everywhere else.
 */
const hasEvent = sql<boolean>`(c.user_id = u.id or c.user_id is null and ${isInvited("u")})`;

/** SQL: user `user` is the organizer of event `e`, or invited to it. */
export function isInvited(user: string) {
  const key = sql.ref(`${user}.email_key`);
  return sql<boolean>`(parley_lower(e.organizer ->> 'email') = ${key}
    or exists (select 1 from jsonb_array_elements(e.attendees) a where parley_lower(a ->> 'email') = ${key}))`;
}

/** The meetings of a user that the conditions choose, in order; one that is in several calendars once. */
export async function findMeetings(
  db: Executor,
  { workspaceId, userId, sees }: Pick<Principal, "workspaceId" | "userId" | "sees">,
  wanted:
    | { readonly id: string }
    | { readonly endsAfter: Date; readonly startsBefore: Date; readonly limit: number },
): Promise<MeetingRow[]> {
  const condition =
    "id" in wanted
      ? sql<boolean>`e.id = ${wanted.id}`
      : sql<boolean>`e.end_at > ${wanted.endsAfter} and e.start_at < ${wanted.startsBefore} and not e.is_all_day`;
  const { rows } = await sql<MeetingRow>`
    select * from (
      select distinct on (e.key) e.id, e.calendar_id, e.key, e.ical_uid, e.title, e.start_at, e.end_at, e.is_private,
        e.organizer, e.attendees,
        (select n.text from meeting_notes n
          where n.user_id = u.id and n.calendar_id = c.id and n.event_key = e.key) as notes,
        (select m.recording_id from recording_meetings m
          join recordings r on r.id = m.recording_id and r.workspace_id = c.workspace_id
          where m.event_key = e.key and m.state = 'matched' and exists (
            select 1 from recording_grants g
            where g.recording_id = m.recording_id and g.principal_id = any(${sees}::uuid[]))
          order by m.recording_id limit 1) as recording_id
      from users u
        join calendars c on c.workspace_id = u.workspace_id and (c.user_id = u.id or c.user_id is null)
        join calendar_events e on e.calendar_id = c.id
      where u.id = ${userId} and u.workspace_id = ${workspaceId} and ${condition} and ${hasEvent}
      order by e.key, c.user_id nulls last
    ) found
    order by start_at, key
    limit ${"id" in wanted ? 1 : wanted.limit}`.execute(db);
  return rows;
}

/** Events in one statement, whose attendees may have many times their size. */
const eventsAtOnce = 200;

/** Stores the events of a calendar in place of those of the last time. Those that stay keep their ids. */
export async function saveEvents(tx: Tx, calendarId: string, { events }: ReadCalendar): Promise<void> {
  const rows = [...new Map(events.map((event) => [event.key, event])).values()].map(
    ({ key, start, end, isAllDay, isPrivate, uid, title, organizer, attendees }) => ({
      id: randomUUIDv7(),
      key,
      start_at: new Date(start).toISOString(),
      end_at: new Date(end).toISOString(),
      is_all_day: isAllDay,
      is_private: isPrivate,
      ical_uid: uid,
      title,
      organizer,
      attendees,
    }),
  );
  await sql`
    delete from calendar_events e
    where e.calendar_id = ${calendarId} and e.key <> all(${rows.map(({ key }) => key)}::text[])`.execute(tx);
  for (let at = 0; at < rows.length; at += eventsAtOnce)
    await insertEvents(tx, calendarId, rows.slice(at, at + eventsAtOnce));
}

async function insertEvents(tx: Tx, calendarId: string, rows: readonly object[]): Promise<void> {
  const read = sql`jsonb_to_recordset(${toJson(rows)}::jsonb) as n (id uuid, key text, start_at timestamptz,
    end_at timestamptz, is_all_day boolean, is_private boolean, ical_uid text, title text, organizer jsonb,
    attendees jsonb)`;
  await sql`
    insert into calendar_events as e (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
      organizer, attendees)
    select id, ${calendarId}::uuid, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
      nullif(organizer, 'null'), attendees
    from ${read}
    on conflict (calendar_id, key) do update set start_at = excluded.start_at, end_at = excluded.end_at,
      is_all_day = excluded.is_all_day, is_private = excluded.is_private, ical_uid = excluded.ical_uid,
      title = excluded.title, organizer = excluded.organizer, attendees = excluded.attendees
    where (e.start_at, e.end_at, e.is_all_day, e.is_private, e.ical_uid, e.title, e.organizer, e.attendees)
      is distinct from (excluded.start_at, excluded.end_at, excluded.is_all_day, excluded.is_private, excluded.ical_uid,
        excluded.title, excluded.organizer, excluded.attendees)`.execute(tx);
}

/** Without what PostgreSQL can't store: the character NUL, and half characters, as of a text that was cut. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "string" ? one.replaceAll("\0", "").toWellFormed() : one,
  );
}
