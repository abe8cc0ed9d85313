import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { sentences } from "../../../contract/sentences.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { CalendarError, type CalendarSource } from "./fetch/source.ts";
import { requestLateMatches } from "./match/match.ts";
import { type CalendarRow, saveEvents, toJson } from "./queries.ts";
import { readSource, type SourceContent } from "./read-source.ts";
import { aboutCalendar } from "./wording.ts";

const minuteMs = 60_000;
/** A little less than the interval, because the job runs every five minutes. */
const intervalMs = 14 * minuteMs;
const maxBackoffMs = 24 * 60 * minuteMs;
/** While a process reads a calendar, no other does. */
const leaseMs = 5 * minuteMs;
const concurrency = 4;
/** The window of time moves on, so everything is read again after this long, changed or not. */
const wholeMs = 20 * 60 * minuteMs;

export function nextReadAt(now: number, failures = 0, waitMs: number | null = null): Date {
  const backoffMs =
    failures === 0 ? intervalMs : Math.min(intervalMs * 2 ** Math.min(failures, 10), maxBackoffMs);
  return new Date(now + Math.max(waitMs ?? 0, backoffMs));
}

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "hooksAllowAddresses">;
  readonly log: Pick<FastifyBaseLogger, "warn">;
  readonly signal: AbortSignal;
}

/** Takes the calendar that has been due for the longest; those of deactivated users are never due. */
async function takeDue({ db }: Dependencies, now: Date): Promise<CalendarRow | undefined> {
  const { rows } = await sql<CalendarRow>`
    update calendars set next_read_at = ${new Date(now.getTime() + leaseMs)}
    where id = (
      select c.id from calendars c left join users u on u.id = c.user_id
      where c.next_read_at <= ${now} and (c.user_id is null or u.deactivated_at is null)
      order by c.next_read_at limit 1
      for update of c skip locked)
    returning *`.execute(db.kysely);
  return rows[0];
}

/** Reads a calendar and saves what was found, or why nothing was. */
async function refresh(deps: Dependencies, row: CalendarRow, now: number): Promise<void> {
  const { jobs, encryptor, config, signal } = deps;
  try {
    const { etag, content_hash: contentHash, whole_read_at: wholeAt } = row;
    const isWhole = wholeAt === null || now - wholeAt.getTime() > wholeMs;
    const content = await readSource(config, readSecrets(encryptor, row), {
      now,
      signal,
      timeZone: row.time_zone,
      isZoneChosen: row.is_zone_chosen,
      known: isWhole ? null : { etag, contentHash },
    });
    await saveContent(deps, row.id, content, now);
    jobs.wake();
  } catch (error) {
    if (signal.aborted) throw error;
    await saveFailure(deps, row, now, error);
  }
}

async function saveContent(
  { db, jobs }: Dependencies,
  id: string,
  { calendar, etag, contentHash }: SourceContent,
  now: number,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    // Locked, so that it isn't removed meanwhile.
    const found = await tx
      .updateTable("calendars")
      .set({
        ...{ etag, content_hash: contentHash, read_at: new Date(now), next_read_at: nextReadAt(now) },
        ...{ failures: 0, failing_since: null, problem: null, is_waiting: false },
        ...(calendar === null
          ? {}
          : {
              whole_read_at: new Date(now),
              unread_events: calendar.unread,
              unread_examples: toJson(calendar.examples),
            }),
      })
      .where("id", "=", id)
      .executeTakeFirst();
    if (calendar === null || found.numUpdatedRows === 0n) return;
    await saveEvents(tx, id, calendar);
    await requestLateMatches(tx, jobs, id);
  });
}

async function saveFailure(
  { db, log }: Dependencies,
  { id, failures }: CalendarRow,
  now: number,
  error: unknown,
): Promise<void> {
  const known = error instanceof CalendarError ? error : null;
  if (known === null) log.warn({ err: error, calendarId: id }, "could not read a calendar");
  await db.kysely
    .updateTable("calendars")
    .set({
      failures: failures + 1,
      failing_since: sql<Date>`coalesce(failing_since, ${new Date(now)})`,
      problem: known === null ? sentences.calendar_error : `The calendar ${known.message}.`,
      is_waiting: known?.waitMs != null,
      next_read_at: nextReadAt(now, failures + 1, known?.waitMs),
    })
    .where("id", "=", id)
    .execute();
}

/** @throws CalendarError when they were encrypted with another PARLEY_SECRET. */
function readSecrets(encryptor: Encryptor, { secrets }: Pick<CalendarRow, "secrets">): CalendarSource {
  try {
    return JSON.parse(encryptor.decrypt(secrets)) as CalendarSource;
  } catch {
    throw new CalendarError(aboutCalendar("calendar_secret_changed", {}));
  }
}

/** Reads the calendars that are due, a few at a time. */
export async function readDueCalendars(
  deps: Dependencies,
  now: () => Date = () => new Date(),
): Promise<void> {
  const work = async (): Promise<void> => {
    while (!deps.signal.aborted) {
      const at = now();
      const row = await takeDue(deps, at);
      if (row === undefined) return;
      try {
        await refresh(deps, row, at.getTime());
      } catch (error) {
        if (deps.signal.aborted) throw error;
        // It is read again when its lease ends; the others are read now.
        deps.log.warn({ err: error, calendarId: row.id }, "could not save what was read of a calendar");
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

export const readCalendarsKind = defineRecurringJob({
  name: "read_calendars",
  every: "5 min",
  guard: "original",
  handler: async (context) => readDueCalendars(context),
});
