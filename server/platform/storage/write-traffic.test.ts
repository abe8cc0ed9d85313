import assert from "node:assert/strict";
import { test } from "node:test";
import { createWriteTraffic } from "./write-traffic.ts";

test("batches: one writer has 1 MiB, several share 2 MiB, and none has less than 128 KiB", () => {
  const traffic = createWriteTraffic();
  const kibibytes = (writers: number): number => {
    const leaves = Array.from({ length: writers }, () => traffic.enter());
    const bytes = traffic.batchBytes();
    for (const leave of leaves) leave();
    return bytes / 1024;
  };
  assert.deepEqual([0, 1, 2, 4, 8, 16, 100].map(kibibytes), [1024, 1024, 1024, 512, 256, 128, 128]);
});
