import type { FastifyBaseLogger } from "fastify";
import { isConnectionError } from "../db/database.ts";

/** As much of the log as the sweeps need. */
export type SweepLog = Pick<FastifyBaseLogger, "info" | "warn" | "error">;

/**
 * Does the same for each of many, some at a time. One that fails is logged and tried again at the next sweep; the
 * others do not wait for it.
 * @throws when the database is gone, which is no single one's fault.
 */
export async function eachAlone<T>(
  log: SweepLog,
  what: string,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  atOnce = 1,
): Promise<void> {
  for (let first = 0; first < items.length; first += atOnce) {
    const slice = items.slice(first, first + atOnce);
    const results = await Promise.allSettled(slice.map(work));
    for (const [index, result] of results.entries()) {
      if (result.status === "fulfilled") continue;
      if (isDatabaseGone(result.reason)) throw result.reason;
      log.warn({ err: result.reason, item: slice[index] }, `${what}: one failed; the others go on`);
    }
  }
}

/** A missing file has the code of a missing socket, and a path. */
function isDatabaseGone(error: unknown): boolean {
  return isConnectionError(error) && !(error instanceof Error && "path" in error);
}
