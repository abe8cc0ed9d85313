import assert from "node:assert/strict";
import { test } from "node:test";
import { createBatchSize } from "./batch-size.ts";

test("a receiver that takes modest payloads quickly gets larger batches, as long as it does", () => {
  const batch = createBatchSize({ isFailing: false, isLarge: false });
  assert.equal(batch.size, 250);
  batch.sent(250, 250 * 2000, 100);
  assert.equal(batch.size, 600);
  batch.sent(600, 600 * 2000, 590);
  assert.equal(batch.size, 600);
  batch.sent(600, 600 * 2000, 610);
  assert.equal(batch.size, 250, "it became slower");
  batch.sent(250, 250 * 2000, 10);
  batch.sent(600, 600 * 20_000, 10);
  assert.equal(batch.size, 250, "payloads became large");
  batch.sent(0, 0, 5);
  assert.equal(batch.size, 250, "a batch of suppressed deliveries changes nothing");
});

test("hooks that fail and those with transcripts get few at a time, however quick", () => {
  for (const [isFailing, isLarge] of [
    [true, false],
    [false, true],
    [true, true],
  ] as const) {
    const batch = createBatchSize({ isFailing, isLarge });
    batch.sent(4, 400, 1);
    assert.equal(batch.size, 4);
  }
});
