import type { CalendarKind } from "../../../../contract/calendars/calendars.ts";
import type { GuardedClient } from "../../../platform/outbound/guarded-client.ts";

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
  if (status === 429)
    return new CalendarError("gets too many requests and asks to wait (429)", "/url", waitMs);
  if (status === 401 || status === 403)
    return source.kind === "caldav"
      ? new CalendarError(
          `refuses the username or password (${status}); create an app password and enter it with the full username`,
          "/password",
        )
      : new CalendarError(`can't be read without signing in (${status}); use its secret address`);
  if (status === 404 || status === 410)
    return new CalendarError(`is not at this URL (${status}); copy the URL again`);
  if (status >= 500)
    return new CalendarError(
      `can't be read now, because its server fails (${status}); try again later`,
      "/url",
      waitMs,
    );
  return new CalendarError(`can't be read: its server responds with the status ${status}; check the URL`);
}
