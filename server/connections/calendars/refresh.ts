import { setTimeout as delay } from "node:timers/promises";
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
import { readSource, type SourceContent, type Timeouts } from "./read-source.ts";
import { aboutCalendar } from "./wording.ts";

const minuteMs = 60_000;
/** With up to two minutes more, so that calendars that were added together are not read together, and the minute of the job. */
const intervalMs = 12 * minuteMs;
const spreadMs = 2 * minuteMs;
const maxBackoffMs = 24 * 60 * minuteMs;
/** While a process reads a calendar, no other does. */
const leaseMs = 10 * minuteMs;
/** Calendars that are read at a time. Those that failed last have their own, so that servers that hang keep no others waiting. */
const concurrency = { healthy: 8, failing: 2 } as const;
/** Of one host. */
const maxOfHost = 2;
/**
 * How long a run takes further calendars: later ones are taken by the next run, in the order in which they are due. Those that
 * failed last end first, so that healthy ones don't wait for them.
 */
const runMs = { healthy: 10 * minuteMs, failing: minuteMs } as const;
/** While readings take long, those that became due meanwhile are looked up this often. */
const lookAgainMs = 10_000;
/** The window of time moves on, so everything is read again after this long, changed or not. */
const wholeMs = 20 * 60 * minuteMs;

export function nextReadAt(now: number, failures = 0, waitMs: number | null = null): Date {
  const backoffMs = Math.min(intervalMs * 2 ** Math.min(failures, 10), maxBackoffMs);
  return new Date(now + Math.max(waitMs ?? 0, backoffMs) + Math.random() * spreadMs);
}

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "hooksAllowAddresses">;
  readonly log: Pick<FastifyBaseLogger, "warn">;
  readonly signal: AbortSignal;
  readonly timeouts?: Timeouts;
  readonly lookAgainMs?: number;
}

type Health = keyof typeof concurrency;

/** Takes the calendar that has been due for the longest; those of deactivated users are never due. */
async function takeDue(
  { db }: Dependencies,
  now: Date,
  health: Health,
  busyHosts: readonly string[],
): Promise<CalendarRow | undefined> {
  const { rows } = await sql<CalendarRow>`
    update calendars set next_read_at = ${new Date(now.getTime() + leaseMs)}
    where id = (
      select c.id from calendars c left join users u on u.id = c.user_id
      where c.next_read_at <= ${now} and (c.failures = 0) = ${health === "healthy"}::boolean
        and c.host <> all(${busyHosts}::text[]) and (c.user_id is null or u.deactivated_at is null)
      order by c.next_read_at limit 1
      for update of c skip locked)
    returning *`.execute(db.kysely);
  return rows[0];
}

/** Reads a calendar and saves what was found, or why nothing was. */
async function refresh(deps: Dependencies, row: CalendarRow, now: number): Promise<void> {
  const { jobs, encryptor, config, signal, timeouts } = deps;
  try {
    const { etag, content_hash: contentHash, whole_read_at: wholeAt } = row;
    const isWhole = wholeAt === null || now - wholeAt.getTime() > wholeMs;
    const content = await readSource(config, readSecrets(encryptor, row), {
      now,
      signal,
      timeouts,
      timeZone: row.time_zone,
      isZoneChosen: row.is_zone_chosen,
      known: isWhole ? null : { etag, contentHash },
    });
    await saveContent(deps, row.id, content, now);
    if (content.calendar !== null) jobs.wake();
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
  const row = {
    ...{ etag, content_hash: contentHash, read_at: new Date(now), next_read_at: nextReadAt(now) },
    ...{ failures: 0, failing_since: null, problem: null, is_waiting: false },
  };
  if (calendar === null) {
    await db.kysely.updateTable("calendars").set(row).where("id", "=", id).execute();
    return;
  }
  await db.kysely.transaction().execute(async (tx) => {
    // Locked, so that it isn't removed meanwhile.
    const found = await tx
      .updateTable("calendars")
      .set({
        ...row,
        whole_read_at: new Date(now),
        unread_events: calendar.unread,
        unread_examples: toJson(calendar.examples),
      })
      .where("id", "=", id)
      .executeTakeFirst();
    if (found.numUpdatedRows === 0n) return;
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

/** Reads the calendars that are due, a few at a time. When it ends or fails, no reading is in flight. */
export async function readDueCalendars(
  deps: Dependencies,
  now: () => Date = () => new Date(),
): Promise<void> {
  const failing = readDue(deps, now, "failing");
  const results = await Promise.allSettled([failing, readDue(deps, now, "healthy", failing)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** @param others readings during which calendars that become due are read too, because the next run waits for them. */
async function readDue(
  deps: Dependencies,
  now: () => Date,
  health: Health,
  others: Promise<void> = Promise.resolve(),
): Promise<void> {
  const endsAt = performance.now() + runMs[health];
  const running = new Set<Promise<void>>();
  /** How many calendars of each host are being read. */
  const hosts = new Map<string, number>();
  const read = async (row: CalendarRow, at: number): Promise<void> => {
    hosts.set(row.host, (hosts.get(row.host) ?? 0) + 1);
    try {
      await refresh(deps, row, at);
    } catch (error) {
      // It is read again when its lease ends; the others are read now.
      if (!deps.signal.aborted)
        deps.log.warn({ err: error, calendarId: row.id }, "could not save what was read of a calendar");
    } finally {
      hosts.set(row.host, (hosts.get(row.host) ?? 1) - 1);
    }
  };
  try {
    while (!deps.signal.aborted && performance.now() < endsAt) {
      const busyHosts = [...hosts].filter(([, count]) => count >= maxOfHost).map(([host]) => host);
      const at = now();
      const row = running.size < concurrency[health] ? await takeDue(deps, at, health, busyHosts) : undefined;
      if (row !== undefined) {
        const reading = read(row, at.getTime()).finally(() => running.delete(reading));
        running.add(reading);
      } else if (running.size === concurrency[health]) await Promise.race(running);
      else if (busyHosts.length > 0) {
        // All may have ended while the database was asked; then those hosts are free again.
        if (running.size > 0) await endsSoon(deps, Promise.race(running));
      } else if (await endsSoon(deps, Promise.allSettled([...running, others]))) break;
    }
  } finally {
    await Promise.allSettled(running);
  }
  deps.signal.throwIfAborted();
}

/** Waits for readings. @returns false: it is time to look for others that are due. */
async function endsSoon(deps: Dependencies, readings: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController();
  const pause = delay(deps.lookAgainMs ?? lookAgainMs, false, { signal: ended.signal });
  try {
    return await Promise.race([pause, readings.then(() => true)]);
  } finally {
    ended.abort();
  }
}

export const readCalendarsKind = defineRecurringJob({
  name: "read_calendars",
  label: (i18n) => i18n.t("Read calendars"),
  every: "1 min",
  guard: "original",
  handler: async (context) => readDueCalendars(context),
});
