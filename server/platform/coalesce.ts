/**
 * Coalesces concurrent calls into batches: items that arrive while others are being processed go together with the next.
 * @param options.concurrency how many calls of `run` there may be at a time; `maxItems` how many items of one.
 * @returns a function that resolves with the item's result, which `run` returns at the same index. If a call for several
 *   items fails, each is tried alone, so that one item's error does not fail the others.
 */
export function coalesce<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { concurrency, maxItems }: { readonly concurrency: number; readonly maxItems: number },
): (item: T) => Promise<R> {
  interface Call {
    readonly item: T;
    readonly resolve: (result: R) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let running = 0;

  async function runBatch(calls: readonly Call[]): Promise<void> {
    try {
      const results = await run(calls.map(({ item }) => item));
      for (const [index, { resolve }] of calls.entries()) resolve(results[index] as R);
    } catch (error) {
      if (calls.length > 1) for (const call of calls) await runBatch([call]);
      else calls[0]?.reject(error);
    }
  }

  function start(): void {
    while (waiting.length > 0 && running < concurrency) {
      const calls = waiting.slice(0, maxItems);
      waiting = waiting.slice(maxItems);
      running += 1;
      void runBatch(calls).finally(() => {
        running -= 1;
        start();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // After the other calls of this turn of the event loop.
      if (waiting.length === 1) setImmediate(start);
    });
}
