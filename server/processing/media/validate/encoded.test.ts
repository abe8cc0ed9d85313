import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
} from "node-av/constants";
import { Rational } from "node-av/lib";
import { openEncoder } from "../render/encode/encoder.ts";
import { openOutput } from "../render/encode/output.ts";
import { check, checkWrite, newFrame, silenceLibraries } from "../render/libav.ts";
import { inFolder, turned } from "../render/test/support.ts";
import { reasonFor, validateHere } from "./test/files.ts";

interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly keyframesSec: readonly number[];
}

const framesPerSec = 5;
const samplesPerSec = 16_000;
const samplesPerFrame = 1024;

/** Encodes a grey picture by x264 with B-frames and exactly these keyframes, beside silence by FFmpeg's AAC encoder. */
function encode(path: string, { width, height, seconds, keyframesSec }: Film): void {
  silenceLibraries();
  const output = openOutput(path, "mp4");
  const options = { preset: "ultrafast", bf: 2, sc_threshold: 0, threads: 1, "forced-idr": 1 };
  const picture = openEncoder(output, "libx264", options, (context) => {
    context.width = width;
    context.height = height;
    context.pixelFormat = AV_PIX_FMT_YUV420P;
    context.timeBase = new Rational(1, framesPerSec);
    context.framerate = new Rational(framesPerSec, 1);
    context.gopSize = 100_000;
  });
  const sound = openEncoder(output, "aac", {}, (context) => {
    context.sampleRate = samplesPerSec;
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    context.bitRate = 16_000n;
    context.timeBase = new Rational(1, samplesPerSec);
  });
  checkWrite(output.context.writeHeaderSync(null), "write the header");
  const keyframes = new Set(keyframesSec.map((sec) => sec * framesPerSec));
  const planes = Buffer.alloc((width * height * 3) / 2, 128);
  for (let n = 0; n < seconds * framesPerSec; n++) {
    const frame = newFrame();
    frame.width = width;
    frame.height = height;
    frame.format = AV_PIX_FMT_YUV420P;
    check(frame.getBuffer(0), "allocate a picture");
    check(frame.fromBuffer(planes), "fill a picture");
    frame.pts = BigInt(n);
    frame.pictType = keyframes.has(n) ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    picture.push(frame);
    frame.free();
  }
  for (let at = 0; at < seconds * samplesPerSec; at += samplesPerFrame) {
    const frame = newFrame();
    frame.format = AV_SAMPLE_FMT_FLTP;
    frame.sampleRate = samplesPerSec;
    frame.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    frame.nbSamples = samplesPerFrame;
    check(frame.getBuffer(0), "allocate sound");
    check(frame.fromBuffer(Buffer.alloc(4 * samplesPerFrame)), "fill in sound");
    frame.pts = BigInt(at);
    sound.push(frame);
    frame.free();
  }
  for (const encoder of [picture, sound]) {
    encoder.push(null);
    encoder.close();
  }
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.closeOutputSync();
}

const small = { width: 64, height: 64 };

test("keyframes: the ten seconds after the last keyframe are not a gap", () =>
  inFolder(async (folder) => {
    const path = join(folder, "film.mp4");
    encode(path, { ...small, seconds: 20, keyframesSec: [0, 5, 10] });
    const result = validateHere(readFileSync(path));
    assert.ok(result.ok, JSON.stringify(result));
    assert.equal(result.facts.video?.maxKeyframeGapMs, 5000);
  }));

test("keyframes: one keyframe for the whole file is allowed, since there is no gap between keyframes", () =>
  inFolder(async (folder) => {
    const path = join(folder, "film.mp4");
    encode(path, { ...small, seconds: 12, keyframesSec: [0] });
    assert.ok(validateHere(readFileSync(path)).ok);
  }));

test("keyframes: seven seconds between two keyframes are refused, wherever they are", () =>
  inFolder(async (folder) => {
    for (const [index, keyframesSec] of [
      [0, 7, 9],
      [0, 2, 9],
    ].entries()) {
      const path = join(folder, `${index}.mp4`);
      encode(path, { ...small, seconds: 12, keyframesSec });
      assert.match(reasonFor(readFileSync(path)), /^The video has 7 seconds without a keyframe; at most 6/);
    }
  }));

test("height: 1280x720 with a rotation flag is accepted as it is; 720x1280 is refused with or without one", () =>
  inFolder(async (folder) => {
    const wide = join(folder, "wide.mp4");
    encode(wide, { width: 1280, height: 720, seconds: 11, keyframesSec: [0, 5, 10] });
    for (const degrees of [90, 180, 270] as const) {
      const result = validateHere(turned(wide, degrees));
      assert.ok(result.ok, JSON.stringify(result));
      assert.ok(result.facts.isStoredForm);
      const shown = degrees === 180 ? [1280, 720] : [720, 1280];
      assert.deepEqual([result.facts.video?.width, result.facts.video?.height], shown);
    }
    const high = join(folder, "high.mp4");
    encode(high, { width: 720, height: 1280, seconds: 11, keyframesSec: [0, 5, 10] });
    assert.match(reasonFor(readFileSync(high)), /^The video is 1280 pixels high; at most 720/);
    assert.match(reasonFor(turned(high, 90)), /^The video is 1280 pixels high before it is rotated/);
  }));
