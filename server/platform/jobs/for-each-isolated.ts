import type { FastifyBaseLogger } from "fastify";
import { forEachConcurrent } from "../concurrency.ts";
import { isConnectionError } from "../db/connection-errors.ts";

/** The log methods that sweeps use. */
export type SweepLog = Pick<FastifyBaseLogger, "info" | "warn" | "error">;

/**
 * Runs work for each item, `concurrency` at a time, so that one failure does not stop the others. A failed item is
 * logged and tried again by the next sweep.
 * @param what is being done, for the log.
 * @throws when the database is unreachable, since every other item would fail too.
 */
export async function forEachIsolated<T>(
  log: SweepLog,
  what: string,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  concurrency = 1,
): Promise<void> {
  await forEachConcurrent(items, concurrency, async (item) => {
    try {
      await work(item);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      log.warn({ err: error, item }, `${what}: one item failed; continuing with the others`);
    }
  });
}
