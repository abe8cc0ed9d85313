import { setTimeout as delay } from "node:timers/promises";

/**
 * Asks again and again until there is an answer.
 * @throws Error naming what was waited for when the deadline passes.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 20_000,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${deadlineMs} ms in vain: ${what}`);
    await delay(20);
  }
}
