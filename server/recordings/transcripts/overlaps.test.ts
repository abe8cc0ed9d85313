import assert from "node:assert/strict";
import { test } from "node:test";
import { indexOf, maxOverlaps, type Timed } from "./overlaps.ts";
import { planReapply } from "./reapply.ts";

test("finds the segments that overlap a time, as a full scan would", () => {
  // Seeded numbers, so that a failure can be reproduced.
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const make = (): Timed => {
    const start_ms = random(10_000);
    return { start_ms, end_ms: start_ms + (random(20) === 0 ? random(8000) : random(200)) };
  };
  for (const size of [0, 1, 2, 3, 100]) {
    const segments = Array.from({ length: size }, make).sort((a, b) => a.start_ms - b.start_ms);
    const find = indexOf(segments);
    for (const asked of Array.from({ length: 200 }, make)) {
      const until = (one: Timed) => Math.max(one.end_ms, one.start_ms + 1);
      const expected = segments.flatMap((one, position) => {
        const ms = Math.min(until(one), until(asked)) - Math.max(one.start_ms, asked.start_ms);
        return ms > 0 ? [{ position, ms, length: until(one) - one.start_ms }] : [];
      });
      assert.deepEqual(find(asked), expected.slice(0, maxOverlaps));
    }
  }
});

test("a transcript in which all segments overlap takes seconds, not half an hour", () => {
  const fresh = Array.from({ length: 50_000 }, (_, index) => ({
    participant_id: null,
    speaker: `Speaker ${index % 3}`,
    start_ms: index,
    end_ms: 36_000_000,
    text: "x",
  }));
  const former = fresh.map((segment, index) => ({
    ...segment,
    original: index === 0 ? { text: "y" } : null,
  }));
  const begun = performance.now();
  planReapply(former, fresh);
  const tookMs = performance.now() - begun;
  assert.ok(tookMs < 30_000, `${tookMs} ms`);
});
