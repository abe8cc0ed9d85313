import type { z } from "zod";
import * as contract from "../../../contract/calendars/calendars.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { recordingMeetingRoutes } from "./match/routes.ts";
import { presentMeeting } from "./present.ts";
import { requireUser } from "./principal.ts";
import { findCalendars, findMeetings, type ListedCalendar, type MeetingRow } from "./queries.ts";
import { discoverCalendars, readForUser } from "./read-source.ts";
import * as service from "./service.ts";

const maxMeetings = 200;

/** Calendars, and the meetings in them. */
export function calendarRoutes(api: Api, deps: service.CalendarServices): void {
  const { db, encryptor, config } = deps;
  recordingMeetingRoutes(api, deps);

  route(api, contract.listCalendars, async ({ principal }) => {
    const rows = await findCalendars(db.kysely, principal);
    return { calendars: rows.map((row) => presentCalendar(row, encryptor)) };
  });

  route(api, contract.createCalendar, async ({ principal, body, request }) => {
    const id = await service.createCalendar(deps, { principal, actor: actorOf(request) }, body);
    return presentCalendar(await service.findCalendar(db.kysely, principal, id), encryptor);
  });

  route(api, contract.discoverCalendars, async ({ principal, body }) => {
    const source = service.sourceOf({ ...body, kind: "caldav" });
    return {
      calendars: await readForUser(principal.userId, () =>
        service.refusable(() => discoverCalendars(config, source)),
      ),
    };
  });

  route(api, contract.deleteCalendar, async ({ principal, params, request }) => {
    await service.deleteCalendar(db, { principal, actor: actorOf(request) }, params.calendar_id);
    return { success: true as const };
  });

  route(api, contract.listMeetings, async ({ principal, query }) => {
    requireUser(principal);
    const now = new Date();
    const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(
      query.time_zone ?? "UTC",
    );
    const tomorrow = new Date(today.startOfDay().add({ days: 1 }).epochMilliseconds);
    const [rows, calendars] = await Promise.all([
      findMeetings(db.kysely, principal, { endsAfter: now, startsBefore: tomorrow, limit: maxMeetings }),
      db.kysely
        .selectFrom("calendars")
        .select("id")
        .where("user_id", "=", principal.userId)
        .limit(1)
        .execute(),
    ]);
    return { meetings: rows.map(presentMeeting), has_calendars: calendars.length > 0 };
  });

  route(api, contract.getMeeting, async ({ principal, params }) =>
    presentMeeting(await findMeeting(principal, params.meeting_id)),
  );

  route(api, contract.updateMeeting, async ({ principal, params, body }) => {
    const { calendar_id, key } = await findMeeting(principal, params.meeting_id);
    const text = body.notes?.trim() ?? "";
    const note = { calendar_id, user_id: principal.userId, event_key: key };
    if (text === "")
      await db.kysely
        .deleteFrom("meeting_notes")
        .where("calendar_id", "=", calendar_id)
        .where("user_id", "=", principal.userId)
        .where("event_key", "=", key)
        .execute();
    else
      await db.kysely
        .insertInto("meeting_notes")
        .values({ ...note, text })
        .onConflict((conflict) =>
          conflict.columns(["calendar_id", "user_id", "event_key"]).doUpdateSet({ text }),
        )
        .execute();
    return presentMeeting(await findMeeting(principal, params.meeting_id));
  });

  async function findMeeting(principal: Principal, id: string): Promise<MeetingRow> {
    requireUser(principal);
    const [row] = await findMeetings(db.kysely, principal, { id });
    if (row === undefined)
      throw new ProblemError(
        "not_found",
        `there is no meeting ${id} in your calendars; see List Next Meetings`,
      );
    return row;
  }
}

/** A calendar without its secrets, except for the username. */
function presentCalendar(row: ListedCalendar, encryptor: Encryptor): z.input<typeof contract.Calendar> {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    is_room: row.user_id === null,
    host: row.host,
    username: usernameOf(row, encryptor),
    time_zone: row.time_zone,
    state: row.failing_since === null ? "ok" : row.is_waiting ? "waiting" : "failing",
    problem: row.problem,
    failing_since: row.failing_since?.toISOString() ?? null,
    read_datetime: row.read_at?.toISOString() ?? null,
    next_read_datetime: row.next_read_at.toISOString(),
    events: row.events,
    next_event: row.next_event,
    unread_events: row.unread_events,
    unread_examples: [...row.unread_examples],
    created_datetime: row.created_at.toISOString(),
  };
}

/** None where the secrets were encrypted with another PARLEY_SECRET: the calendar can still be listed and removed. */
function usernameOf({ secrets }: ListedCalendar, encryptor: Encryptor): string | null {
  try {
    const { username } = JSON.parse(encryptor.decrypt(secrets)) as { username?: string };
    return username ?? null;
  } catch {
    return null;
  }
}
