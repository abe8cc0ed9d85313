import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeChunks } from "./merge.ts";
import type { PlacedChunk } from "./merged.ts";

type Said = [startSec: number, endSec: number, text: string, speaker?: string];

/** A chunk from second to second; segments in seconds of the recording, as one would hear them. */
function chunk(startSec: number, endSec: number, said: Said[], language: string | null = null): PlacedChunk {
  return {
    startMs: startSec * 1000,
    endMs: endSec * 1000,
    transcript: {
      language,
      durationMs: null,
      segments: said.map(([start, end, text, speaker]) => ({
        startMs: (start - startSec) * 1000,
        endMs: (end - startSec) * 1000,
        text,
        speaker: speaker ?? null,
      })),
    },
  };
}

async function merge(...chunks: PlacedChunk[]) {
  return (await mergeChunks(chunks)).segments.map((segment) => [
    segment.startMs / 1000,
    segment.endMs / 1000,
    segment.text,
    ...(segment.speaker === null ? [] : [segment.speaker]),
  ]);
}

/** Chunks of 100 s that overlap by 4 s: the cut is at 98. */
const seams: [title: string, former: Said[], latter: Said[], merged: unknown[]][] = [
  [
    "silence in the overlap: everything once, later times moved",
    [[10, 12, "One."]],
    [[110, 112, "Two."]],
    [
      [10, 12, "One."],
      [110, 112, "Two."],
    ],
  ],
  [
    "heard by both before the cut: kept once, from the first",
    [[96.2, 97.4, "Former says."]],
    [[96.3, 97.5, "Latter says."]],
    [[96.2, 97.4, "Former says."]],
  ],
  [
    "heard by both after the cut: kept once, from the second",
    [[98.2, 99.4, "Former says."]],
    [[98.3, 99.5, "Latter says."]],
    [[98.3, 99.5, "Latter says."]],
  ],
  [
    "across the cut with the same times: kept once",
    [[97, 99.5, "We sign tomorrow."]],
    [[97.1, 99.4, "We sign tomorrow."]],
    [[97.1, 99.4, "We sign tomorrow."]],
  ],
  [
    "kept by both because they disagree about the time: appears once",
    [[97, 98.8, "We sign tomorrow."]],
    [[97.4, 99.6, "We sign tomorrow."]],
    [[97, 98.8, "We sign tomorrow."]],
  ],
  [
    "kept by neither because they disagree about the time: not lost",
    [[97.4, 99.6, "We sign tomorrow."]],
    [[96.9, 98.8, "We sign tomorrow."]],
    [[97.4, 99.6, "We sign tomorrow."]],
  ],
  [
    "after the cut and heard by the first alone: not lost",
    [[98.5, 99.5, "Softly spoken."]],
    [[110, 111, "Two."]],
    [
      [98.5, 99.5, "Softly spoken."],
      [110, 111, "Two."],
    ],
  ],
  [
    "before the cut and heard by the second alone: not lost",
    [[10, 11, "One."]],
    [[96.5, 97.5, "Softly spoken."]],
    [
      [10, 11, "One."],
      [96.5, 97.5, "Softly spoken."],
    ],
  ],
  [
    "cut in two by the end of a chunk: the second continues where the first stops",
    [[90, 100, "We will sign the harbour contract"]],
    [[96, 104, "the harbour contract next week."]],
    [
      [90, 100, "We will sign the harbour contract"],
      [100, 104, "next week."],
    ],
  ],
  [
    "words broken at the ends: the complete ones count",
    [[90, 100, "We will sign the harbour con"]],
    [[96, 104, "gn the harbour contract next week."]],
    [
      [90, 100, "We will sign the harbour"],
      [100, 104, "contract next week."],
    ],
  ],
  [
    "text without times over both chunks: the repeated words appear once",
    [[0, 100, "This was the first part, and then we went on"]],
    [[96, 196, "and then we went on to the second part."]],
    [
      [0, 100, "This was the first part, and then we went on"],
      [100, 196, "to the second part."],
    ],
  ],
  [
    "Chinese has no spaces: repeated words are found all the same",
    [[90, 100, "我们明天签合同"]],
    [[96, 104, "明天签合同然后吃饭"]],
    [
      [90, 100, "我们明天签合同"],
      [100, 104, "然后吃饭"],
    ],
  ],
  [
    "the same words much later are kept",
    [[90, 97, "Yes."]],
    [[101, 102, "Yes."]],
    [
      [90, 97, "Yes."],
      [101, 102, "Yes."],
    ],
  ],
];

for (const [title, former, latter, merged] of seams)
  test(`merge: ${title}`, async () =>
    assert.deepEqual(await merge(chunk(0, 100, former), chunk(96, 196, latter)), merged));

test("merge: nothing gives nothing, one chunk stays as it is", async () => {
  assert.deepEqual(await mergeChunks([]), { language: null, segments: [], repeated: 0 });
  assert.deepEqual(await merge(chunk(0, 10, [[1, 2, "Alone."]])), [[1, 2, "Alone."]]);
});

test("merge: chunks that do not overlap lose nothing", async () => {
  assert.deepEqual(await merge(chunk(0, 10, [[8, 10, "One."]]), chunk(10, 20, [[10, 12, "Two."]])), [
    [8, 10, "One."],
    [10, 12, "Two."],
  ]);
});

test("merge: a sentence of every second over three chunks comes out whole, once and in order", async () => {
  const words = Array.from(
    { length: 30 },
    (_, second): Said => [second + 0.1, second + 0.9, `Sentence ${second}.`],
  );
  const part = (from: number, to: number) =>
    chunk(
      from,
      to,
      words.filter(([start, end]) => start >= from && end <= to),
    );
  assert.deepEqual(
    await merge(part(0, 12), part(10, 22), part(20, 30)),
    words.map(([start, end, text]) => [start, end, text]),
  );
});

test("speakers: numbered by first appearance, whatever the model calls them", async () => {
  assert.deepEqual(
    await merge(
      chunk(0, 10, [
        [3, 4, "b", "SPEAKER_00"],
        [1, 2, "a", "SPEAKER_07"],
        [5, 6, "c", "SPEAKER_07"],
      ]),
    ),
    [
      [1, 2, "a", "Unknown Speaker 1"],
      [3, 4, "b", "Unknown Speaker 2"],
      [5, 6, "c", "Unknown Speaker 1"],
    ],
  );
});

test("speakers: labels of two chunks are one person only if they speak at the same time in the overlap", async () => {
  assert.deepEqual(
    await merge(
      chunk(0, 100, [
        [10, 12, "one", "A"],
        [20, 22, "two", "B"],
        [96.5, 97.5, "three", "B"],
      ]),
      chunk(96, 196, [
        [96.5, 97.5, "three", "A"],
        [120, 122, "four", "A"],
        [130, 132, "five", "B"],
      ]),
    ),
    [
      [10, 12, "one", "Unknown Speaker 1"],
      [20, 22, "two", "Unknown Speaker 2"],
      [96.5, 97.5, "three", "Unknown Speaker 2"],
      [120, 122, "four", "Unknown Speaker 2"],
      // B of the second chunk is not known to be A of the first.
      [130, 132, "five", "Unknown Speaker 3"],
    ],
  );
});

test("speakers: two labels never become one speaker, the longer overlap wins", async () => {
  assert.deepEqual(
    (
      await merge(
        chunk(0, 100, [
          [10, 12, "first", "A"],
          [96, 100, "long", "A"],
        ]),
        chunk(96, 196, [
          [96, 96.5, "short", "X"],
          [96.5, 100, "long", "Y"],
          [110, 111, "x", "X"],
          [112, 113, "y", "Y"],
        ]),
      )
    ).slice(-2),
    [
      [110, 111, "x", "Unknown Speaker 2"],
      [112, 113, "y", "Unknown Speaker 1"],
    ],
  );
});

test("speakers: segments without a speaker stay without", async () => {
  assert.deepEqual(
    await merge(
      chunk(0, 10, [
        [1, 2, "a"],
        [3, 4, "b", "A"],
      ]),
    ),
    [
      [1, 2, "a"],
      [3, 4, "b", "Unknown Speaker 1"],
    ],
  );
});

test("language: the one of most of the text; that of silence counts only alone", async () => {
  const language = async (...chunks: PlacedChunk[]) => (await mergeChunks(chunks)).language;
  assert.equal(
    await language(
      chunk(0, 10, [[1, 2, "Hi"]], "en"),
      chunk(10, 20, [[11, 12, "Guten Morgen"]], "de"),
      chunk(20, 30, [], "cy"),
    ),
    "de",
  );
  assert.equal(await language(chunk(0, 10, [], "cy")), "cy");
  assert.equal(await language(chunk(0, 10, [[1, 2, "Hi"]])), null);
});
