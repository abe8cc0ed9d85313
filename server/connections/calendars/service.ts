import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { isUnencrypted } from "../../../contract/accounts/redirect-target.ts";
import { calendarLimits, type createCalendar as operation } from "../../../contract/calendars/calendars.ts";
import type { Violation } from "../../../contract/errors.ts";
import { managesWorkspace } from "../../people/access/manages-workspace.ts";
import { type Requester, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database, Executor } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../platform/http/limits/quota.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { checkHookUrl } from "../../platform/outbound/target.ts";
import { CalendarError, type CalendarSource } from "./fetch/source.ts";
import { requestLateMatches } from "./match/match.ts";
import { findCalendars, type ListedCalendar, saveEvents, toJson } from "./queries.ts";
import { discoverCalendars, readForUser, readSource } from "./read-source.ts";
import { nextReadAt } from "./refresh.ts";
import { aboutCalendar } from "./wording.ts";

export interface CalendarServices {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "hooksAllowAddresses">;
}

type Input = z.output<(typeof operation)["body"]>;

/** Adds a calendar and reads it at once, as it is read every time after. @returns its id. */
export async function createCalendar(
  { db, jobs, encryptor, config }: CalendarServices,
  { principal, actor }: Requester,
  input: Input,
): Promise<string> {
  const { is_room: isRoom, time_zone: timeZone } = input;
  if (isRoom ? !managesWorkspace(principal) : principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      isRoom
        ? "only admins and workspace tokens add room calendars"
        : "a workspace token has no calendars of its own; set is_room",
    );
  const given = sourceOf(input);
  const { workspaceId, userId } = principal;
  const quota = {
    ...(isRoom
      ? { name: "room_calendars", owner: workspaceId, limit: calendarLimits.rooms }
      : { name: "calendars", owner: userId, limit: calendarLimits.calendars }),
    refusal: isRoom ? ("room_calendar_quota" as const) : ("calendar_quota" as const),
  };
  // Before anything is requested, and again with what is stored.
  await db.kysely
    .transaction()
    .execute((tx) => enforceQuota(tx, { ...quota, count: () => countCalendars(tx, principal, isRoom) }));
  const now = Date.now();
  const { source, content } = await readForUser(userId, async () => {
    const found = given.kind === "caldav" ? await onlyCalendar(config, given) : given;
    const zone = { timeZone: timeZone ?? "UTC", isZoneChosen: timeZone !== undefined };
    return {
      source: found,
      content: await refusable(() => readSource(config, found, { now, ...zone, known: null })),
    };
  });
  const { calendar } = content;
  if (calendar === null) throw new Error("a calendar that is new has changed");
  const id = randomUUIDv7();
  await db.kysely.transaction().execute(async (tx) => {
    await enforceQuota(tx, { ...quota, count: () => countCalendars(tx, principal, isRoom) });
    await tx
      .insertInto("calendars")
      .values({
        id,
        workspace_id: workspaceId,
        user_id: isRoom ? null : userId,
        kind: input.kind,
        name: input.name ?? content.name?.slice(0, 200) ?? new URL(source.url).host,
        host: new URL(source.url).host,
        secrets: encryptor.encrypt(JSON.stringify(source)),
        time_zone: timeZone ?? calendar.timeZone ?? "UTC",
        is_zone_chosen: timeZone !== undefined,
        etag: content.etag,
        content_hash: content.contentHash,
        read_at: sql<Date>`now()`,
        whole_read_at: sql<Date>`now()`,
        next_read_at: nextReadAt(now),
        unread_events: calendar.unread,
        unread_examples: toJson(calendar.examples),
      })
      .execute();
    await saveEvents(tx, id, calendar);
    await requestLateMatches(tx, jobs, id);
    await recordAudit(tx, actor, {
      action: "calendar_created",
      subject: { type: "calendar", id },
      details: { kind: input.kind, host: new URL(source.url).host, is_room: isRoom },
    });
  });
  jobs.wake();
  return id;
}

/** The calendar that a CalDAV account has. @throws ProblemError `invalid_input` that names them, if there are several. */
async function onlyCalendar(
  config: CalendarServices["config"],
  source: CalendarSource,
): Promise<CalendarSource> {
  const found = await refusable(() => discoverCalendars(config, source));
  const [only] = found;
  if (only !== undefined && found.length === 1) return { ...source, url: only.url };
  const names = found.slice(0, 10).map(({ name }) => name);
  const detail = aboutCalendar("calendar_several", {
    count: `${found.length}`,
    names: names.join(", "),
  });
  throw invalidInput([{ pointer: "/url", detail }]);
}

async function countCalendars(
  db: Executor,
  { workspaceId, userId }: Principal,
  isRoom: boolean,
): Promise<number> {
  const { count } = await db
    .selectFrom("calendars")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("user_id", isRoom ? "is" : "=", isRoom ? null : userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** What a request says about where the calendar is. @throws ProblemError `invalid_input` */
export function sourceOf(
  input: Pick<Input, "kind" | "url" | "username" | "password" | "allow_http">,
): CalendarSource {
  const { kind, username, password } = input;
  const url = input.url.replace(/^webcals?:/i, "https:");
  const violations: Violation[] = [];
  const problem = checkHookUrl(url, { httpsOnly: false });
  if (problem !== null) violations.push({ pointer: "/url", detail: problem });
  else if (isUnencrypted(url) && !input.allow_http)
    violations.push({
      pointer: "/url",
      detail: "must be an https URL, unless allow_http is set: its secrets would be sent unencrypted",
    });
  for (const [name, value] of [
    ["username", username],
    ["password", password],
  ] as const) {
    if (kind === "caldav" && value === undefined)
      violations.push({ pointer: `/${name}`, detail: "is required for CalDAV: use an app password" });
    if (kind === "ics" && value !== undefined)
      violations.push({ pointer: `/${name}`, detail: "is only for CalDAV" });
  }
  if (violations.length > 0) throw invalidInput(violations);
  return { kind, url, username, password };
}

/** Refuses a request whose calendar can't be read. */
export async function refusable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CalendarError)) throw error;
    throw invalidInput([{ pointer: error.pointer, detail: `the calendar ${error.message}` }]);
  }
}

/** @throws ProblemError `not_found` unless the principal manages it. */
export async function findCalendar(db: Executor, principal: Principal, id: string): Promise<ListedCalendar> {
  const [row] = await findCalendars(db, principal, id);
  if (row === undefined)
    throw new ProblemError("not_found", `there is no calendar ${id} that you manage; see List Calendars`);
  return row;
}

/** Removes a calendar with its events and notes. */
export async function deleteCalendar(
  db: Database,
  { principal, actor }: Requester,
  calendarId: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const { id, kind, host, user_id: userId } = await findCalendar(tx, principal, calendarId);
    await tx.deleteFrom("calendars").where("id", "=", id).execute();
    await recordAudit(tx, actor, {
      action: "calendar_deleted",
      subject: { type: "calendar", id },
      details: { kind, host, is_room: userId === null },
    });
  });
}
