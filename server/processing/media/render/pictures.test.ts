import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { encodeFile } from "../test/encode.ts";
import { brightness, fitInto, rotate } from "./encode/rgb.ts";
import type { StoryboardIndex } from "./index.ts";
import { brightnessOf, fixture, inFolder, inspect, readJson, render } from "./test/support.ts";

test("thumbnail: of a video that begins black, shows a later picture", async () => {
  await inFolder(async (folder) => {
    const { thumbnail } = await render(fixture("render/black-start.mp4"), folder);
    assert.ok(thumbnail);
    const { width, height, format } = await sharp(thumbnail.path).metadata();
    assert.deepEqual([width, height, format], [160, 90, "jpeg"]);
    assert.deepEqual([thumbnail.width, thumbnail.height], [160, 90]);
    const { mean, deviation } = await brightnessOf(thumbnail.path);
    assert.ok(mean > 60 && deviation > 30, `${mean} ${deviation}`);
  });
});

test("thumbnail: has the colours of the video", async () => {
  await inFolder(async (folder) => {
    const { thumbnail } = await render(fixture("render/tall.mp4"), folder, {
      facts: { isStoredForm: false },
    });
    assert.ok(thumbnail);
    const { data, info } = await sharp(thumbnail.path).raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number): number[] => {
      const from = (Math.round(y * info.height) * info.width + Math.round(x * info.width)) * 3;
      return [...data.subarray(from, from + 3)];
    };
    // Navy (0, 0, 128) in the background, and orange (255, 165, 0) in the box.
    const near = (colour: readonly number[], wanted: readonly number[]) =>
      colour.every((value, i) => Math.abs(value - (wanted[i] ?? 0)) < 30);
    assert.ok(near(at(0.8, 0.8), [0, 0, 128]), at(0.8, 0.8).join());
    assert.ok(near(at(0.3, 0.4), [255, 165, 0]), at(0.3, 0.4).join());
  });
});

test("an interlaced video has a thumbnail and a storyboard whether it is kept or re-encoded, with every picture", async () => {
  await inFolder(async (folder) => {
    for (const [name, format] of [
      ["kept.mp4", "mp4"],
      ["encoded.avi", "avi"],
    ] as const) {
      const path = join(folder, name);
      encodeFile(path, {
        format,
        video: { codec: "libx264", width: 720, height: 576, isInterlaced: true },
        audio: [{ codec: "aac" }],
      });
      const { thumbnail, storyboard, mediaPath } = await render(path, join(folder, format), {
        facts: { isFastStart: false },
      });
      assert.ok(thumbnail && storyboard && mediaPath, name);
      assert.ok((await brightnessOf(thumbnail.path)).mean > 60);
      const { codecs, videoPackets, durationSec } = await inspect(mediaPath);
      assert.deepEqual([codecs, videoPackets], [["avc", "aac"], 60]);
      assert.ok(Math.abs(durationSec - 12) < 0.25, String(durationSec));
    }
  });
});

test("storyboard: one tile every five seconds, each the keyframe before its time", async () => {
  await inFolder(async (folder) => {
    const path = fixture("render/black-start.mp4");
    const { storyboard } = await render(path, folder);
    assert.ok(storyboard);
    const index = await readJson<StoryboardIndex>(storyboard.indexPath);
    assert.deepEqual(
      [index.version, index.count, index.interval_ms, index.columns, index.rows],
      [1, 3, 5000, 3, 1],
    );
    assert.deepEqual([index.tile_width, index.tile_height, index.sheets], [160, 90, ["storyboard-0.jpg"]]);
    const { keyframesSec } = await inspect(path);
    const before = [0, 5, 10].map((time) => keyframesSec.findLast((sec) => sec <= time) ?? 0);
    assert.deepEqual(
      index.times_ms,
      before.map((sec) => Math.round(sec * 1000)),
    );
    const [sheet] = storyboard.paths;
    assert.ok(sheet);
    const { width, height } = await sharp(sheet).metadata();
    assert.deepEqual([width, height], [480, 90]);
    const tiles = await Promise.all(
      [0, 160, 320].map(async (left) => {
        const tile = await sharp(sheet).extract({ left, top: 0, width: 160, height: 90 }).raw().toBuffer();
        return brightness({ data: tile, width: 160, height: 90 }).mean;
      }),
    );
    assert.ok((tiles[0] ?? 255) < 20, "black at the beginning");
    assert.ok((tiles[1] ?? 0) > 60 && (tiles[2] ?? 0) > 60, tiles.join(" "));
  });
});

test("storyboard: at most 200 tiles on sheets of 100, however long the video", async () => {
  await inFolder(async (folder) => {
    // The index says twelve seconds; the facts stand in for a video of an hour.
    const { storyboard } = await render(fixture("render/black-start.mp4"), folder, {
      facts: { durationMs: 3_600_000 },
    });
    assert.ok(storyboard);
    const index = await readJson<StoryboardIndex>(storyboard.indexPath);
    assert.deepEqual([index.count, index.interval_ms, index.times_ms.length], [200, 18_000, 200]);
    assert.deepEqual(index.sheets, ["storyboard-0.jpg", "storyboard-1.jpg"]);
    for (const path of storyboard.paths) {
      const { width, height } = await sharp(path).metadata();
      assert.deepEqual([width, height], [1600, 900]);
    }
  });
});

test("rotate turns a picture clockwise", () => {
  // 2×1: red, green.
  const picture = { data: Uint8Array.of(255, 0, 0, 0, 255, 0), width: 2, height: 1 };
  assert.equal(rotate(picture, 0), picture);
  assert.deepEqual(rotate(picture, 90), { data: picture.data, width: 1, height: 2 });
  const swapped = Uint8Array.of(0, 255, 0, 255, 0, 0);
  assert.deepEqual(rotate(picture, 180), { data: swapped, width: 2, height: 1 });
  assert.deepEqual(rotate(picture, 270), { data: swapped, width: 1, height: 2 });
});

test("fitInto: keeps the shape, never enlarges, never vanishes", () => {
  assert.deepEqual(fitInto({ width: 1280, height: 720 }, { width: 640, height: 1280 }), {
    width: 640,
    height: 360,
  });
  assert.deepEqual(fitInto({ width: 64, height: 64 }, { width: 640, height: 1280 }), {
    width: 64,
    height: 64,
  });
  assert.deepEqual(fitInto({ width: 1280, height: 2 }, { width: 160, height: 284 }), {
    width: 160,
    height: 1,
  });
});
