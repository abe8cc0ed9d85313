import assert from "node:assert/strict";
import { test } from "node:test";
import { planPieces } from "./pieces.ts";

const rate = 16_000;
const limits = { min: 4 * rate, max: 24 * rate };
const sound = (seconds: number) => new Float32Array(seconds * rate).fill(0.5);

/** Whether each sample is in exactly one piece. */
function covers(pieces: readonly { start: number; end: number }[], length: number): boolean {
  const ends = pieces.map(({ end }) => end);
  return pieces.every(({ start }, index) => start === (ends[index - 1] ?? 0)) && ends.at(-1) === length;
}

test("audio is cut in the last pause that the limits allow, and every sample is kept", () => {
  const samples = sound(60);
  const speech = [
    { start: 0, end: 10 * rate },
    { start: 11 * rate, end: 20 * rate },
    { start: 22 * rate, end: 40 * rate },
    { start: 41 * rate, end: 60 * rate },
  ];
  const pieces = planPieces(samples, speech, limits);
  assert.deepEqual(
    pieces.map(({ end }) => end / rate),
    [21, 40.5, 60],
  );
  assert.ok(covers(pieces, samples.length));
});

test("audio without speech or without pauses is kept whole and cut at its quietest point", () => {
  const samples = sound(50);
  samples.fill(0.01, 20 * rate, 20 * rate + 640);
  for (const speech of [[], [{ start: 0, end: samples.length }]]) {
    const pieces = planPieces(samples, speech, limits);
    assert.ok(covers(pieces, samples.length));
    assert.ok(Math.abs((pieces[0]?.end ?? 0) / rate - 20) < 0.05);
    assert.ok(pieces.every(({ start, end }) => end - start <= limits.max));
  }
  assert.deepEqual(planPieces(new Float32Array(0), [], limits), []);
});
