import { createSemaphore } from "../concurrency.ts";

/** How long a statement counts as short. */
const shortMs = 10;

/** More than these don't wait here but for a connection of the pool, which limits how long. */
const maxWaiting = 100;

/** Limits how many short statements run at the same time. */
export interface ShortStatements {
  /** Runs a statement when there is room. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * For a PostgreSQL that shares the processors of this machine. Statements that interrupt each other displace each other's
 * data from the processors' caches: on two cores, eight at a time need a fifth more processor time each than four.
 *
 * A statement that is not done within 10 ms no longer counts, so slow ones don't hold up others, and none waits for more
 * than half a second.
 * @param max at the same time; Infinity: no limit.
 */
export function createShortStatements(max: number): ShortStatements {
  const semaphore = createSemaphore(max);
  return {
    async run(work) {
      // Takes no slot, or those that wait would have to wait for it.
      if (semaphore.waiting >= maxWaiting) return work();
      const release = await semaphore.acquire();
      const timer = setTimeout(release, shortMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        release();
      }
    },
  };
}
