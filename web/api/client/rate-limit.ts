import { pause } from "./pause.ts";

/** The server counts requests per minute. */
const windowMs = 60_000;

/** The last part of the allowance, which bulk requests use up slowly. */
const reserve = 0.25;

let bulkPauseMs = 0;

/**
 * Reads the remaining allowance from a response. Once it is low, bulk requests pause so long that they use at most half of the
 * rest within a minute: the user's other pages keep working.
 */
export function noteAllowance({ headers }: Response): void {
  const limit = Number(headers.get("x-ratelimit-limit"));
  const remaining = Number(headers.get("x-ratelimit-remaining"));
  bulkPauseMs = remaining < limit * reserve ? (2 * windowMs) / (limit * reserve) : 0;
}

/** Waits before a bulk request. */
export async function pauseBulk(signal: AbortSignal | undefined): Promise<void> {
  if (bulkPauseMs > 0) await pause(bulkPauseMs, signal);
}

/** How long to wait before sending a request again that the limit per minute refused; null for any other response. */
export function waitMsOf({ status, headers }: Response): number | null {
  // Other limits, such as of password attempts, leave an allowance.
  if (status !== 429 || headers.get("x-ratelimit-remaining") !== "0") return null;
  const waitMs = Number(headers.get("retry-after")) * 1000;
  return waitMs > 0 && waitMs <= windowMs ? waitMs : null;
}
