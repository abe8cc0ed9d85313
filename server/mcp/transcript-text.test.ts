import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, maxPartLength, transcriptPart } from "./transcript-text.ts";

const segments = [0, 1, 2, 3].map((index) => ({
  speaker: "Ana",
  start: index * 1000,
  end: index * 1000 + 900,
  text: `section ${index}`,
}));

test("a range holds the segments that touch it", () => {
  assert.equal(
    transcriptPart(segments, { from: 1500, to: 2000 }).text,
    "[0:01] Ana: section 1\n[0:02] Ana: section 2",
  );
  assert.equal(transcriptPart(segments, {}).text.split("\n").length, 4);
  assert.deepEqual(transcriptPart(segments, { from: 9000 }), { text: "", next_from_ms: null });
});

test("long transcripts come in parts that together are the whole", () => {
  const long = Array.from({ length: 5000 }, (_, index) => ({
    speaker: "Ana",
    start: index * 1000,
    end: index * 1000 + 900,
    text: `${index} ${"word ".repeat(10)}`,
  }));
  const lines: string[] = [];
  let from: number | null = 0;
  while (from !== null) {
    const part = transcriptPart(long, { from });
    assert.ok(part.text.length <= maxPartLength);
    lines.push(...part.text.split("\n"));
    from = part.next_from_ms;
  }
  assert.equal(lines.length, long.length);
});

test("moments are written as people do", () => {
  assert.deepEqual([0, 59_999, 60_000, 3_723_000].map(clock), ["0:00", "0:59", "1:00", "1:02:03"]);
});
