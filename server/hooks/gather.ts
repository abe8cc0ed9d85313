/**
 * Does for many at once what each asks for alone: what is asked for while others are at work goes together with the next.
 * @param options.atOnce how many calls of `run` there may be at a time; `most` how many items of one.
 * @returns a function that resolves with what `run` gave for the item, at the same place. When a call for several fails,
 *   each is tried alone, so that one fault is not everybody's.
 */
export function gather<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { atOnce, most }: { readonly atOnce: number; readonly most: number },
): (item: T) => Promise<R> {
  interface Asked {
    readonly item: T;
    readonly resolve: (result: R) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Asked[] = [];
  let atWork = 0;

  async function work(asked: readonly Asked[]): Promise<void> {
    try {
      const results = await run(asked.map(({ item }) => item));
      for (const [index, { resolve }] of asked.entries()) resolve(results[index] as R);
    } catch (error) {
      if (asked.length > 1) for (const one of asked) await work([one]);
      else asked[0]?.reject(error);
    }
  }

  function start(): void {
    while (waiting.length > 0 && atWork < atOnce) {
      const asked = waiting.slice(0, most);
      waiting = waiting.slice(most);
      atWork += 1;
      void work(asked).finally(() => {
        atWork -= 1;
        start();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // After the others of this turn, which may ask as well.
      if (waiting.length === 1) setImmediate(start);
    });
}
