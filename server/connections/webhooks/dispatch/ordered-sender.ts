import { createInFlight } from "./in-flight.ts";

/** Sends batch after batch in order, without a pause between them. */
export interface OrderedSender<T> {
  /** Resolves when all of the batch have started, or nothing more may start. Rejects with the first failure of `send`. */
  start(items: readonly T[]): Promise<void>;
  inFlight(): readonly T[];
  /** Resolves when nothing is in flight. Rejects with the first failure of `send`. */
  finish(): Promise<void>;
}

/**
 * Starts items in order, as many at a time as `slots` says at that moment, and one at a time of each subject: two requests
 * would use two connections and could arrive in the other order. The last items of one batch may still be in flight when
 * the first of the next start.
 * @param options.mayStart whether anything more may start; once false, the rest of the batch is dropped.
 */
export function createOrderedSender<T>(options: {
  readonly subjectOf: (item: T) => string;
  readonly slots: () => number;
  readonly mayStart: () => boolean;
  readonly send: (item: T) => Promise<void>;
}): OrderedSender<T> {
  const { subjectOf, slots, mayStart, send } = options;
  const inFlight = createInFlight<{ readonly item: T; readonly subject: string }>();
  let items: readonly T[] = [];
  let isStarted: boolean[] = [];
  let first = 0;
  let failure: { readonly error: unknown } | null = null;
  let onChange = (): void => {};

  /** The next item whose subject has nothing in flight. */
  function takeNext(): { readonly item: T; readonly subject: string } | undefined {
    while (isStarted[first]) first += 1;
    for (let index = first; index < items.length; index += 1) {
      const item = items[index] as T;
      if (isStarted[index]) continue;
      const subject = subjectOf(item);
      if (inFlight.some((other) => other.subject === subject)) continue;
      isStarted[index] = true;
      return { item, subject };
    }
    return undefined;
  }

  function startOne(next: { readonly item: T; readonly subject: string }): void {
    const remove = inFlight.add(next);
    const ended = (): void => {
      remove();
      startMore();
      onChange();
    };
    send(next.item).then(ended, (error: unknown) => {
      failure ??= { error };
      ended();
    });
  }

  function startMore(): void {
    while (failure === null && inFlight.size < slots() && mayStart()) {
      const next = takeNext();
      if (next === undefined) return;
      startOne(next);
    }
  }

  /** Waits for a condition, which is checked whenever an item ends. */
  async function until(isDone: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      onChange = () => {
        if (isDone()) resolve();
      };
      onChange();
    });
    if (failure !== null) throw failure.error;
  }

  return {
    async start(batch) {
      items = batch;
      isStarted = new Array<boolean>(batch.length).fill(false);
      first = 0;
      startMore();
      await until(() => {
        while (isStarted[first]) first += 1;
        return first >= items.length || failure !== null || !mayStart();
      });
    },
    inFlight: () => inFlight.items().map(({ item }) => item),
    finish: () => until(() => inFlight.size === 0),
  };
}
