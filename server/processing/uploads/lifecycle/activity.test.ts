import assert from "node:assert/strict";
import { test } from "node:test";
import { activityIntervalMs } from "./activity.ts";

test("activity is recorded several times within the shortest timeout, and at least every minute", () => {
  const day = 86_400_000;
  assert.equal(activityIntervalMs({ uploadExpiryGraceMs: day, staleUploadTtlMs: 30 * day }), 60_000);
  assert.equal(activityIntervalMs({ uploadExpiryGraceMs: 2000, staleUploadTtlMs: 10_000 }), 500);
  assert.equal(activityIntervalMs({ uploadExpiryGraceMs: day, staleUploadTtlMs: 4000 }), 1000);
  assert.equal(activityIntervalMs({ uploadExpiryGraceMs: 1, staleUploadTtlMs: day }), 200);
});
