import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createOrderedSender } from "./ordered-sender.ts";

/** Sends that end on demand. */
function stage({ slots = 3, mayStart = () => true }: { slots?: number; mayStart?: () => boolean } = {}) {
  const started: string[] = [];
  const ends = new Map<string, { end(): void; fail(error: Error): void }>();
  const sender = createOrderedSender<string>({
    // Items of one subject begin with the same letter.
    subjectOf: (item) => item.slice(0, 1),
    slots: () => slots,
    mayStart,
    send: (item) => {
      started.push(item);
      return new Promise((resolve, reject) => ends.set(item, { end: resolve, fail: reject }));
    },
  });
  return {
    sender,
    started,
    async end(item: string) {
      ends.get(item)?.end();
      await turn();
    },
    async fail(item: string, error: Error) {
      ends.get(item)?.fail(error);
      await turn();
    },
  };
}

/** Whether a promise has resolved by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await turn();
  return over;
}

test("ordered sender: starts items in order, as many as there are slots, one at a time of each subject", async () => {
  const { sender, started, end } = stage();
  const first = sender.start(["a1", "a2", "b1", "c1", "d1"]);
  assert.deepEqual(started, ["a1", "b1", "c1"]);
  assert.deepEqual(sender.inFlight(), ["a1", "b1", "c1"]);
  await end("c1");
  assert.deepEqual(started, ["a1", "b1", "c1", "d1"]);
  assert.equal(await isOver(first), false, "a2 waits for a1");
  await end("a1");
  assert.deepEqual(started.at(-1), "a2");
  assert.equal(await isOver(first), true);
  assert.equal(await isOver(sender.finish()), false);
});

test("ordered sender: the next batch starts while the last items are in flight, except for their subjects", async () => {
  const { sender, started, end } = stage();
  await sender.start(["a1", "b1"]);
  const second = sender.start(["a2", "c1", "b2"]);
  assert.deepEqual(started, ["a1", "b1", "c1"]);
  await end("b1");
  assert.deepEqual(started, ["a1", "b1", "c1", "b2"]);
  assert.equal(await isOver(second), false);
  await end("a1");
  assert.deepEqual(started.at(-1), "a2");
  await second;
  const over = sender.finish();
  for (const item of ["c1", "b2", "a2"]) await end(item);
  await over;
  assert.deepEqual(sender.inFlight(), []);
});

test("ordered sender: nothing more starts after a failure, and start and finish reject with it", async () => {
  const { sender, started, end, fail } = stage({ slots: 2 });
  const first = sender.start(["a1", "b1", "c1"]);
  first.catch(() => {});
  await fail("a1", new Error("the database is gone"));
  await assert.rejects(first, /the database is gone/);
  const over = sender.finish();
  over.catch(() => {});
  assert.deepEqual(sender.inFlight(), ["b1"]);
  await end("b1");
  await assert.rejects(over, /the database is gone/);
  assert.deepEqual(started, ["a1", "b1"]);
});

test("ordered sender: once nothing may start, the rest of the batch is not waited for", async () => {
  let may = true;
  const { sender, started, end } = stage({ slots: 1, mayStart: () => may });
  const first = sender.start(["a1", "b1", "c1"]);
  may = false;
  await end("a1");
  await first;
  await sender.finish();
  assert.deepEqual(started, ["a1"]);
});
