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
