import assert from "node:assert/strict";
import { test } from "node:test";
import { createInFlight } from "./in-flight.ts";

test("in flight: items can be removed in any order", () => {
  const inFlight = createInFlight<number>();
  const expected = new Set<number>();
  const removals = new Map<number, () => void>();
  // The remainders of powers of a primitive root: every number once, in no order.
  const shuffled = Array.from({ length: 100 }, (_, n) => n).reduce<number[]>(
    (all) => [...all, ((all.at(-1) ?? 1) * 2) % 101],
    [],
  );
  for (let n = 1; n <= 100; n += 1) {
    removals.set(n, inFlight.add(n));
    expected.add(n);
    if (n % 3 === 0) take(n - 1);
  }
  for (const n of shuffled) if (expected.has(n)) take(n);
  assert.equal(inFlight.size, 0);

  function take(n: number): void {
    removals.get(n)?.();
    expected.delete(n);
    assert.deepEqual(new Set(inFlight.items()), expected);
    assert.equal(inFlight.size, expected.size);
    assert.equal(
      inFlight.some((item) => item === n),
      false,
    );
  }
});
