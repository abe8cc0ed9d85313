import assert from "node:assert/strict";
import { test } from "node:test";
import type { MediaExpectation, MediaLimits } from "../facts.ts";
import type { MeasuredAudio, MeasuredMedia, MeasuredVideo } from "./measured.ts";
import { brokenRules, isStoredForm, type Rule, reasonOf } from "./requirements.ts";
import { audio, limits, oneStep, video } from "./test/files.ts";

const picture: MeasuredVideo = {
  codec: "h264",
  isDecodable: true,
  width: 1280,
  height: 720,
  codedHeight: 720,
  rotation: 0,
  maxKeyframeGapSec: 6,
};
const sound: MeasuredAudio = { codec: "aac", isDecodable: true, channels: 2, sampleRate: 48_000 };
const goodVideo: MeasuredMedia = {
  container: "mp4",
  sizeBytes: 2 ** 32,
  durationSec: 10,
  videos: [picture],
  audios: [sound],
  isFastStart: true,
  isFragmented: false,
};
const goodAudio: MeasuredMedia = {
  ...goodVideo,
  container: "mp3",
  videos: [],
  audios: [{ ...sound, codec: "mp3" }],
};

interface Case {
  readonly title: string;
  readonly media: MeasuredMedia;
  readonly expectation: MediaExpectation;
  readonly limits?: MediaLimits;
  readonly broken: readonly Rule[];
  /** Measured value, limit and remedy, in this order. */
  readonly says?: RegExp;
}

const withPicture = (change: Partial<MeasuredVideo>): MeasuredMedia => ({
  ...goodVideo,
  videos: [{ ...picture, ...change }],
});
const withSound = (change: Partial<MeasuredAudio>): MeasuredMedia => ({
  ...goodVideo,
  audios: [{ ...sound, ...change }],
});

const cases: readonly Case[] = [
  { title: "video at every limit", media: goodVideo, expectation: video, broken: [] },
  {
    title: "video of the longest duration",
    media: { ...goodVideo, durationSec: 10_800 },
    expectation: video,
    broken: [],
  },
  {
    title: "a thousandth of a second short",
    media: { ...goodVideo, durationSec: 9.999_5 },
    expectation: video,
    broken: [],
  },
  {
    title: "a thousandth of a second long",
    media: { ...goodVideo, durationSec: 10_800.000_5 },
    expectation: video,
    broken: [],
  },
  {
    title: "container of a video",
    media: { ...goodVideo, container: "mov" },
    expectation: video,
    broken: ["container"],
    says: /format is mov; .* mp4: convert it\. For example: ffmpeg -i in\.mov -c:v copy -c:a copy/,
  },
  {
    title: "video codec",
    media: withPicture({ codec: "hevc" }),
    expectation: video,
    broken: ["video_codec"],
    says: /H\.265 \(HEVC\); only H\.264 .*-c:v libx264/,
  },
  {
    title: "no video track",
    media: { ...goodVideo, videos: [] },
    expectation: video,
    broken: ["video_track"],
    says: /no video track; .*exactly one/,
  },
  {
    title: "two video tracks",
    media: { ...goodVideo, videos: [picture, picture] },
    expectation: video,
    broken: ["video_track"],
    says: /2 video tracks; exactly one .*-map 0:v:0 -map 0:a/,
  },
  {
    title: "no audio track",
    media: { ...goodVideo, audios: [] },
    expectation: video,
    broken: ["audio_track"],
    says: /no audio; .*AAC.*anullsrc/,
  },
  {
    title: "audio codec of a video",
    media: withSound({ codec: "opus" }),
    expectation: video,
    broken: ["audio_codec"],
    says: /Opus; .*must have AAC audio.*-c:v copy -c:a aac/,
  },
  {
    title: "height",
    media: withPicture({ codedHeight: 721 }),
    expectation: video,
    broken: ["height"],
    says: /721 pixels high; at most 720 .*scale it down.*-vf scale=-2:720/,
  },
  {
    title: "height of a rotated picture",
    media: withPicture({ height: 64, codedHeight: 1280, rotation: 90 }),
    expectation: video,
    broken: ["height"],
    says: /1280 pixels high before it is rotated; at most 720/,
  },
  {
    title: "keyframe gap",
    media: withPicture({ maxKeyframeGapSec: 6.04 }),
    expectation: video,
    broken: ["keyframes"],
    says: /6\.04 seconds without a keyframe; at most 6 .*-force_key_frames/,
  },
  {
    title: "too short",
    media: { ...goodVideo, durationSec: 9.4 },
    expectation: video,
    broken: ["too_short"],
    says: /9\.4 seconds long; at least 10 .*longer/,
  },
  {
    title: "too long",
    media: { ...goodVideo, durationSec: 10_801 },
    expectation: video,
    broken: ["too_long"],
    says: /3 hours 1 second long; at most 3 hours .*-t 10800/,
  },
  {
    title: "too many bytes",
    media: { ...goodVideo, sizeBytes: 2 ** 32 + 1, durationSec: 3600 },
    expectation: video,
    broken: ["size"],
    says: /4294967297 bytes\); at most 4 GiB \(4294967296 bytes\) .*-b:v \d+k/,
  },
  {
    title: "all of a video at once",
    media: {
      ...goodVideo,
      container: "mov",
      durationSec: 11_000,
      sizeBytes: 2 ** 33,
      videos: [{ ...picture, codec: "prores", codedHeight: 1080, maxKeyframeGapSec: 9 }],
      audios: [{ ...sound, codec: "pcm" }],
    },
    expectation: video,
    broken: ["container", "video_codec", "height", "keyframes", "audio_codec", "too_long", "size"],
    says: /To fix all 7 problems at once, for example: ffmpeg -i in\.mov -t 10800 -vf scale=-2:720 -c:v libx264 .*-c:a aac/,
  },
  {
    title: "short, silent and high",
    media: { ...withPicture({ codedHeight: 1080 }), durationSec: 8, audios: [] },
    expectation: video,
    broken: ["height", "audio_track", "too_short"],
    says: /1080 .*no audio.* 8 seconds long/,
  },
  { title: "audio", media: goodAudio, expectation: audio, broken: [] },
  {
    title: "container and codec of audio",
    media: { ...goodVideo, container: "m4a", videos: [] },
    expectation: audio,
    broken: ["container", "audio_codec"],
    says: /format is m4a; audio must be mp3.*AAC; only mp3.*ffmpeg -i in\.m4a -vn -c:a libmp3lame/,
  },
  {
    title: "layer II",
    media: { ...goodAudio, audios: [{ ...sound, codec: "mp2" }] },
    expectation: audio,
    broken: ["audio_codec"],
    says: /layer II/,
  },
  {
    title: "audio that is short",
    media: { ...goodAudio, durationSec: 9.9 },
    expectation: audio,
    broken: ["too_short"],
  },
  {
    title: "audio that is long and large",
    media: { ...goodAudio, durationSec: 200, sizeBytes: 5000 },
    expectation: audio,
    limits: { maxDurationSec: 100, maxBytes: 4000 },
    broken: ["too_long", "size"],
    says: /-t 100 /,
  },
  {
    title: "mp3 as one-step mp3",
    media: goodAudio,
    expectation: oneStep("mp3"),
    broken: [],
  },
  {
    title: "mp3 named mp4",
    media: goodAudio,
    expectation: oneStep("mp4"),
    broken: ["container"],
    says: /ends in \.mp4, but the content is mp3: rename the file to end in \.mp3\.$/,
  },
  {
    title: "mov named mp4, any codec, silent, of any height",
    media: {
      ...withPicture({ codec: "prores", codedHeight: 2160, maxKeyframeGapSec: 20 }),
      container: "mov",
      audios: [],
    },
    expectation: oneStep("mp4"),
    broken: [],
  },
  {
    title: "one-step without tracks",
    media: { ...goodVideo, videos: [], audios: [] },
    expectation: oneStep("mov"),
    broken: ["decodable"],
  },
  {
    title: "one-step that nobody can decode",
    media: { ...goodVideo, videos: [{ ...picture, codec: "encrypted", isDecodable: false }], audios: [] },
    expectation: oneStep("mov"),
    broken: ["decodable"],
    says: /Neither video nor audio can be decoded \(encrypted\)/,
  },
  {
    title: "one-step: duration and size",
    media: { ...goodVideo, durationSec: 5, sizeBytes: 2 ** 32 + 1 },
    expectation: oneStep("mov"),
    broken: ["too_short", "size"],
  },
];

for (const { title, media, expectation, limits: allowed = limits, broken, says } of cases)
  test(`rules: ${title}: ${broken.join(", ") || "nothing is broken"}`, () => {
    const found = brokenRules(media, expectation, allowed);
    assert.deepEqual(
      found.map(({ rule }) => rule),
      broken,
    );
    const reason = reasonOf(found, media, expectation, allowed);
    for (const { sentence } of found) assert.ok(reason.includes(sentence));
    if (says) assert.match(reason, says);
  });

test("stored form: mp4 with H.264 and AAC, or mp3, within the rules of the form and not in fragments", () => {
  assert.ok(isStoredForm(goodVideo));
  assert.ok(isStoredForm({ ...goodVideo, audios: [] }), "silence cannot be converted away");
  assert.ok(isStoredForm(goodAudio));
  assert.ok(!isStoredForm({ ...goodVideo, isFragmented: true }));
  assert.ok(!isStoredForm({ ...goodVideo, container: "mov" }));
  assert.ok(!isStoredForm(withPicture({ codedHeight: 1080 })));
  assert.ok(!isStoredForm({ ...goodVideo, videos: [], container: "m4a" }));
});
