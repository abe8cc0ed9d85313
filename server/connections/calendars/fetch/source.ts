import type { CalendarKind } from "../../../../contract/calendars/calendars.ts";
import type { GuardedClient } from "../../../platform/outbound/guarded-client.ts";
import { aboutCalendar } from "../wording.ts";

/** Where a calendar is, and how to sign in there. */
export interface CalendarSource {
  readonly kind: CalendarKind;
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface FetchOptions {
  readonly client: GuardedClient;
  readonly signal: AbortSignal;
  /** What the server called the content that was read last; null: it is read whole. */
  readonly etag: string | null;
  /** The time whose events matter, in milliseconds. */
  readonly from: number;
  readonly to: number;
}

export interface Fetched {
  readonly bytes: Uint8Array;
  readonly etag: string | null;
  /** The calendar's name, where the server says so. */
  readonly name: string | null;
}

/** A calendar can't be read. The message completes "The calendar …" and says what to do. */
export class CalendarError extends Error {
  override readonly name = "CalendarError";
  /** What a request has to say differently. */
  readonly pointer: "/url" | "/username" | "/password";
  /** The server asked to be left alone for this long; null: it did not. */
  readonly waitMs: number | null;

  constructor(message: string, pointer: CalendarError["pointer"] = "/url", waitMs: number | null = null) {
    super(message);
    this.pointer = pointer;
    this.waitMs = waitMs;
  }
}

const maxWaitMs = 24 * 3_600_000;
const usualWaitMs = 3_600_000;

/** How long a server asks to be left alone, by a response with the status 429 or 503; null: it doesn't. */
function waitOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number | null {
  if (status !== 429 && status !== 503) return null;
  const text = String(headers["retry-after"] ?? "").trim();
  if (text === "") return status === 429 ? usualWaitMs : null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxWaitMs) : usualWaitMs;
}

/** Why a response is no calendar. */
export function refusalOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  source: Pick<CalendarSource, "kind">,
): CalendarError {
  const waitMs = waitOf(status, headers);
  if (status === 429) return new CalendarError(aboutCalendar("calendar_busy", {}), "/url", waitMs);
  if (status === 401 || status === 403)
    return source.kind === "caldav"
      ? new CalendarError(aboutCalendar("calendar_password", { status: `${status}` }), "/password")
      : new CalendarError(aboutCalendar("calendar_private", { status: `${status}` }));
  if (status === 404 || status === 410)
    return new CalendarError(aboutCalendar("calendar_gone", { status: `${status}` }));
  if (status >= 500)
    return new CalendarError(aboutCalendar("calendar_down", { status: `${status}` }), "/url", waitMs);
  return new CalendarError(aboutCalendar("calendar_status", { status: `${status}` }));
}
