/** Reproducible pseudo-random choices. */
export interface Random {
  /** An integer from 0 to `below` - 1. */
  int(below: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** Pseudo-random numbers with 32 bits of state, the same on every machine. Source: Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: <T>(choices: readonly T[]): T => choices[int(choices.length)] as T,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
  };
}

/** Depends only on the seed and the request's index, so that a single request can be repeated. */
export function seededFor(seed: number, index: number): Random {
  return seeded(seed ^ Math.imul(index + 1, 0x9e3779b1));
}
