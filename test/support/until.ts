import { setTimeout as delay } from "node:timers/promises";

/** How long is waited where nothing else is said: for a machine that is slow and busy, since who gets an answer waits no longer. */
const patienceMs = 60_000;

/**
 * Asks again and again until there is an answer.
 * @throws Error naming what was waited for when the deadline passes.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = patienceMs,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${deadlineMs} ms in vain: ${what}`);
    await delay(20);
  }
}

/**
 * Does work that counts requests: limits are per minute of the clock, and a run across its turn would count anew. What fails
 * across one is done again, so it has to begin with a count of its own.
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
