import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createSending } from "./lane-order.ts";

/** Sends that end when they are told to. */
function stage({ places = 3, mayBegin = () => true }: { places?: number; mayBegin?: () => boolean } = {}) {
  const begun: string[] = [];
  const ends = new Map<string, { end(): void; fail(error: Error): void }>();
  const sending = createSending<string>({
    // Those of one subject begin with the same letter.
    subjectOf: (item) => item.slice(0, 1),
    places: () => places,
    mayBegin,
    send: (item) => {
      begun.push(item);
      return new Promise((resolve, reject) => ends.set(item, { end: resolve, fail: reject }));
    },
  });
  return {
    sending,
    begun,
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

test("sending: as many at a time as there are places, one of each subject, in order", async () => {
  const { sending, begun, end } = stage();
  const first = sending.begin(["a1", "a2", "b1", "c1", "d1"]);
  assert.deepEqual(begun, ["a1", "b1", "c1"]);
  assert.deepEqual(sending.underway(), ["a1", "b1", "c1"]);
  await end("c1");
  assert.deepEqual(begun, ["a1", "b1", "c1", "d1"]);
  assert.equal(await isOver(first), false, "a2 waits for a1");
  await end("a1");
  assert.deepEqual(begun.at(-1), "a2");
  assert.equal(await isOver(first), true);
  assert.equal(await isOver(sending.over()), false);
});

test("sending: the next batch begins while the last of one are under way, but for their subjects", async () => {
  const { sending, begun, end } = stage();
  await sending.begin(["a1", "b1"]);
  const second = sending.begin(["a2", "c1", "b2"]);
  assert.deepEqual(begun, ["a1", "b1", "c1"]);
  await end("b1");
  assert.deepEqual(begun, ["a1", "b1", "c1", "b2"]);
  assert.equal(await isOver(second), false);
  await end("a1");
  assert.deepEqual(begun.at(-1), "a2");
  await second;
  const over = sending.over();
  for (const item of ["c1", "b2", "a2"]) await end(item);
  await over;
  assert.deepEqual(sending.underway(), []);
});

test("sending: nothing more begins after a failure, which both waits tell of once what is under way is over", async () => {
  const { sending, begun, end, fail } = stage({ places: 2 });
  const first = sending.begin(["a1", "b1", "c1"]);
  first.catch(() => {});
  await fail("a1", new Error("the database is gone"));
  await assert.rejects(first, /the database is gone/);
  const over = sending.over();
  over.catch(() => {});
  assert.deepEqual(sending.underway(), ["b1"]);
  await end("b1");
  await assert.rejects(over, /the database is gone/);
  assert.deepEqual(begun, ["a1", "b1"]);
});

test("sending: once nothing may begin any more, the rest of the batch is not waited for", async () => {
  let may = true;
  const { sending, begun, end } = stage({ places: 1, mayBegin: () => may });
  const first = sending.begin(["a1", "b1", "c1"]);
  may = false;
  await end("a1");
  await first;
  await sending.over();
  assert.deepEqual(begun, ["a1"]);
});
