/** How long a statement counts as short, at least; up to twice as long. */
const shortMs = 10;

/** More than these don't wait here but for a connection of the pool, which limits how long. */
const maxWaiting = 100;

/**
 * Limits how many short statements run at the same time, while PostgreSQL shares the processors of this machine. Statements that
 * interrupt each other displace each other's data from the processors' caches: on two cores, eight at a time need a fifth
 * more processor time each than four.
 *
 * A statement that is not done within 10 to 20 ms no longer counts, so slow ones don't hold up others, and none waits for
 * more than half a second.
 */
export class ShortStatements {
  readonly #max: number;
  /** When each began, the oldest first. */
  readonly #running = new Set<{ readonly startedAt: number }>();
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param max at the same time; Infinity: no limit. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Starts a statement when there is room, possibly at once. @param start gets what must be called when it is done. */
  enter(start: (leave: () => void) => void): void {
    if (this.#running.size < this.#max) this.#begin(start);
    // Not counted, or those that wait would have to wait for it.
    else if (this.#waiting.length >= maxWaiting) start(() => {});
    else {
      this.#waiting.push(() => this.#begin(start));
      if (this.#timer === undefined) this.#watch();
    }
  }

  /** Runs a statement when there is room. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const leave = await new Promise<() => void>((resolve) => this.enter(resolve));
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #begin(start: (leave: () => void) => void): void {
    const statement = { startedAt: performance.now() };
    this.#running.add(statement);
    start(() => {
      this.#running.delete(statement);
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#running.size < this.#max) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  /** While statements wait. */
  #watch(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#forgetSlow();
      this.#admit();
      if (this.#waiting.length > 0) this.#watch();
    }, shortMs);
  }

  #forgetSlow(): void {
    const slowBefore = performance.now() - shortMs;
    for (const statement of this.#running) {
      if (statement.startedAt > slowBefore) return;
      this.#running.delete(statement);
    }
  }
}
