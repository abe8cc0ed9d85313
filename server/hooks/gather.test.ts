import assert from "node:assert/strict";
import { test } from "node:test";
import { gather } from "./gather.ts";

test("gather: what is asked for at the same time goes together, and each gets its own", async () => {
  const calls: number[][] = [];
  const double = gather(
    async (items: readonly number[]) => {
      calls.push([...items]);
      return items.map((item) => item * 2);
    },
    { atOnce: 1, most: 3 },
  );
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(double)), [2, 4, 6, 8]);
  assert.deepEqual(calls, [[1, 2, 3], [4]]);
});

test("gather: what fails together is tried alone, and only the fault is its asker's", async () => {
  const half = gather(
    async (items: readonly number[]) => {
      if (items.includes(3)) throw new Error("three is odd");
      return items.map((item) => item / 2);
    },
    { atOnce: 2, most: 10 },
  );
  const results = await Promise.allSettled([2, 3, 4].map(half));
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : result.reason.message)),
    [1, "three is odd", 2],
  );
});
