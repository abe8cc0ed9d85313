import assert from "node:assert/strict";
import { test } from "node:test";
import { box, words } from "../test/files.ts";
import { children } from "./boxes.ts";
import { createPicks, walkPositions } from "./positions.ts";
import { readTables, type SampleTables } from "./tables.ts";
import { keyframeGap, presentation, tableTimeline } from "./timeline.ts";

function tablesOf(...boxes: readonly Buffer[]): SampleTables {
  const content = box("stbl", ...boxes);
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [stbl] = children(view, 0, content.length);
  assert.ok(stbl);
  return readTables(view, stbl);
}

const chunks = [box("stsc", words(0, 2, 1, 2, 1, 3, 1, 1)), box("stco", words(0, 3, 100, 200, 300))];

test("timeline: runs of durations and delays need not begin together", () => {
  const tables = tablesOf(
    box("stsz", words(0, 10, 5)),
    box("stts", words(0, 2, 2, 100, 3, 50)),
    box("ctts", words(0, 3, 1, 100, 2, 0, 1, -20)),
    box("stss", words(0, 2, 1, 4)),
    ...chunks,
  );
  // Shown at 100, 100, 200, 250-20, and 300, for which the delays have no entry.
  const line = tableTimeline(tables);
  assert.deepEqual([line.start, line.end, line.samples, line.keyframes], [100, 350, 5, 2]);
  assert.equal(keyframeGap(line), 130);
});

test("timeline: without keyframes the gap is all of it; with every sample one, the last is not in it", () => {
  const sizes = box("stsz", words(0, 10, 5));
  const durations = box("stts", words(0, 2, 4, 10, 1, 70));
  assert.equal(
    keyframeGap(tableTimeline(tablesOf(sizes, durations, box("stss", words(0, 0)), ...chunks))),
    110,
  );
  assert.equal(keyframeGap(tableTimeline(tablesOf(sizes, durations, ...chunks))), 10);
});

test("positions: every sample is found, the last chunk may be only partly used", () => {
  const tables = tablesOf(
    box("stsz", words(0, 0, 4, 1, 2, 3, 4)),
    box("stts", words(0, 1, 4, 10)),
    box("stsc", words(0, 1, 1, 3, 1)),
    box("stco", words(0, 2, 100, 50)),
  );
  const seen: number[][] = [];
  assert.equal(
    walkPositions(tables, (...sample) => seen.push(sample)),
    106,
  );
  assert.deepEqual(seen, [
    [1, 100, 1],
    [2, 101, 2],
    [3, 103, 3],
    [4, 50, 4],
  ]);
});

test("tables: small sizes come packed, and large positions in 64 bits", () => {
  const tables = tablesOf(
    box("stz2", words(0, 4, 3), [0x12, 0x30]),
    box("stts", words(0, 1, 3, 10)),
    box("stsc", words(0, 1, 1, 3, 1)),
    box("co64", words(0, 1, 1, 0)),
  );
  assert.equal(walkPositions(tables), 2 ** 32 + 6);
});

test("tables: they agree on the number of samples, or the index is damaged", () => {
  const sizes = box("stsz", words(0, 10, 5));
  const durations = box("stts", words(0, 1, 5, 10));
  const damaged = /disagree|is invalid|longer/;
  assert.throws(() => tablesOf(sizes, box("stts", words(0, 1, 4, 10)), ...chunks), damaged);
  assert.throws(() => tablesOf(sizes, durations, box("ctts", words(0, 1, 6, 0)), ...chunks), damaged);
  assert.throws(() => tablesOf(sizes, durations, box("stss", words(0, 1, 6)), ...chunks), damaged);
  assert.throws(() => tablesOf(sizes, durations, box("stss", words(0, 2, 2, 2)), ...chunks), damaged);
  for (const stsc of [words(0, 1, 2, 2, 1), words(0, 1, 1, 0, 1), words(0, 2, 1, 2, 1, 9, 1, 1)])
    assert.throws(
      () => tablesOf(sizes, durations, box("stsc", stsc), box("stco", words(0, 2, 1, 1))),
      damaged,
    );
  const few = tablesOf(sizes, durations, box("stsc", words(0, 1, 1, 2, 1)), box("stco", words(0, 2, 1, 1)));
  assert.throws(() => walkPositions(few), damaged);
  const many = tablesOf(sizes, durations, box("stsc", words(0, 1, 1, 5, 1)), box("stco", words(0, 2, 1, 1)));
  assert.throws(() => walkPositions(many), damaged);
});

test("presentation: edits show what is there, and no more", () => {
  const edit = (durationSec: number, mediaStartSec: number | null) => ({ durationSec, mediaStartSec });
  const shown = (...edits: readonly ReturnType<typeof edit>[]) =>
    presentation(0.08, 12.08, edits, 0.001, false);
  assert.deepEqual(shown(), { startSec: 0.08, endSec: 12.08 });
  assert.deepEqual(shown(edit(5, 0.08)), { startSec: 0, endSec: 5 });
  assert.deepEqual(shown(edit(3600, 0.08)), { startSec: 0, endSec: 12 });
  assert.deepEqual(shown(edit(0, 2.08)), { startSec: 0, endSec: 10 });
  assert.deepEqual(shown(edit(1.5, null), edit(11.9995, 0.08)), { startSec: 1.5, endSec: 13.5 });
  assert.deepEqual(shown(edit(10, 0.08), edit(10, 0.08)), { startSec: 0, endSec: 12 });
  assert.deepEqual(shown(edit(9, null)), { startSec: 0.08, endSec: 12.08 });
});

test("picks: the pictures to examine are spread over the whole video", () => {
  const picks = createPicks(16);
  for (let offset = 0; offset < 1000; offset += 1) picks.add(offset, 1);
  const taken = picks.take(5).map(({ offset }) => offset);
  assert.equal(taken.length, 5);
  assert.equal(taken[0], 0);
  assert.ok((taken[4] ?? 0) > 850, String(taken));
});
