import assert from "node:assert/strict";
import { test } from "node:test";
import { createUnderway } from "./underway.ts";

test("what is under way is in it until it is taken out, in whatever order that is", () => {
  const underway = createUnderway<number>();
  const expected = new Set<number>();
  const removals = new Map<number, () => void>();
  // The remainders of powers of a primitive root: every number once, in no order.
  const shuffled = Array.from({ length: 100 }, (_, n) => n).reduce<number[]>(
    (all) => [...all, ((all.at(-1) ?? 1) * 2) % 101],
    [],
  );
  for (let n = 1; n <= 100; n += 1) {
    removals.set(n, underway.add(n));
    expected.add(n);
    if (n % 3 === 0) take(n - 1);
  }
  for (const n of shuffled) if (expected.has(n)) take(n);
  assert.equal(underway.size, 0);

  function take(n: number): void {
    removals.get(n)?.();
    expected.delete(n);
    assert.deepEqual(new Set(underway.items()), expected);
    assert.equal(underway.size, expected.size);
    assert.equal(
      underway.some((item) => item === n),
      false,
    );
  }
});
