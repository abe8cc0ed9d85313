import assert from "node:assert/strict";
import { test } from "node:test";
import { noteEveryMs } from "./activity.ts";

test("a sender is heard of several times within the shortest patience, and at least every minute", () => {
  const day = 86_400_000;
  assert.equal(noteEveryMs({ uploadExpiryGraceMs: day, staleUploadTtlMs: 30 * day }), 60_000);
  assert.equal(noteEveryMs({ uploadExpiryGraceMs: 2000, staleUploadTtlMs: 10_000 }), 500);
  assert.equal(noteEveryMs({ uploadExpiryGraceMs: day, staleUploadTtlMs: 4000 }), 1000);
  assert.equal(noteEveryMs({ uploadExpiryGraceMs: 1, staleUploadTtlMs: day }), 200);
});
