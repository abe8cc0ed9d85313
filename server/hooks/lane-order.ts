/**
 * Begins in order, as many at a time as `places` says at that moment, and of one subject one after the other: two at a
 * time would travel on two connections, and could arrive the other way round.
 * @param options.mayBegin whether anything more is begun.
 * @returns when all that was begun is over. Rejects with the first failure of `send`, after the others have ended.
 */
export function sendInOrder<T>(
  items: readonly T[],
  options: {
    readonly subjectOf: (item: T) => string;
    readonly places: () => number;
    readonly mayBegin: () => boolean;
    readonly send: (item: T) => Promise<void>;
  },
): Promise<void> {
  const { subjectOf, places, mayBegin, send } = options;
  return new Promise((resolve, reject) => {
    const isBegun = new Array<boolean>(items.length).fill(false);
    const busy = new Set<string>();
    let first = 0;
    let failure: { readonly error: unknown } | null = null;

    /** The next whose subject is free. */
    function take(): T | undefined {
      while (isBegun[first]) first += 1;
      for (let index = first; index < items.length; index += 1) {
        const item = items[index] as T;
        if (isBegun[index] || busy.has(subjectOf(item))) continue;
        isBegun[index] = true;
        return item;
      }
      return undefined;
    }

    function over(subject: string): void {
      busy.delete(subject);
      begin();
    }

    function begin(): void {
      while (failure === null && busy.size < places() && mayBegin()) {
        const item = take();
        if (item === undefined) break;
        const subject = subjectOf(item);
        busy.add(subject);
        send(item).then(
          () => over(subject),
          (error: unknown) => {
            failure ??= { error };
            over(subject);
          },
        );
      }
      if (busy.size > 0) return;
      if (failure === null) resolve();
      else reject(failure.error);
    }
    begin();
  });
}
