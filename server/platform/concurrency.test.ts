import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createSemaphore, forEachConcurrent } from "./concurrency.ts";

test("a semaphore gives out its slots, then makes callers wait in order", async () => {
  const semaphore = createSemaphore(2);
  const first = await semaphore.acquire();
  await semaphore.acquire();
  assert.equal(semaphore.tryAcquire(), null);
  const order: string[] = [];
  const waiting = ["a", "b"].map((name) => semaphore.run(async () => void order.push(name)));
  assert.equal(semaphore.waiting, 2);
  first();
  // A second release by the same holder frees nothing.
  first();
  assert.equal(semaphore.tryAcquire(), null, "the slot went to the first waiter");
  await Promise.all(waiting);
  assert.deepEqual(order, ["a", "b"]);
  assert.notEqual(semaphore.tryAcquire(), null);
});

test("a failing task releases its slot", async () => {
  const semaphore = createSemaphore(1);
  await assert.rejects(
    semaphore.run(async () => assert.fail("broken")),
    /broken/,
  );
  assert.equal(await semaphore.run(async () => "next"), "next");
});

test("forEachConcurrent never exceeds its limit and visits every item once", async () => {
  let running = 0;
  let peak = 0;
  const seen: number[] = [];
  await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    peak = Math.max(peak, running);
    await delay(1);
    seen.push(item);
    running -= 1;
  });
  assert.equal(peak, 3);
  assert.deepEqual(seen.sort(), [1, 2, 3, 4, 5, 6, 7]);
});

test("forEachConcurrent starts nothing after a failure and waits for what is in flight", async () => {
  const started: number[] = [];
  let finished = 0;
  await assert.rejects(
    forEachConcurrent([1, 2, 3, 4], 2, async (item) => {
      started.push(item);
      await delay(item === 1 ? 1 : 10);
      if (item === 1) throw new Error("first failed");
      finished += 1;
    }),
    /first failed/,
  );
  assert.deepEqual([started, finished], [[1, 2], 1]);
});
