import { createUnderway } from "./underway.ts";

/** Sends in order, batch after batch, without a pause between them. */
export interface Sending<T> {
  /** Resolves when all of the batch are begun, or nothing more may begin. Rejects with the first failure of `send`. */
  begin(items: readonly T[]): Promise<void>;
  /** What is begun and not over. */
  underway(): readonly T[];
  /** Resolves when all that was begun is over. Rejects with the first failure of `send`. */
  over(): Promise<void>;
}

/**
 * Begins in order, as many at a time as `places` says at that moment, and of one subject one after the other: two at a
 * time would travel on two connections, and could arrive the other way round. The last of one batch may still be under
 * way while the first of the next begin.
 * @param options.mayBegin whether anything more is begun; once it says no, the rest of the batch is forgotten.
 */
export function createSending<T>(options: {
  readonly subjectOf: (item: T) => string;
  readonly places: () => number;
  readonly mayBegin: () => boolean;
  readonly send: (item: T) => Promise<void>;
}): Sending<T> {
  const { subjectOf, places, mayBegin, send } = options;
  const busy = createUnderway<{ readonly item: T; readonly subject: string }>();
  let items: readonly T[] = [];
  let isBegun: boolean[] = [];
  let first = 0;
  let failure: { readonly error: unknown } | null = null;
  let changed = (): void => {};

  /** The next whose subject is free. */
  function take(): { readonly item: T; readonly subject: string } | undefined {
    while (isBegun[first]) first += 1;
    for (let index = first; index < items.length; index += 1) {
      const item = items[index] as T;
      if (isBegun[index]) continue;
      const subject = subjectOf(item);
      if (busy.some((other) => other.subject === subject)) continue;
      isBegun[index] = true;
      return { item, subject };
    }
    return undefined;
  }

  function start(next: { readonly item: T; readonly subject: string }): void {
    const over = busy.add(next);
    const ended = (): void => {
      over();
      beginMore();
      changed();
    };
    send(next.item).then(ended, (error: unknown) => {
      failure ??= { error };
      ended();
    });
  }

  function beginMore(): void {
    while (failure === null && busy.size < places() && mayBegin()) {
      const next = take();
      if (next === undefined) return;
      start(next);
    }
  }

  /** Waits for `isDone`, which is looked at whenever something is over. */
  async function until(isDone: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      changed = () => {
        if (isDone()) resolve();
      };
      changed();
    });
    if (failure !== null) throw failure.error;
  }

  return {
    async begin(batch) {
      items = batch;
      isBegun = new Array<boolean>(batch.length).fill(false);
      first = 0;
      beginMore();
      await until(() => {
        while (isBegun[first]) first += 1;
        return first >= items.length || failure !== null || !mayBegin();
      });
    },
    underway: () => busy.items().map(({ item }) => item),
    over: () => until(() => busy.size === 0),
  };
}
