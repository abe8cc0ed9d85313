import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { listen, makeWav, readWav, type Tone } from "../../../../../test/support/wav.ts";
import { extractSpeech } from "../index.ts";
import { encodeStereo } from "../test/stereo.ts";
import { inFolder } from "../test/support.ts";
import { findCancelled, separateChannels } from "./channels.ts";

/** Levels of a voice that speaks in the given frames, with noise 50 dB below it. */
const voice = (level: number, speaks: (frame: number) => boolean): number[] =>
  Array.from({ length: 400 }, (_, frame) =>
    speaks(frame) ? level * (0.4 + 0.6 * ((frame * 7) % 10) * 0.1) : level * 0.003,
  );
const odd = (frame: number): boolean => Math.floor(frame / 30) % 2 === 1;
const even = (frame: number): boolean => !odd(frame);
const plus = (a: readonly number[], b: readonly number[], share: number): number[] =>
  a.map((level, frame) => Math.hypot(level, share * (b[frame] ?? 0)));

test("separateChannels: a call with a quiet caller, an echo 25 dB lower and people who interrupt is separate", () => {
  const near = voice(0.2, (frame) => even(frame) || frame % 30 < 4);
  const far = voice(0.03, odd);
  const own = separateChannels([near, plus(far, near, 0.056 * 0.15)]);
  assert.ok(own);
  for (let frame = 0; frame < 400; frame++) {
    if (even(frame)) assert.equal(own[0]?.[frame], 1);
    if (odd(frame)) assert.equal(own[1]?.[frame], 1);
  }
  assert.equal(own[1]?.[75], 0, "an echo is not the voice of its channel");
});

test("separateChannels: the same sound, a stereo microphone, panned voices and a single used channel are a mix", () => {
  const [a, b] = [voice(0.2, even), voice(0.2, odd)];
  assert.equal(separateChannels([plus(a, b, 1), plus(a, b, 1)]), null);
  assert.equal(separateChannels([plus(a, b, 0.4), plus(b, a, 0.4)]), null, "8 dB apart");
  assert.equal(separateChannels([plus(a, b, 1), a.map(() => 0.0001)]), null);
  assert.equal(separateChannels([a]), null);
  assert.equal(separateChannels([[], []]), null);
});

test("separateChannels: a short sound in one channel does not separate them, a third silent one does not hinder", () => {
  const [a, b] = [voice(0.2, even), voice(0.2, odd)];
  const jingle = voice(0.2, (frame) => frame < 8);
  assert.equal(separateChannels([voice(0.2, (frame) => frame > 20), jingle]), null);
  const own = separateChannels([a, b, a.map(() => 0)]);
  assert.ok(own);
  assert.ok(own[2]?.every((frame) => frame === 0));
});

const left: Tone[] = [0, 2, 4, 6].map((second) => ({
  startMs: second * 1000 + 200,
  endMs: second * 1000 + 900,
  hz: 300,
}));
const right: Tone[] = [1, 3, 5, 7].map((second) => ({
  startMs: second * 1000 + 200,
  endMs: second * 1000 + 900,
  hz: 500,
}));
const samplesOf = (tones: readonly Tone[]): Int16Array => readWav(makeWav(8000, tones)).samples;

test("speech of a stereo file with one voice for each channel: chunks of each channel with nothing of the other", async () => {
  await inFolder(async (folder) => {
    const inputPath = join(folder, "call.mp3");
    encodeStereo(inputPath, [samplesOf(left), samplesOf(right)]);
    const { chunks } = await extractSpeech(
      { inputPath, outDir: folder },
      { maxChunkSec: 5, overlapSec: 0.5 },
    );
    assert.deepEqual(
      chunks.map(({ channel }) => channel),
      [0, 0, 1, 1],
    );
    for (const { path, channel } of chunks) {
      const wav = readWav(readFileSync(path));
      assert.deepEqual([wav.sampleRate, wav.channels], [16_000, 1]);
      assert.deepEqual([...new Set(listen(wav).map(({ hz }) => hz))], [channel === 0 ? 300 : 500]);
    }
    assert.equal(readdirSync(folder).length, 5, "nothing else is left");
  });
});

test("speech of a stereo file with the same sound in both channels: mixed chunks, as of mono", async () => {
  await inFolder(async (folder) => {
    const inputPath = join(folder, "stereo.mp3");
    const both = samplesOf([...left, ...right]);
    encodeStereo(inputPath, [both, both.map((sample) => sample / 2)]);
    const { chunks } = await extractSpeech({ inputPath, outDir: join(folder, "out") });
    assert.equal(chunks.length, 1);
    assert.equal(chunks[0]?.channel, undefined);
    assert.equal(listen(readWav(readFileSync(chunks[0]?.path ?? ""))).length, 8);
  });
});

test("speech of a stereo file whose channels are opposite: as of the same file with equal channels", async () => {
  await inFolder(async (folder) => {
    const both = samplesOf([...left, ...right]);
    // The second half is as it should be.
    const opposite = both.map((sample, i) => (i < 64_000 ? -0.8 * sample : sample));
    const inputPath = join(folder, "inverted.mp3");
    encodeStereo(inputPath, [both, opposite]);
    const { chunks } = await extractSpeech({ inputPath, outDir: join(folder, "out") });
    assert.equal(chunks.length, 1);
    const heard = listen(readWav(readFileSync(chunks[0]?.path ?? "")));
    assert.deepEqual(
      heard.map(({ hz }) => hz),
      [300, 500, 300, 500, 300, 500, 300, 500],
    );
  });
});

test("findCancelled: silent mixes of loud channels are replaced by the loudest; unrelated, equal and single channels mix", () => {
  const a = voice(0.2, even);
  const unrelated = a.map((level) => level * Math.SQRT1_2);
  assert.equal(findCancelled(unrelated, [a, a]), null);
  assert.equal(findCancelled(a, [a, a]), null, "equal");
  assert.equal(
    findCancelled(
      a.map((level) => level / 8),
      [a, ...Array(7).fill(a.map(() => 0))],
    ),
    null,
  );
  assert.equal(findCancelled(a, [a]), null);
  assert.equal(findCancelled([], [[], []]), null);
  const silent = a.map((level, frame) => (frame < 200 ? level * 0.01 : level));
  const cancelled = findCancelled(silent, [a.map((level) => level * 0.9), a]);
  assert.equal(cancelled?.channel, 1);
  assert.deepEqual([cancelled.frames[100], cancelled.frames[300]], [1, 0]);
});
