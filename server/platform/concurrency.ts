/** Gives a slot back. Calling it again does nothing. */
export type Release = () => void;

/** Lets a limited number of callers in at a time; the others wait their turn, first come, first served. */
export interface Semaphore {
  /** Waits for a slot. */
  acquire(): Promise<Release>;
  /** Takes a slot only if one is free now. */
  tryAcquire(): Release | null;
  /** Runs work while holding a slot. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many callers are waiting for a slot. */
  readonly waiting: number;
}

/** @param slots how many callers may hold a slot at a time; with 1 it is a mutex. */
export function createSemaphore(slots: number): Semaphore {
  const queue: (() => void)[] = [];
  let taken = 0;

  function createRelease(): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = queue.shift();
      // The slot passes straight to the next waiter, so that a newcomer can't overtake the queue.
      if (next !== undefined) next();
      else taken -= 1;
    };
  }

  function tryAcquire(): Release | null {
    if (taken >= slots) return null;
    taken += 1;
    return createRelease();
  }

  async function acquire(): Promise<Release> {
    const release = tryAcquire();
    if (release !== null) return release;
    await new Promise<void>((resolve) => queue.push(resolve));
    return createRelease();
  }

  return {
    acquire,
    tryAcquire,
    async run(work) {
      const release = await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
    get waiting() {
      return queue.length;
    },
  };
}

/**
 * Runs work for each item, a few at a time. After a failure it starts no further item, waits for those in flight and
 * throws the first error.
 */
export async function forEachConcurrent<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failure !== undefined) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
}

/**
 * Runs work for each item of a stream, a few at a time. Yields now and then, and once more at the end, so that the caller
 * can pass results on.
 * After a failure it starts no further item, waits for those in flight and throws the first error.
 */
export async function* forEachStreamed<T>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): AsyncGenerator<void> {
  let running = 0;
  let onEnd = (): void => {};
  const oneEnds = (): Promise<void> =>
    new Promise((resolve) => {
      onEnd = resolve;
    });
  // Kept, because work may fail while nothing waits for it: the next item is still being read, or the caller is busy.
  let failure: { readonly error: unknown } | undefined;
  const run = async (item: T): Promise<void> => {
    try {
      await work(item);
    } catch (error) {
      failure ??= { error };
    }
    running -= 1;
    onEnd();
  };
  try {
    for await (const item of items) {
      if (failure !== undefined) break;
      running += 1;
      void run(item);
      if (running < concurrency) continue;
      await oneEnds();
      if (failure !== undefined) break;
      yield;
    }
  } catch (error) {
    failure ??= { error };
  } finally {
    while (running > 0) await oneEnds();
  }
  if (failure !== undefined) throw failure.error;
  yield;
}
