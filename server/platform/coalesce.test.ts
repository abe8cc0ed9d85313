import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesce } from "./coalesce.ts";

test("coalesce: concurrent calls go together, and each gets its own result", async () => {
  const calls: number[][] = [];
  const double = coalesce(
    async (items: readonly number[]) => {
      calls.push([...items]);
      return items.map((item) => item * 2);
    },
    { concurrency: 1, maxItems: 3 },
  );
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(double)), [2, 4, 6, 8]);
  assert.deepEqual(calls, [[1, 2, 3], [4]]);
});

test("coalesce: after a failure each item is tried alone, and only its own call fails", async () => {
  const half = coalesce(
    async (items: readonly number[]) => {
      if (items.includes(3)) throw new Error("three is odd");
      return items.map((item) => item / 2);
    },
    { concurrency: 2, maxItems: 10 },
  );
  const results = await Promise.allSettled([2, 3, 4].map(half));
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : result.reason.message)),
    [1, "three is odd", 2],
  );
});
