import assert from "node:assert/strict";
import { test } from "node:test";
import { planChunks } from "./plan-chunks.ts";

/** Speech with pauses at the given frames, each of `length` frames. */
const speech = (frames: number, pauses: Readonly<Record<number, number>>, length = 5): number[] => {
  const energies = new Array<number>(frames).fill(0.2);
  for (const [at, level] of Object.entries(pauses)) energies.fill(level, Number(at), Number(at) + length);
  return energies;
};
const options = { maxFrames: 100, overlapFrames: 20 };

test("planChunks: a recording that fits is one chunk, an empty one has none", () => {
  assert.deepEqual(planChunks(speech(100, {}), options), [{ start: 0, end: 100 }]);
  assert.deepEqual(planChunks([], options), []);
});

test("planChunks: ends in the quietest pause of the last quarter; the next begins before the cut", () => {
  const energies = speech(150, { 20: 0, 80: 0.01, 90: 0.001 });
  assert.deepEqual(planChunks(energies, options), [
    { start: 0, end: 94 },
    { start: 74, end: 150 },
  ]);
});

test("planChunks: takes the later of equal pauses, so that there are few chunks", () => {
  assert.deepEqual(planChunks(speech(150, { 78: 0, 88: 0 }), options)[0], { start: 0, end: 92 });
});

test("planChunks: a gap between words or a quieter voice is not a pause; the chunk then has its maximum length", () => {
  assert.deepEqual(planChunks(speech(150, { 80: 0 }, 2), options)[0], { start: 0, end: 100 });
  assert.deepEqual(planChunks(speech(150, { 80: 0.1 }), options)[0], { start: 0, end: 100 });
});

test("planChunks: the loudness of the file decides what counts as a pause", () => {
  const faint = speech(150, { 80: 0.0001 }).map((energy) => energy / 50);
  assert.deepEqual(planChunks(faint, options)[0], { start: 0, end: 84 });
});

test("planChunks: chunks cover everything in order, none is too long, and all overlap", () => {
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  for (let round = 0; round < 50; round++) {
    const energies = Array.from({ length: Math.floor(random() * 2000) + 1 }, () =>
      random() < 0.3 ? 0 : random(),
    );
    const chunks = planChunks(energies, options);
    assert.equal(chunks[0]?.start, 0);
    assert.equal(chunks.at(-1)?.end, energies.length);
    for (const [i, { start, end }] of chunks.entries()) {
      assert.ok(end - start <= options.maxFrames && end > start);
      const next = chunks[i + 1];
      if (next) assert.equal(next.start, end - options.overlapFrames);
    }
  }
});

test("planChunks: an overlap larger than a chunk still reaches the end", () => {
  const chunks = planChunks(speech(50, {}), { maxFrames: 10, overlapFrames: 30 });
  assert.equal(chunks.at(-1)?.end, 50);
});
