import assert from "node:assert/strict";
import { test } from "node:test";
import { maxBlockingMs } from "../../../../test/support/blocking-time.ts";
import { chunkLines } from "../../../processing/intelligence/generate/chunks.ts";
import { toLines } from "../../../processing/intelligence/generate/lines.ts";
import { indexQuotes } from "../../../processing/intelligence/generate/quotes.ts";
import { readTranscription } from "../../../processing/transcription/server/response.ts";
import { cutSegment } from "../../../sharing/public-links/view/transcript-excerpt.ts";
import type { SegmentRow } from "../queries.ts";
import { formatTranscript } from "./format.ts";
import { jsonOf, toBytes } from "./text-slices.ts";

// Runs alone: it measures how long the event loop is blocked.

const sentence = "We talk about the harbour\nand what it <costs> & when it opens. ";
const segment = (start: number, text: string): SegmentRow => ({
  participant_id: null,
  speaker: "Ada",
  start,
  end: start + 3000,
  text,
});
/** Four hours of talk, a segment for each three seconds. */
const fourHours = Array.from({ length: 4800 }, (_, index) => segment(index * 3000, sentence.repeat(2)));
const forms: [name: string, segments: readonly SegmentRow[]][] = [
  ["four hours of talk", fourHours],
  ["50,000 segments", Array.from({ length: 50_000 }, (_, index) => segment(index * 10, sentence))],
  ["11 MB of words in one segment", [segment(0, sentence.repeat(170_000))]],
  ["400,000 spaces in one segment", [segment(0, `a${" ".repeat(400_000)}b`)]],
  ["11 MB without a space in one segment", [segment(0, "é".repeat(11_000_000))]],
];

for (const [name, segments] of forms) {
  test(`formatting ${name} never keeps others waiting for 100 ms`, async () => {
    const work = [
      ...(["txt", "vtt", "srt"] as const).map((format) => () => formatTranscript(format, segments)),
      () => toBytes(jsonOf(segments)),
    ];
    // The first run compiles.
    await work[0]?.();
    for (const format of work) {
      // What the machine does besides, such as collecting garbage, may fall into one of the runs.
      const runs = [await maxBlockingMs(format), await maxBlockingMs(format), await maxBlockingMs(format)];
      assert.ok(Math.min(...runs) < 100, `${runs} ms`);
    }
  });
}

test("slices put together are the whole: surrogate pairs and whitespace at every boundary", async () => {
  const text = ` \n${"😀 \r\n".repeat(30_000)}${"\u0085 ".repeat(50_000)}end\u2028`;
  const line = `😀 ${"😀 ".repeat(29_999)}end`;
  assert.equal(String(await formatTranscript("txt", [segment(0, text)])), `Ada: ${line}\n`);
  const [parsed] = JSON.parse(String(await toBytes(jsonOf([segment(0, text)])))) as SegmentRow[];
  assert.deepEqual(parsed, segment(0, text));
});

/** Processor time in ms. */
function cost(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const giant = sentence.repeat(170_000);

test("a highlight in a segment of 11 MB costs milliseconds and shows the words that lie in it", () => {
  const hour = { ...segment(0, giant), end: 3_600_000 };
  const range = { start: 1_800_000, end: 1_801_000 };
  const cuts: (SegmentRow | null)[] = [];
  assert.ok(cost(() => cuts.push(cutSegment(hour, range))) < 200);
  const [cut] = cuts;
  assert.ok(cut);
  const { text, start, end } = cut;
  assert.deepEqual([start, end], [0, 1000]);
  // So long a text can't be said in an hour, so a second holds as much of it as people say in one.
  assert.ok(giant.includes(text) && text.length > 5 && text.length < 50, text);
  const spaces = { ...segment(0, `a${" ".repeat(400_000)}b`), end: 3_600_000 };
  assert.ok(cost(() => assert.equal(cutSegment(spaces, range), null)) < 200);
  assert.equal(cutSegment(spaces, { start: 0, end: 1000 })?.text, "a");
  assert.equal(cutSegment(spaces, { start: 3_599_000, end: 30_000_000 })?.text, "b");
});

test("a segment of 11 MB is cut for a language model, and quotes are found in it, in linear time", () => {
  const lines = toLines([segment(0, giant)]);
  const cutting = cost(() => assert.ok(chunkLines(lines, 4000).length > 500));
  assert.ok(cutting < 5000, `${cutting} ms`);
  const finding = cost(() => {
    const spoken = indexQuotes(lines);
    for (let round = 0; round < 20; round++)
      assert.equal(spoken.find(`nobody has said this ${round}`, 1), null);
    assert.equal(spoken.find("what it costs when it opens", 1)?.number, 1);
  });
  assert.ok(finding < 10_000, `${finding} ms`);
});

test("a long segment of a speech server becomes several within the limit, with nothing lost", () => {
  // Numbered, since a text that repeats one phrase is left out.
  const text = Array.from({ length: 500 }, (_, i) => `${i} ${sentence.replaceAll(/\s+/g, " ").trim()}`).join(
    " ",
  );
  const { segments } = readTranscription(JSON.stringify({ text }), 500_000);
  assert.ok(segments.length > 3);
  assert.ok(segments.every((part) => part.text.length <= 10_000 && part.endMs >= part.startMs));
  assert.equal(segments.map((part) => part.text).join(" "), text);
  assert.deepEqual([segments[0]?.startMs, segments.at(-1)?.endMs], [0, 500_000]);
  const unspaced = readTranscription(JSON.stringify({ text: "😀".repeat(12_000) }), 500_000).segments;
  assert.equal(unspaced.map((part) => part.text).join(""), "😀".repeat(12_000));
  assert.throws(
    () => readTranscription(JSON.stringify({ text: giant }), 500_000),
    /more than 200000 characters/,
  );
});
