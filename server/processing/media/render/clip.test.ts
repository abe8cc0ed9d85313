import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readWav } from "../../../../test/support/wav.ts";
import { cutClip, extractSpeech, MediaFailedError, type Waveform } from "./index.ts";
import { boxesOf, brightnessOf, fixture, inFolder, inspect, readJson } from "./test/support.ts";

/** Root mean square (1 = full scale) of a range of samples. */
const level = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) / 32768;

// A tone of half of full scale sounds in every even second.
for (const [name, format] of [
  ["render/tone.mp3", "mp3"],
  ["render/black-start.mp4", "mp4"],
] as const) {
  test(`a part of ${name} has the requested length and only its own audio, to a few milliseconds`, async () => {
    await inFolder(async (folder) => {
      const inputPath = fixture(name);
      const fractions: number[] = [];
      const result = await cutClip(
        { inputPath, format, startMs: 5300, endMs: 8700, outDir: `${folder}/clip` },
        { onProgress: (fraction) => fractions.push(fraction) },
      );
      assert.ok(result.mediaPath);
      assert.equal(result.durationMs, 3400);
      const { durationSec } = await inspect(result.mediaPath);
      assert.ok(Math.abs(durationSec - 3.4) < 0.08, String(durationSec));
      const speech = await extractSpeech({ inputPath: result.mediaPath, outDir: `${folder}/speech` });
      const { samples } = readWav(readFileSync(speech.chunks[0]?.path ?? ""));
      const at = (fromMs: number, toMs: number) => level(samples.subarray(fromMs * 16, toMs * 16));
      // Silence up to 6.0, tone up to 7.0, silence up to 8.0, tone.
      const edge = 30;
      assert.ok(at(0, 700 - edge) < 0.02, `before: ${at(0, 700 - edge)}`);
      assert.ok(Math.abs(at(700 + edge, 1700 - edge) - 0.354) < 0.04, `tone: ${at(730, 1670)}`);
      assert.ok(at(1700 + edge, 2700 - edge) < 0.02, `between: ${at(1730, 2670)}`);
      assert.ok(Math.abs(at(2700 + edge, 3400 - edge) - 0.354) < 0.04, `after: ${at(2730, 3370)}`);
      const waveform = await readJson<Waveform>(result.waveform?.path ?? "");
      assert.equal(waveform.duration_ms, 3400);
      assert.equal(fractions.at(-1), 1);
      if (format === "mp3") assert.deepEqual([result.thumbnail, result.storyboard], [null, null]);
    });
  });
}

test("a part of a video plays while it loads, begins with a whole picture, and shows nothing from before", async () => {
  await inFolder(async (folder) => {
    const inputPath = fixture("render/black-start.mp4");
    const cut = (startMs: number, endMs: number) =>
      cutClip({ inputPath, format: "mp4", startMs, endMs, outDir: `${folder}/${startMs}` });
    // The video is black at first.
    const [black, later] = [await cut(0, 1000), await cut(9100, 10_350)];
    assert.ok(black.thumbnail && later.thumbnail && later.mediaPath && later.storyboard);
    assert.ok((await brightnessOf(black.thumbnail.path)).mean < 25);
    assert.ok((await brightnessOf(later.thumbnail.path)).deviation > 10);
    const boxes = boxesOf(later.mediaPath);
    assert.ok(boxes.indexOf("moov") < boxes.indexOf("mdat"));
    const facts = await inspect(later.mediaPath);
    assert.deepEqual(facts.codecs, ["avc", "aac"]);
    assert.equal(facts.keyframesSec[0], 0);
    assert.ok(Math.abs(facts.durationSec - 1.25) < 0.06, String(facts.durationSec));
    const whole = await inspect(inputPath);
    const expected = (whole.videoPackets / whole.durationSec) * 1.25;
    assert.ok(Math.abs(facts.videoPackets - expected) <= 2, `${facts.videoPackets} of ${expected}`);
  });
});

test("a part of one picture, the last moment, and the whole can be cut; a part past the end can't", async () => {
  await inFolder(async (folder) => {
    const inputPath = fixture("good-faststart.mp4");
    for (const [startMs, endMs] of [
      [6000, 6001],
      [11_900, 12_000],
      [0, 12_000],
    ] as const) {
      const outDir = `${folder}/${startMs}-${endMs}`;
      const { mediaPath } = await cutClip({ inputPath, format: "mp4", startMs, endMs, outDir });
      const { durationSec, videoPackets } = await inspect(mediaPath ?? "");
      assert.ok(videoPackets >= 1);
      assert.ok(Math.abs(durationSec * 1000 - (endMs - startMs)) < 120, `${startMs}: ${durationSec}`);
    }
    await assert.rejects(
      cutClip({
        inputPath: fixture("render/tone.mp3"),
        format: "mp3",
        startMs: 60_000,
        endMs: 61_000,
        outDir: `${folder}/behind`,
      }),
      MediaFailedError,
    );
  });
});
