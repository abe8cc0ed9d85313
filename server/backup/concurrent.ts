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
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      const task: Promise<void> = work(item).finally(() => running.delete(task));
      // Awaited below; a rejection in the meantime is not unhandled.
      task.catch(() => undefined);
      running.add(task);
      if (running.size < concurrency) continue;
      await Promise.race(running);
      yield;
    }
    await Promise.all(running);
    yield;
  } finally {
    await Promise.allSettled(running);
  }
}
