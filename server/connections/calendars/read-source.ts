import { createHash } from "node:crypto";
import { calendarDays } from "../../../contract/calendars/calendars.ts";
import { createSemaphore } from "../../platform/concurrency.ts";
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
const timeoutMs = 90_000;
/** Calendars that a process reads at a time, when they are added and later. */
const reading = createSemaphore(4);

/**
 * Reads a calendar, when it is added and every time after.
 * @param known content that need not be read again; null: all of it is read.
 * @throws CalendarError
 */
export function readSource(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
  options: ReadOptions,
): Promise<SourceContent> {
  return reading.run(() => readNow(config, source, options));
}

interface ReadOptions {
  readonly now: number;
  readonly timeZone: string;
  readonly isZoneChosen: boolean;
  readonly known: KnownContent | null;
  readonly signal?: AbortSignal;
}

async function readNow(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
  options: ReadOptions,
): Promise<SourceContent> {
  const { now, known, timeZone, isZoneChosen } = options;
  const window = { from: now - calendarDays.before * dayMs, to: now + calendarDays.after * dayMs };
  const late = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const client = createGuardedClient({ allowAddresses: allowedRanges(config)() });
  try {
    const fetch = source.kind === "caldav" ? (await import("./fetch/caldav.ts")).fetchCaldav : fetchIcs;
    const fetched = await fetch(source, { ...window, client, signal, etag: known?.etag ?? null });
    const unchanged = { etag: known?.etag ?? null, contentHash: known?.contentHash ?? null, calendar: null };
    if (fetched === null) return { ...unchanged, name: null };
    const { bytes, etag, name } = fetched;
    const contentHash = hashOf(bytes);
    if (known?.contentHash?.equals(contentHash)) return { ...unchanged, etag, name };
    const calendar = await readInThread(bytes, { ...window, timeZone, isZoneChosen });
    return { etag, contentHash, calendar, name: name ?? calendar.name };
  } catch (error) {
    throw calendarErrorOf(error, late);
  } finally {
    await client.close();
  }
}

/** The calendars of a CalDAV account. @throws CalendarError */
export function discoverCalendars(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
): Promise<FoundCalendar[]> {
  return reading.run(() => discoverNow(config, source));
}

async function discoverNow(
  config: Pick<Config, "hooksAllowAddresses">,
  source: CalendarSource,
): Promise<FoundCalendar[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const client = createGuardedClient({ allowAddresses: allowedRanges(config)() });
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
