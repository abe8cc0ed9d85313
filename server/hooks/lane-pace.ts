/** An answer that takes longer is slow. */
const slowMs = 1000;

/** How long a receiver takes to answer, by the clock of the machine. */
export interface Pace {
  /** @returns what to give to `end`. */
  begin(): Begun;
  end(begun: Begun): void;
  /** Whether the last answer took its time, or one that is waited for does. */
  isSlow(): boolean;
}

interface Begun {
  readonly atMs: number;
}

export function createPace(): Pace {
  // In the order in which they began.
  const underWay = new Set<Begun>();
  let lastMs = 0;
  return {
    begin() {
      const begun = { atMs: performance.now() };
      underWay.add(begun);
      return begun;
    },
    end(begun) {
      underWay.delete(begun);
      lastMs = performance.now() - begun.atMs;
    },
    isSlow() {
      const [oldest] = underWay;
      return lastMs >= slowMs || (oldest !== undefined && performance.now() - oldest.atMs >= slowMs);
    },
  };
}
