import assert from "node:assert/strict";
import { test } from "node:test";
import { alignToSentences, findTurns, joinParts, speakersOf } from "./assign.ts";
import { clusterVoices } from "./cluster.ts";

/** Voices of three people in many parts, each a little off. */
function makeVoices(count: number): { embedding: number[]; ms: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const embedding = [0.1, 0.1, 0.1, 0.05 * Math.sin(index)];
    embedding[index % 3] = 1;
    return { embedding, ms: 2000 + (index % 5) * 500 };
  });
}

test("voices that are alike are joined, with and without the number of people, by first appearance", () => {
  const voices = makeVoices(30);
  const expected = voices.map((_, index) => index % 3);
  assert.deepEqual(clusterVoices(voices, { minCosine: null, count: 3 }), expected);
  assert.deepEqual(clusterVoices(voices, { minCosine: 0.45, count: 1 }), expected);
  assert.deepEqual(clusterVoices([], { minCosine: null, count: 2 }), []);
  assert.deepEqual(clusterVoices(voices.slice(0, 1), { minCosine: null, count: 4 }), [0]);
});

test("a short odd sound does not become a speaker while two people are joined", () => {
  const voices = [...makeVoices(30), { embedding: [0.2, 0.2, 0.2, 1], ms: 300 }];
  const numbers = clusterVoices(voices, { minCosine: null, count: 3 });
  assert.deepEqual(new Set(numbers.slice(0, 30)).size, 3);
});

test("the voices of a day of audio are joined within seconds, also those beyond the limit", () => {
  const voices = makeVoices(1920).map(({ embedding, ms }) => ({
    embedding: [...embedding, ...new Array<number>(188).fill(0.01)],
    ms,
  }));
  const startedAt = process.cpuUsage();
  const numbers = clusterVoices(voices, { minCosine: null, count: 3 });
  const ms = process.cpuUsage(startedAt).user / 1000;
  assert.deepEqual(
    numbers,
    voices.map((_, index) => index % 3),
  );
  assert.ok(ms < 5000, `${ms} ms`);
});

test("parts: the same person has one number in all of them, and overlaps are cut in their middle", () => {
  const [anna, ben] = [
    { embedding: [1, 0], ms: 3000 },
    { embedding: [0, 1], ms: 3000 },
  ];
  const turns = joinParts(
    [
      {
        startMs: 0,
        endMs: 10_000,
        found: {
          voices: [anna, ben],
          turns: [
            { startMs: 0, endMs: 5000, voice: 0 },
            { startMs: 5000, endMs: 10_000, voice: 1 },
          ],
        },
      },
      {
        startMs: 8000,
        endMs: 18_000,
        found: {
          voices: [ben, anna],
          turns: [
            { startMs: 0, endMs: 4000, voice: 0 },
            { startMs: 4000, endMs: 10_000, voice: 1 },
          ],
        },
      },
    ],
    null,
  );
  assert.deepEqual(turns, [
    { startMs: 0, endMs: 5000, speaker: 0 },
    { startMs: 5000, endMs: 9000, speaker: 1 },
    { startMs: 9000, endMs: 12_000, speaker: 1 },
    { startMs: 12_000, endMs: 18_000, speaker: 0 },
  ]);
  assert.deepEqual(
    speakersOf(
      [
        { startMs: 4000, endMs: 5500 },
        { startMs: 8000, endMs: 12_500 },
        { startMs: 19_000, endMs: 19_500 },
      ],
      turns,
    ),
    [0, 1, 0],
    "the turn that covers most, in a gap the nearest",
  );
  assert.deepEqual(speakersOf([{ startMs: 0, endMs: 1 }], []), [null]);
  assert.deepEqual(speakersOf([{ startMs: 23_500, endMs: 24_000 }], turns), [null], "no turn is near");
});

test("a part whose voices are unknown leaves the recording without speakers, instead of with wrong ones", () => {
  const found = {
    voices: [{ embedding: [1, 0], ms: 3000 }],
    turns: [{ startMs: 0, endMs: 3000, voice: 0 }],
  };
  const [first, second] = [
    { startMs: 0, endMs: 4000 },
    { startMs: 4000, endMs: 8000 },
  ];
  assert.equal(
    findTurns(
      [
        { ...first, found },
        { ...second, found },
      ],
      null,
    ).length,
    2,
  );
  assert.deepEqual(
    findTurns(
      [
        { ...first, found },
        { ...second, found: null },
      ],
      null,
    ),
    [],
  );
});

test("a change of speaker moves to the end of the sentence, but never across one", () => {
  const words = "Good morning everyone. Thanks, I am fine. Yes.".split(" ").map((text) => ({ text }));
  assert.deepEqual(alignToSentences(words, [0, 0, 1, 1, 1, 1, 1, 0]), [0, 0, 0, 1, 1, 1, 1, 0]);
  assert.deepEqual(alignToSentences(words, [0, 0, 0, 0, 1, 1, 1, 0]), [0, 0, 0, 1, 1, 1, 1, 0]);
  assert.deepEqual(alignToSentences(words, new Array(8).fill(null)), new Array(8).fill(null));
});
