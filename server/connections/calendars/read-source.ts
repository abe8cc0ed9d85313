import { createHash } from "node:crypto";
import { calendarDays } from "../../../contract/calendars/calendars.ts";
import { createSemaphore, type Semaphore } from "../../platform/concurrency.ts";
import type { Config } from "../../platform/config/config.ts";
import { allowedRanges } from "../../platform/outbound/address-ranges.ts";
import { createGuardedClient, OutboundError } from "../../platform/outbound/guarded-client.ts";
import type { FoundCalendar } from "./fetch/caldav.ts";
import { fetchIcs } from "./fetch/ics.ts";
import { CalendarError, type CalendarSource } from "./fetch/source.ts";
import { NotCalendarError } from "./read/lines.ts";
import type { ReadCalendar } from "./read/read-events.ts";
import { readInThread } from "./read/run-worker.ts";
import { aboutCalendar } from "./wording.ts";

/** What is known of a calendar from the last time. */
interface KnownContent {
  readonly etag: string | null;
  readonly contentHash: Buffer | null;
}

export interface SourceContent extends KnownContent {
  /** null: it has not changed. */
  readonly calendar: ReadCalendar | null;
  readonly name: string | null;
}

const dayMs = 86_400_000;
/** For all requests of a reading, and until a server sends something. */
const defaultTimeouts = { timeoutMs: 90_000, idleMs: 30_000 };
export type Timeouts = typeof defaultTimeouts;
/** Threads that a process reads calendars in; each may take much memory. */
const threads = createSemaphore(2);

interface ReadOptions {
  readonly now: number;
  readonly timeZone: string;
  readonly isZoneChosen: boolean;
  readonly known: KnownContent | null;
  readonly signal?: AbortSignal;
  readonly timeouts?: Timeouts | undefined;
}

/**
 * Reads a calendar, when it is added and every time after.
 * @param options.known content that need not be read again; null: all of it is read.
 * @throws CalendarError
 */
export async function readSource(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
  options: ReadOptions,
): Promise<SourceContent> {
  const { now, known, timeZone, isZoneChosen, timeouts = defaultTimeouts } = options;
  const window = { from: now - calendarDays.before * dayMs, to: now + calendarDays.after * dayMs };
  const late = AbortSignal.timeout(timeouts.timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const client = createGuardedClient({ allowAddresses: allowedRanges(config)(), idleMs: timeouts.idleMs });
  try {
    const fetch = source.kind === "caldav" ? (await import("./fetch/caldav.ts")).fetchCaldav : fetchIcs;
    const fetched = await fetch(source, { ...window, client, signal, etag: known?.etag ?? null });
    const unchanged = { etag: known?.etag ?? null, contentHash: known?.contentHash ?? null, calendar: null };
    if (fetched === null) return { ...unchanged, name: null };
    const { bytes, etag, name } = fetched;
    const contentHash = hashOf(bytes);
    if (known?.contentHash?.equals(contentHash)) return { ...unchanged, etag, name };
    const calendar = await threads.run(() => readInThread(bytes, { ...window, timeZone, isZoneChosen }));
    return { etag, contentHash, calendar, name: name ?? calendar.name };
  } catch (error) {
    throw calendarErrorOf(error, late);
  } finally {
    await client.close();
  }
}

/** Requests of a user that read calendars now, and how many there are with those that wait. */
const ofUsers = new Map<string, { readonly semaphore: Semaphore; count: number }>();
const maxOfUser = 2;

/** Reads for a request of a user. Only the user's own requests wait for servers that hang. */
export async function readForUser<T>(userId: string, read: () => Promise<T>): Promise<T> {
  const own = ofUsers.get(userId) ?? { semaphore: createSemaphore(maxOfUser), count: 0 };
  ofUsers.set(userId, own);
  own.count += 1;
  try {
    return await own.semaphore.run(read);
  } finally {
    own.count -= 1;
    if (own.count === 0) ofUsers.delete(userId);
  }
}

/** The calendars of a CalDAV account. @throws CalendarError */
export async function discoverCalendars(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
): Promise<FoundCalendar[]> {
  const { timeoutMs, idleMs } = defaultTimeouts;
  const signal = AbortSignal.timeout(timeoutMs);
  const client = createGuardedClient({ allowAddresses: allowedRanges(config)(), idleMs });
  try {
    const { discover } = await import("./fetch/caldav.ts");
    return await discover(source, { client, signal });
  } catch (error) {
    throw calendarErrorOf(error, signal);
  } finally {
    await client.close();
  }
}

/** Without when it was written, which some servers say as now. */
function hashOf(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return createHash("sha256")
    .update(text.replace(/^DTSTAMP[^\n]*\n/gm, ""), "latin1")
    .digest();
}

function calendarErrorOf(error: unknown, late: AbortSignal): unknown {
  if (late.aborted) return new CalendarError(aboutCalendar("calendar_slow", {}));
  if (error instanceof NotCalendarError) return new CalendarError(error.message);
  // Without IP addresses, which would reveal how host names resolve inside this network.
  if (error instanceof OutboundError)
    return new CalendarError(
      aboutCalendar("calendar_unreachable", {
        reason: error.message.replace(/the IP address \S+/, "its IP address"),
      }),
    );
  return error;
}
