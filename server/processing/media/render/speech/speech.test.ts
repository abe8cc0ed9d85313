import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readWav } from "../../../../../test/support/wav.ts";
import { extractSpeech } from "../index.ts";
import { fixture, inFolder } from "../test/support.ts";

/** Root mean square (1 = full scale) of a range of samples. */
const level = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) / 32768;

for (const name of ["render/tone.mp3", "render/black-start.mp4"]) {
  test(`speech of ${name}: 16 kHz mono 16 bit, each second of tone and silence at its time`, async () => {
    await inFolder(async (folder) => {
      const { durationMs, chunks } = await extractSpeech({ inputPath: fixture(name), outDir: folder });
      assert.ok(Math.abs(durationMs - 12_000) <= 60, String(durationMs));
      assert.deepEqual(readdirSync(folder), ["speech-000.wav"], "nothing else is left");
      const [chunk] = chunks;
      assert.ok(chunk);
      assert.deepEqual([chunk.startMs, chunk.endMs], [0, durationMs]);
      const wav = readWav(readFileSync(chunk.path));
      assert.deepEqual([wav.sampleRate, wav.channels], [16_000, 1]);
      for (let second = 0; second < 12; second++) {
        const middle = wav.samples.subarray((second + 0.1) * 16_000, (second + 0.9) * 16_000);
        // A sine of half of full scale has 0.354.
        if (second % 2 === 0)
          assert.ok(Math.abs(level(middle) - 0.354) < 0.03, `${second}: ${level(middle)}`);
        else assert.ok(level(middle) < 0.01, `${second}: ${level(middle)}`);
      }
    });
  });
}

test("speech in chunks: cut in the silence, overlapping, with the same samples as the whole", async () => {
  await inFolder(async (folder) => {
    const inputPath = fixture("render/tone.mp3");
    const whole = await extractSpeech({ inputPath, outDir: `${folder}/whole` });
    const all = readWav(readFileSync(whole.chunks[0]?.path ?? "")).samples;
    const fractions: number[] = [];
    const { durationMs, chunks } = await extractSpeech(
      { inputPath, outDir: `${folder}/pieces` },
      { maxChunkSec: 4, overlapSec: 0.5, onProgress: (fraction) => fractions.push(fraction) },
    );
    assert.ok(chunks.length >= 3);
    assert.equal(chunks[0]?.startMs, 0);
    assert.equal(chunks.at(-1)?.endMs, durationMs);
    for (const [i, { path, startMs, endMs }] of chunks.entries()) {
      assert.ok(endMs - startMs <= 4000);
      const next = chunks[i + 1];
      if (next) {
        assert.equal(next.startMs, endMs - 500);
        // Tone sounds in the even seconds.
        assert.ok(endMs % 2000 > 1000, `cut at ${endMs}`);
      }
      const { samples } = readWav(readFileSync(path));
      assert.deepEqual(samples, all.slice(startMs * 16, startMs * 16 + samples.length));
    }
    assert.equal(fractions.at(-1), 1);
  });
});

test("speech: tones above 8 kHz are removed, not aliased into the voice", async () => {
  await inFolder(async (folder) => {
    const { chunks } = await extractSpeech({ inputPath: fixture("render/high-tone.mp3"), outDir: folder });
    const { samples } = readWav(readFileSync(chunks[0]?.path ?? ""));
    assert.ok(samples.length > 45_000);
    assert.ok(level(samples) < 0.005, String(level(samples)));
  });
});

test("speech of a video without audio: no chunks", async () => {
  await inFolder(async (folder) => {
    const result = await extractSpeech({ inputPath: fixture("bad-no-audio.mp4"), outDir: folder });
    assert.deepEqual(result, { durationMs: 0, chunks: [] });
  });
});
