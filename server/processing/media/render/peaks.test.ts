import assert from "node:assert/strict";
import { test } from "node:test";
import { addSamples, emptyPeaks, toBytes } from "./peaks.ts";

test("peaks: 20 a second for a short recording, at most 8,000 for a long one", () => {
  assert.deepEqual([emptyPeaks(12_000).perSecond, emptyPeaks(12_000).values.length], [20, 240]);
  for (const hours of [1, 3, 24]) assert.equal(emptyPeaks(hours * 3_600_000).values.length, 8000);
  assert.equal(emptyPeaks(0).values.length, 1);
});

test("peaks: each sample counts in its own interval, however the samples are split into frames", () => {
  const rate = 44_100;
  const samples = new Float32Array(rate);
  samples[0] = -0.5;
  samples[2204] = 0.25;
  samples[2205] = -1.5;
  samples[rate - 1] = 0.75;
  for (const size of [1, 1024, 1152, rate]) {
    const peaks = emptyPeaks(1000);
    for (let at = 0; at < rate; at += size) addSamples(peaks, samples.slice(at, at + size), at / rate, rate);
    const bytes = toBytes(peaks);
    assert.deepEqual(
      [bytes.length, bytes[0], bytes[1], bytes[2], bytes[19]],
      [20, 128, 255, 0, 191],
      `${size}`,
    );
  }
});

test("peaks: samples outside the recording and invalid numbers in a damaged file are ignored", () => {
  const peaks = emptyPeaks(1000);
  const loud = new Float32Array(100).fill(1);
  for (const at of [-1e17, -10, 5, 1e12, Number.NaN, Number.POSITIVE_INFINITY])
    addSamples(peaks, loud, at, 8000);
  addSamples(peaks, new Float32Array(100).fill(Number.NaN), 0.5, 8000);
  assert.deepEqual(new Set(toBytes(peaks)), new Set([0]));
});
