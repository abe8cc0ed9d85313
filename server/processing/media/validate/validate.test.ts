import assert from "node:assert/strict";
import { test } from "node:test";
import { audio, fixture, oneStep, reasonFor, validateHere, video } from "./test/files.ts";

const goodVideos = {
  "good-faststart.mp4": { durationMs: 12_000, isFastStart: true },
  "good-index-at-end.mp4": { durationMs: 12_000, isFastStart: false },
  "good-exactly-10s.mp4": { durationMs: 10_000, isFastStart: true },
  // The sound begins with the file, the picture 0.2 s later: a player shows 12.2 s.
  "good-fragmented.mp4": { durationMs: 12_200, isStoredForm: false },
  "good-m4v-brand.mp4": { durationMs: 12_000 },
  // 1280 wide and 64 high as encoded: the height limit is about that.
  "good-turned.mp4": { durationMs: 12_000 },
} as const;

for (const [name, facts] of Object.entries(goodVideos))
  test(`video: ${name} is accepted, and measured by what is in it`, () => {
    const result = validateHere(fixture(name));
    assert.ok(result.ok, JSON.stringify(result));
    const expected = { container: "mp4", mediaType: "video", isStoredForm: true, ...facts };
    assert.deepEqual({ ...result.facts, ...expected }, result.facts);
    assert.equal(result.facts.video?.codec, "h264");
    assert.deepEqual(result.facts.audio, { codec: "aac", channels: 1, sampleRate: 16_000 });
  });

test("video: a picture encoded 1280 wide and 64 high and rotated is measured as it is shown", () => {
  const result = validateHere(fixture("good-turned.mp4"));
  assert.ok(result.ok);
  const { maxKeyframeGapMs: _gap, ...shown } = result.facts.video ?? { maxKeyframeGapMs: 0 };
  assert.deepEqual(shown, { codec: "h264", width: 64, height: 1280, rotation: 270 });
});

const badVideos: Readonly<Record<string, RegExp>> = {
  "bad-short.mp4": /^The recording is 9\.4 seconds long; at least 10 seconds are required: [^.]+\.$/,
  "bad-no-audio.mp4": /^The file has no audio; .* AAC/,
  "bad-audio-opus.mp4": /^The audio is encoded as Opus; .*AAC/,
  "bad-audio-mp3.mp4": /^The audio is encoded as mp3; .*AAC/,
  "bad-video-hevc.mp4": /^The video is encoded as H\.265/,
  "bad-video-vp9.mp4": /^The video is encoded as VP9/,
  "bad-video-mpeg4.mp4": /^The video is encoded as MPEG-4 part 2/,
  "bad-height-738.mp4": /^The video is 738 pixels high; at most 720/,
  "bad-portrait.mp4": /^The video is 1280 pixels high; at most 720/,
  "bad-turned.mp4": /^The video is 1280 pixels high before it is rotated; at most 720/,
  "bad-two-videos.mp4": /^The file has 2 video tracks; exactly one/,
  "bad-keyframe-gap-8s.mp4": /^The video has 8 seconds without a keyframe; at most 6/,
  "bad-container.mov": /^The file format is mov; .* mp4/,
  "bad-no-video.mp4": /^The file has no video track; .* exactly one/,
  "bad-short-silent-high.mp4":
    /^The video is 1080 .* The file has no audio; .* 8 seconds long; .*longer one\.$/,
  "other.webm": /looks like a WebM file.*mp4 file with one H\.264/,
  "other.mkv": /looks like a Matroska file/,
  "other.avi": /looks like an AVI file/,
  "other.wav": /looks like a WAV file/,
  "other.flac": /looks like a FLAC file/,
  "other.ogg": /looks like an Ogg file/,
  "other.m2ts": /looks like an MPEG transport stream/,
  "good-cbr.mp3": /^The file format is mp3; .*mp4.* no video track/,
};

for (const [name, reason] of Object.entries(badVideos))
  test(`video: ${name} is refused for what is wrong, and for nothing else`, () => {
    assert.match(reasonFor(fixture(name)), reason);
  });

const audios = {
  "good-cbr.mp3": { durationMs: 12_096, sampleRate: 16_000, isStoredForm: true },
  "good-vbr-no-xing.mp3": { durationMs: 12_096, sampleRate: 16_000, isStoredForm: false },
  "good-44100.mp3": { durationMs: 12_042, sampleRate: 44_100, isStoredForm: true },
} as const;

for (const [name, { durationMs, sampleRate, isStoredForm }] of Object.entries(audios))
  test(`audio: ${name} is accepted, and its frames are counted`, () => {
    const content = fixture(name);
    assert.deepEqual(validateHere(content, audio), {
      ok: true,
      facts: {
        container: "mp3",
        mediaType: "audio",
        durationMs,
        sizeBytes: content.length,
        video: null,
        audio: { codec: "mp3", channels: 1, sampleRate },
        isFastStart: true,
        isStoredForm,
      },
    });
  });

const badAudios: Readonly<Record<string, RegExp>> = {
  "bad-short.mp3": /^The recording is 8\.\d+ seconds long; at least 10/,
  "bad-layer-2.mp3": /^The audio is encoded as MPEG audio layer II/,
  "other.wav": /looks like a WAV file\. Audio must be an mp3 file/,
  "good-faststart.mp4": /^The file format is mp4; audio must be mp3: convert it, or upload it as video\./,
};

for (const [name, reason] of Object.entries(badAudios))
  test(`audio: ${name} is refused for what is wrong`, () => {
    assert.match(reasonFor(fixture(name), audio), reason);
  });

const oneSteps = {
  "onestep-h264-aac.mov": ["mov", "mov", "video", "h264", "aac"],
  "onestep-mpeg4-pcm.mov": ["mov", "mov", "video", "mpeg4", "pcm"],
  "onestep-prores-silent.mov": ["mov", "mov", "video", "prores", undefined],
  "onestep-aac.m4a": ["m4a", "m4a", "audio", undefined, "aac"],
  "onestep-alac.m4a": ["m4a", "m4a", "audio", undefined, "alac"],
  "onestep-cover.m4a": ["m4a", "m4a", "audio", undefined, "aac"],
  "onestep-still.mov": ["mov", "mov", "audio", undefined, "aac"],
  "good-faststart.mp4": ["mov", "mp4", "video", "h264", "aac"],
  "bad-video-hevc.mp4": ["mp4", "mp4", "video", "hevc", "aac"],
  "good-cbr.mp3": ["mp3", "mp3", "audio", undefined, "mp3"],
} as const;

for (const [name, [extension, ...expected]] of Object.entries(oneSteps))
  test(`one step: ${name} is accepted as .${extension}; pictures that stand still make no video`, () => {
    const result = validateHere(fixture(name), oneStep(extension));
    assert.ok(result.ok, JSON.stringify(result));
    const { container, mediaType, video: picture, audio: sound } = result.facts;
    assert.deepEqual([container, mediaType, picture?.codec, sound?.codec], expected);
  });

test("one step: an mp3 named .mp4 and an mp4 named .mp3 are refused, and so is what no name fits", () => {
  assert.match(reasonFor(fixture("good-cbr.mp3"), oneStep("mp4")), /ends in \.mp4, but the content is mp3/);
  assert.match(
    reasonFor(fixture("good-faststart.mp4"), oneStep("mp3")),
    /ends in \.mp3, but the content is mp4/,
  );
  assert.match(reasonFor(fixture("other.mkv"), oneStep("mov")), /looks like a Matroska file.*named \.mov/);
});

test("an unknown file is refused with what it looks like, such as an HTML page", () => {
  const known: readonly (readonly [content: string | Buffer, says: RegExp])[] = [
    ["", /^The file is empty\./],
    [Buffer.alloc(100_000), /contains only zero bytes.*send the file again/],
    ["<!DOCTYPE html><html><body>Sign in</body></html>", /looks like an HTML page/],
    [
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
      /XML document, perhaps the error message/,
    ],
    ['{"error": "not found"}', /JSON document/],
    ["Minutes of the meeting of last Monday", /looks like a text/],
    ["%PDF-1.7\n%\xe2\xe3", /PDF document/],
    ["PK\x03\x04....", /zip archive/],
    [Buffer.from("ffd8ffe000104a46494600", "hex"), /JPEG picture/],
    [Buffer.from("89504e470d0a1a0a", "hex"), /PNG picture/],
    [Buffer.from("fff15080", "hex"), /bare AAC stream/],
    [Buffer.from("0000001c6674797068656963", "hex"), /HEIF or AVIF picture/],
    [Buffer.from("00f1e2d3c4b5a697", "hex"), /file type is not recognized/],
  ];
  for (const [content, says] of known) {
    const reason = reasonFor(Buffer.from(content as string, "latin1"), video);
    assert.match(reason, says);
    assert.match(reason, /A video must be an mp4 file/);
  }
});

test("a file that can't be read and is too large is refused for both reasons", () => {
  assert.match(
    reasonFor(fixture("other.mkv"), video, { maxDurationSec: 100, maxBytes: 1000 }),
    /Matroska.* The file is .* bytes\); at most 1000 bytes are allowed/,
  );
});
