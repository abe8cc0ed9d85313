import { sentences } from "../../../../contract/sentences.ts";

/** What follows an attempt: pure functions, with the time and the random source as arguments. */

const SECOND = 1000;
const DAY = 86_400 * SECOND;

/**
 * Up to this share is added to each wait, so that deliveries that failed together are not retried together. Waits are never
 * shortened: waits of 80 to 120 % would add up to less than 75 hours nearly half of the time, and an outage that long must
 * lose nothing.
 */
const JITTER = 0.2;

/** A receiver can delay an attempt by at most this. */
const MAX_RETRY_AFTER_MS = DAY;

/** A hook with nothing but failures for this long is disabled; a delivery sooner, since its owner is notified of it. */
export const deadAfter = {
  webhook: { ms: 5 * DAY, reason: sentences.hook_dead },
  delivery: { ms: 3 * DAY, reason: sentences.delivery_dead },
};

/** The parts of a response that decide what follows. */
export interface ResponseOutcome {
  readonly ok: boolean;
  /** Null: there was no response. */
  readonly status: number | null;
  readonly headers: { readonly "retry-after"?: string };
}

export type Decision =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "retry"; readonly at: Date }
  /** The last attempt has failed. */
  | { readonly outcome: "exhausted" }
  /** The receiver responded with 410; the hook is disabled. */
  | { readonly outcome: "gone" };

/**
 * Decides what follows an attempt.
 * @param made `attempt` counts from 1; `now` is when it ended; `scheduleMs` the waits after the first, second…
 *   failure; `random` gives numbers from 0 up to 1.
 */
export function decide(made: {
  readonly response: ResponseOutcome;
  readonly attempt: number;
  readonly now: Date;
  readonly scheduleMs: readonly number[];
  readonly random: () => number;
}): Decision {
  const { response, attempt, now, scheduleMs, random } = made;
  if (response.ok) return { outcome: "delivered" };
  if (response.status === 410) return { outcome: "gone" };
  const waitMs = scheduleMs[attempt - 1];
  if (waitMs === undefined) return { outcome: "exhausted" };
  const withJitterMs = waitMs * (1 + JITTER * random());
  const askedMs = Math.min(retryAfterMs(response.headers["retry-after"], now), MAX_RETRY_AFTER_MS);
  return { outcome: "retry", at: new Date(now.getTime() + Math.round(Math.max(withJitterMs, askedMs))) };
}

/** How long a receiver asks to get no requests at all: 429 or 503 with Retry-After (RFC 6585, 4; RFC 9110, 15.6.4). */
export function requestedPauseMs(response: ResponseOutcome, now: Date): number {
  if (response.status !== 429 && response.status !== 503) return 0;
  return retryAfterMs(response.headers["retry-after"], now);
}

/** RFC 9110, 10.2.3: seconds or a date. Anything else, or a time in the past, is 0. */
function retryAfterMs(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  // Date.parse accepts much more than HTTP dates (RFC 9110, 5.6.7, in all three forms).
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text)) return 0;
  // The old asctime form has no zone and means UTC as well.
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}

/**
 * Whether a hook must be disabled: days of nothing but failure.
 * @param firstFailureAt the first failed attempt after the last success; null when the last attempt was a success.
 */
export function isDeadFor(firstFailureAt: Date | null, now: Date, afterMs = deadAfter.webhook.ms): boolean {
  return firstFailureAt !== null && now.getTime() - firstFailureAt.getTime() >= afterMs;
}
