import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Waveform } from "./index.ts";
import { boxesOf, fixture, gridOf, inFolder, inspect, readJson, render, turned } from "./test/support.ts";

const isFaststart = (boxes: readonly string[]): boolean => boxes.indexOf("moov") < boxes.indexOf("mdat");

/** The samples of both files are identical: nothing was re-encoded. */
const sameMedia = async (a: string, b: string): Promise<void> => {
  const [left, right] = await Promise.all([inspect(a), inspect(b)]);
  assert.equal(left.videoPackets, right.videoPackets);
  assert.deepEqual(left.keyframesSec, right.keyframesSec);
};

test("mp4 in the stored form: is kept as it is, and gets thumbnail, waveform and storyboard", async () => {
  await inFolder(async (folder) => {
    const fractions: number[] = [];
    const result = await render(fixture("render/black-start.mp4"), folder, {
      onProgress: (fraction) => fractions.push(fraction),
    });
    assert.equal(result.mediaPath, null);
    assert.equal(result.contentType, "video/mp4");
    assert.deepEqual([result.durationMs, result.width, result.height], [12_000, 160, 90]);
    assert.ok(result.thumbnail && result.waveform && result.storyboard);
    assert.equal(fractions.at(-1), 1);
    assert.deepEqual(
      fractions,
      fractions.toSorted((a, b) => a - b),
      "progress never goes back",
    );
  });
});

test("mp4 with its index at the end: the index moves to the front, location and title are removed", async () => {
  await inFolder(async (folder) => {
    const path = fixture("render/late-index.mp4");
    assert.ok(!isFaststart(boxesOf(path)));
    assert.ok(["loci", "Secret"].every((text) => readFileSync(path).includes(text)));
    const result = await render(path, folder, { facts: { isFastStart: false } });
    assert.ok(result.mediaPath);
    assert.ok(isFaststart(boxesOf(result.mediaPath)));
    const bytes = readFileSync(result.mediaPath);
    for (const text of ["loci", "Secret", folder]) assert.ok(!bytes.includes(text), text);
    await sameMedia(path, result.mediaPath);
    assert.ok(Math.abs((await inspect(result.mediaPath)).durationSec - 12) < 0.05);
  });
});

test("mp4 with a location: is rewritten even if everything else is right", async () => {
  await inFolder(async (folder) => {
    const result = await render(fixture("render/late-index.mp4"), folder);
    assert.ok(result.mediaPath && !readFileSync(result.mediaPath).includes("loci"));
  });
});

test("fragmented mp4: gets one index in front, without being re-encoded", async () => {
  await inFolder(async (folder) => {
    const path = fixture("render/fragmented.mp4");
    const result = await render(path, folder, { facts: { isStoredForm: false, isFastStart: false } });
    assert.ok(result.mediaPath);
    const boxes = boxesOf(result.mediaPath);
    assert.ok(isFaststart(boxes) && !boxes.includes("moof"), boxes.join(" "));
    await sameMedia(path, result.mediaPath);
  });
});

test("mov with h264 and aac: becomes an mp4 without being re-encoded", async () => {
  await inFolder(async (folder) => {
    const path = fixture("onestep-h264-aac.mov");
    const result = await render(path, folder);
    assert.ok(result.mediaPath && isFaststart(boxesOf(result.mediaPath)));
    await sameMedia(path, result.mediaPath);
    assert.equal(readFileSync(result.mediaPath).toString("latin1", 4, 12), "ftypisom");
  });
});

for (const name of ["onestep-mpeg4-pcm.mov", "render/hevc10.mov"]) {
  test(`${name}: becomes h264 in 8 bit 4:2:0 with aac, complete, a keyframe at least every two seconds`, async () => {
    await inFolder(async (folder) => {
      const path = fixture(name);
      const result = await render(path, folder);
      assert.ok(result.mediaPath && isFaststart(boxesOf(result.mediaPath)));
      const [before, after] = await Promise.all([inspect(path), inspect(result.mediaPath)]);
      assert.deepEqual(after.codecs, ["avc", "aac"]);
      assert.match(after.videoCodec ?? "", /^avc1\.64/, "High profile: 8 bit, 4:2:0");
      assert.equal(after.trackCount, 2);
      assert.equal(after.videoPackets, before.videoPackets);
      assert.deepEqual(after.size, before.size);
      assert.ok(Math.abs(after.durationSec - 12) < 0.1, String(after.durationSec));
      assert.equal(result.durationMs, 12_000);
      const ends = [...after.keyframesSec, after.durationSec];
      const gaps = ends.slice(1).map((time, i) => time - (ends[i] ?? 0));
      assert.ok(Math.max(...gaps) <= 2.05, gaps.join(" "));
    });
  });
}

test("mov without audio: stays without, and its waveform is empty", async () => {
  await inFolder(async (folder) => {
    const result = await render(fixture("onestep-prores-silent.mov"), folder, {
      facts: { audio: null, durationMs: 14_000 },
    });
    assert.ok(result.mediaPath);
    assert.deepEqual((await inspect(result.mediaPath)).codecs, ["avc", null]);
    assert.deepEqual((await readJson<Waveform>(result.waveform?.path ?? "")).peaks, []);
  });
});

test("more than 720 lines: is scaled down in the same shape; the audio is copied", async () => {
  await inFolder(async (folder) => {
    const result = await render(fixture("render/tall.mp4"), folder, { facts: { isStoredForm: false } });
    assert.ok(result.mediaPath);
    const { size, codecs } = await inspect(result.mediaPath);
    assert.deepEqual(
      [size, codecs],
      [
        [960, 720],
        ["avc", "aac"],
      ],
    );
    assert.deepEqual([result.width, result.height], [960, 720]);
    assert.equal(result.thumbnail?.width, 640);
  });
});

for (const degrees of [90, 180, 270] as const) {
  test(`rotated by ${degrees} degrees: shown upright whether it is kept, remuxed or re-encoded`, async () => {
    await inFolder(async (folder) => {
      const size = degrees === 180 ? [160, 90] : [90, 160];
      const kept = join(folder, "in.mp4");
      writeFileSync(kept, turned(fixture("render/black-start.mp4"), degrees));
      const asKept = await render(kept, join(folder, "kept"));
      const asRemuxed = await render(kept, join(folder, "remuxed"), { facts: { isFastStart: false } });
      assert.deepEqual([asKept.width, asKept.height], size);
      assert.ok(asKept.thumbnail && asRemuxed.thumbnail && asRemuxed.mediaPath);
      assert.equal((await inspect(asRemuxed.mediaPath)).rotation, degrees);
      assert.deepEqual(await gridOf(asRemuxed.thumbnail.path), await gridOf(asKept.thumbnail.path));

      const foreign = join(folder, "in.mov");
      writeFileSync(foreign, turned(fixture("render/hevc10.mov"), degrees));
      const asEncoded = await render(foreign, join(folder, "encoded"));
      assert.ok(asEncoded.thumbnail && asEncoded.mediaPath);
      const encoded = await inspect(asEncoded.mediaPath);
      assert.deepEqual([encoded.rotation, encoded.size], [0, size]);
      // Both videos show the same colours, so they look alike when both are upright.
      const [left, right] = await Promise.all([
        gridOf(asEncoded.thumbnail.path),
        gridOf(asKept.thumbnail.path),
      ]);
      const far = left.filter((value, i) => Math.abs(value - (right[i] ?? 0)) > 90).length;
      assert.ok(far <= 6, `${far} of ${left.length} values differ`);
    });
  });
}

for (const name of ["onestep-aac.m4a", "onestep-alac.m4a", "onestep-cover.m4a"]) {
  test(`${name}: becomes an mp3 of the audio alone`, async () => {
    await inFolder(async (folder) => {
      const result = await render(fixture(name), folder);
      assert.equal(result.contentType, "audio/mpeg");
      assert.deepEqual([result.thumbnail, result.storyboard, result.width], [null, null, null]);
      assert.ok(result.mediaPath);
      const made = await inspect(result.mediaPath);
      assert.deepEqual([made.codecs, made.trackCount], [[null, "mp3"], 1]);
      assert.ok(Math.abs(made.durationSec - 12) < 0.1, String(made.durationSec));
      assert.equal(result.durationMs, 12_000);
    });
  });
}

test("an mp3 file is kept unchanged", async () => {
  await inFolder(async (folder) => {
    const result = await render(fixture("render/tone.mp3"), folder);
    assert.deepEqual([result.mediaPath, result.contentType], [null, "audio/mpeg"]);
  });
});

test("waveform: separates a second of tone from a second of silence, to the twentieth of a second", async () => {
  await inFolder(async (folder) => {
    for (const name of ["render/tone.mp3", "render/black-start.mp4"]) {
      const result = await render(fixture(name), folder);
      const waveform = await readJson<Waveform>(result.waveform?.path ?? "");
      assert.deepEqual(
        [waveform.version, waveform.duration_ms, waveform.peaks_per_second, waveform.peaks.length],
        [1, 12_000, 20, 240],
      );
      for (const [i, peak] of waveform.peaks.entries()) {
        // The codec smears a little over the border of tone and silence.
        if (i % 20 === 0 || i % 20 === 19) continue;
        if (i % 40 < 20)
          assert.ok(peak >= 115 && peak <= 215, `${name}: half of full scale at ${i}: ${peak}`);
        else assert.ok(peak <= 8, `${name}: silence at ${i}: ${peak}`);
      }
    }
  });
});

test("names with colons and percent signs are treated as names, not as URLs or patterns", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "http:%03d concat:x|y.mp3");
    copyFileSync(fixture("render/tone.mp3"), path);
    assert.equal((await render(path, join(folder, "out: %d"))).durationMs, 12_000);
  });
});
