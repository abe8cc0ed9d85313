import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatTranscript } from "../../server/recordings/recordings/transcript/format.ts";
import { speakersOf, TranscriptFileError } from "../../shared/transcripts/subtitles.ts";
import { readMovieIndex } from "../../web/uploads/file-check/movie-index.ts";
import { parseTextTranscript } from "../../web/uploads/file-check/text-transcript.ts";
import { createSpeedometer } from "../../web/uploads/sending/speed.ts";

test("speed: measured over the last seconds, null until there is enough data", () => {
  let now = 0;
  const speed = createSpeedometer(() => now);
  assert.equal(speed(0), null);
  now = 1000;
  assert.equal(speed(500), 500);
  now = 20_000;
  assert.equal(speed(500), null);
  now = 21_000;
  assert.equal(speed(2500), 2000);
});

const entries = [
  { participant_id: "a", speaker: "Ana: Lima", start: 0, end: 900, text: "At 10:30 then." },
  { participant_id: null, speaker: "Unknown Speaker 1", start: 1000, end: 2500, text: "好的，明天见" },
  { participant_id: "b", speaker: "Ben", start: 2500, end: 2500, text: "Yes." },
  { participant_id: "c", speaker: "Ben", start: 2600, end: 3000, text: "No." },
];

test("plain text: the API's format is parsed, with estimated times in sequence", async () => {
  const written = String(await formatTranscript("txt", entries.slice(1)));
  const segments = parseTextTranscript(`\uFEFF${written.replaceAll("\n", "\r\n")}\r\n`);
  assert.deepEqual(
    segments.map(({ speaker_key, text }) => [speaker_key, text]),
    entries.slice(1).map(({ speaker, text }) => [speaker, text]),
  );
  let before = 0;
  for (const { start, end } of segments) {
    assert.equal(start, before);
    assert.ok(end - start >= 800 && end - start < 3000);
    before = end;
  }
  assert.deepEqual(speakersOf(segments), [{ name: "Ben", speaker_key: "Ben" }]);
});

test("plain text: rejected with the invalid line", () => {
  assert.throws(() => parseTextTranscript("Ana: yes\n\nand so on\n"), /^Error: Line 3 has no speaker/);
  assert.throws(() => parseTextTranscript(": hello"), /Line 1 has no speaker/);
  assert.throws(
    () => parseTextTranscript(`${"x".repeat(321)}: hello`),
    /The speaker name in line 1 has 321 characters/,
  );
  assert.throws(() => parseTextTranscript(" \nAna:\n"), TranscriptFileError);
});

/** Reads the index of a fixture file. */
async function readIndex(name: string) {
  const path = fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));
  return readMovieIndex(new File([await openAsBlob(path)], name));
}

test("MP4 index: codecs and the longest keyframe gap, wherever the index is", async () => {
  for (const name of ["good-faststart.mp4", "good-index-at-end.mp4", "good-m4v-brand.mp4"]) {
    const index = await readIndex(name);
    assert.deepEqual([index?.video, index?.audio], ["avc1", "mp4a"], name);
    assert.ok((index?.keyframeGapSec ?? 99) <= 6, name);
  }
  assert.equal(Math.round((await readIndex("bad-keyframe-gap-8s.mp4"))?.keyframeGapSec ?? 0), 8);
  assert.match((await readIndex("bad-video-hevc.mp4"))?.video ?? "", /^h(vc|ev)1$/);
  assert.equal((await readIndex("bad-no-audio.mp4"))?.audio, null);
});

test("MP4 index: no keyframe gap for fragments; null for other, truncated or damaged files", async () => {
  assert.equal((await readIndex("good-fragmented.mp4"))?.keyframeGapSec, null);
  assert.equal(await readIndex("good-cbr.mp3"), null);
  const path = fileURLToPath(new URL("../fixtures/media/good-faststart.mp4", import.meta.url));
  const whole = new Uint8Array(await (await openAsBlob(path)).arrayBuffer());
  for (let length = 0; length < 3000; length += 7)
    await readMovieIndex(new File([whole.subarray(0, length)], "cut.mp4"));
  for (let at = 0; at < 3000; at += 7) {
    const damaged = whole.slice();
    damaged.fill(0xff, at, at + 4);
    await readMovieIndex(new File([damaged], "damaged.mp4"));
  }
});
