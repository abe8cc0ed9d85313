import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatTranscript } from "../../server/recordings/transcript-format.ts";
import { readMovieIndex } from "../../web/uploads/movie-index.ts";
import { createSpeedometer } from "../../web/uploads/speed.ts";
import { readSubtitles, SubtitleFault, speakersOf } from "../../web/uploads/subtitles.ts";
import { readJson, readPlainText } from "../../web/uploads/written.ts";

test("subtitles: WebVTT with header, notes, cue names, settings, voices and escapes", () => {
  const file = `\uFEFFWEBVTT - board\r\n\r\nNOTE 00:01.000 is early\r\n\r\nintro\r\n00:01.500 --> 01:00:02.250 align:start\r\n<v.loud Ana &amp; Ben>One <b>two</b>\r\nthree &lt;3\r\n\r\n00:00.000 --> 00:01.000\r\nBefore it all\r\n`;
  assert.deepEqual(readSubtitles(file), [
    { speaker_key: "Ana & Ben", start: 0, end: 1000, text: "Before it all" },
    { speaker_key: "Ana & Ben", start: 1500, end: 3_602_250, text: "One two three <3" },
  ]);
});

test("subtitles: SubRip with commas, and names before a colon that hold until another one speaks", () => {
  const file =
    "1\n00:00:01,000 --> 00:00:02,000\nAna Lima: At 10:30 then.\n\n2\n00:00:02,500 --> 00:00:03,000\nYes: fine.\n\n3\n00:00:03,000 --> 00:00:04,000\nand so on\n";
  const segments = readSubtitles(file);
  assert.deepEqual(
    segments.map(({ speaker_key, start, text }) => [speaker_key, start, text]),
    [
      ["Ana Lima", 1000, "At 10:30 then."],
      ["Yes", 2500, "fine."],
      ["Yes", 3000, "and so on"],
    ],
  );
  assert.deepEqual(speakersOf(segments)[0], { name: "Ana Lima", speaker_key: "Ana Lima" });
});

test("subtitles: refused when nothing is said, or a cue ends before it begins", () => {
  assert.throws(() => readSubtitles("WEBVTT\n\nhello"), SubtitleFault);
  assert.throws(() => readSubtitles("00:02.000 --> 00:01.000\nx"), /ends before it begins/);
});

test("speed: of the last seconds, and none before there is enough to go by", () => {
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

test("plain text: what the service writes is read again, with times guessed one after the other", () => {
  const written = formatTranscript("txt", entries.slice(1));
  const segments = readPlainText(`\uFEFF${written.replaceAll("\n", "\r\n")}\r\n`);
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

test("plain text: refused with the line that is wrong", () => {
  assert.throws(() => readPlainText("Ana: yes\n\nand so on\n"), /^Error: Line 3 names no speaker/);
  assert.throws(() => readPlainText(": hello"), /Line 1 names no speaker/);
  assert.throws(() => readPlainText(`${"x".repeat(321)}: hello`), /Line 1 names a speaker of 321 letters/);
  assert.throws(() => readPlainText(" \nAna:\n"), SubtitleFault);
});

test("JSON: what the service writes is read again, and two people of one name stay two", () => {
  const segments = readJson(JSON.stringify(entries));
  assert.deepEqual(
    segments.map(({ speaker_key, start, end, text }) => [speaker_key, start, end, text]),
    [
      ["Ana: Lima", 0, 900, "At 10:30 then."],
      ["Unknown Speaker 1", 1000, 2500, "好的，明天见"],
      ["Ben", 2500, 2500, "Yes."],
      ["Ben (2)", 2600, 3000, "No."],
    ],
  );
});

test("JSON: refused with the entry and the line that is wrong", () => {
  const wrong = (change: object): string =>
    `[\n${JSON.stringify({ ...entries[0], text: 'a "quoted], {text}' })},\n\n${JSON.stringify({ ...entries[1], ...change }, null, 2)}\n]`;
  assert.throws(() => readJson(wrong({ text: 1 })), /^Error: Entry 2 \(line 4\) needs a “text”/);
  assert.throws(() => readJson(wrong({ start: "0:05" })), /Entry 2 \(line 4\) needs “start”/);
  assert.throws(() => readJson(wrong({ end: 1 })), /Entry 2 \(line 4\) ends before it begins/);
  assert.throws(() => readJson(wrong({ speaker: " " })), /Entry 2 \(line 4\) needs a “speaker”/);
  assert.throws(() => readJson('["x"]'), /Entry 1 \(line 1\) is no entry/);
  assert.throws(() => readJson('{"segments": []}'), /no list/);
  assert.throws(() => readJson("[]"), /Nothing is said/);
  assert.throws(() => readJson('[\n{"speaker": "Ana",\n}\n]'), /something is wrong in line 3/);
  assert.throws(() => readJson("[{"), /This is no JSON/);
});

/** Reads the index of a file of the fixtures. */
async function readIndex(name: string) {
  const path = fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));
  return readMovieIndex(new File([await openAsBlob(path)], name));
}

test("index of an MP4: codecs and the longest time without a keyframe, wherever the index lies", async () => {
  for (const name of ["good-faststart.mp4", "good-index-at-end.mp4", "good-m4v-brand.mp4"]) {
    const index = await readIndex(name);
    assert.deepEqual([index?.video, index?.audio], ["avc1", "mp4a"], name);
    assert.ok((index?.keyframeGapSec ?? 99) <= 6, name);
  }
  assert.equal(Math.round((await readIndex("bad-keyframe-gap-8s.mp4"))?.keyframeGapSec ?? 0), 8);
  assert.match((await readIndex("bad-video-hevc.mp4"))?.video ?? "", /^h(vc|ev)1$/);
  assert.equal((await readIndex("bad-no-audio.mp4"))?.audio, null);
});

test("index of an MP4: tells nothing of fragments, of another file, and of one that is cut or damaged", async () => {
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
