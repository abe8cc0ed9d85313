import { setTimeout as delay } from "node:timers/promises";

/** Default timeout: long enough for a slow, busy machine. */
const defaultTimeoutMs = 60_000;

/** Between two checks: short at first, then longer, because a check by a request or a statement takes processor time. */
const pauseMs = { min: 20, max: 100 };

/**
 * Polls until `check` returns a value other than undefined or false.
 * @throws Error that names the condition, after the timeout.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const begin = Date.now();
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    const waitedMs = Date.now() - begin;
    if (waitedMs > timeoutMs) throw new Error(`timed out after ${timeoutMs} ms waiting for: ${what}`);
    await delay(Math.min(Math.max(waitedMs / 10, pauseMs.min), pauseMs.max));
  }
}

/**
 * Runs work that depends on rate limits, which reset at each full minute. If it fails across a full minute, it runs again,
 * so it must start with its own counter.
 */
export async function withinOneMinute(work: () => Promise<void>): Promise<void> {
  const minute = (): number => Math.floor(Date.now() / 60_000);
  for (;;) {
    const began = minute();
    try {
      await work();
      return;
    } catch (error) {
      if (minute() === began) throw error;
    }
  }
}
