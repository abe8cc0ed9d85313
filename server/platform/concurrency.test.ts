import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createSemaphore, forEachConcurrent, forEachStreamed } from "./concurrency.ts";

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

/** Numbers from 1, each after a pause in which work in flight ends. */
async function* slowly(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number++) {
    await delay(2);
    yield number;
  }
}

async function drain(stream: AsyncIterable<void>): Promise<void> {
  for await (const _ of stream);
}

for (const [when, concurrency, failing] of [
  ["while the next item is awaited", 4, 1],
  ["before the last item", 4, 5],
  ["as the last item", 4, 6],
  ["while others wait for a slot", 1, 2],
] as const)
  test(`forEachStreamed throws the error of work that fails ${when}`, async () => {
    const started: number[] = [];
    await assert.rejects(
      drain(
        forEachStreamed(slowly(6), concurrency, async (item) => {
          started.push(item);
          if (item >= failing) throw new Error(`${item} failed`);
        }),
      ),
      new Error(`${failing} failed`),
    );
    assert.deepEqual(started.at(-1), failing, "nothing is started after the failure");
  });

test("forEachStreamed throws the error of work that fails while its caller is busy", async () => {
  const stream = forEachStreamed(slowly(6), 2, async (item) => {
    if (item > 1) await delay(1);
    if (item === 2) throw new Error("2 failed");
  });
  await assert.rejects(async () => {
    for await (const _ of stream) await delay(10);
  }, /2 failed/);
});

test("forEachStreamed waits for what is in flight when the items can't be read, and throws the first error", async () => {
  let finished = 0;
  async function* broken(): AsyncGenerator<number> {
    yield 1;
    throw new Error("unreadable");
  }
  const work = async (): Promise<void> => {
    await delay(5);
    finished += 1;
    throw new Error("later");
  };
  await assert.rejects(drain(forEachStreamed(broken(), 4, work)), /unreadable/);
  assert.equal(finished, 1);
});

test("forEachStreamed never exceeds its limit and visits every item once", async () => {
  let [running, peak] = [0, 0];
  const seen: number[] = [];
  await drain(
    forEachStreamed(slowly(7), 3, async (item) => {
      running += 1;
      peak = Math.max(peak, running);
      await delay(10);
      seen.push(item);
      running -= 1;
    }),
  );
  assert.equal(peak, 3);
  assert.deepEqual(seen.sort(), [1, 2, 3, 4, 5, 6, 7]);
});
