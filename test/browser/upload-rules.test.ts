import assert from "node:assert/strict";
import { test } from "node:test";
import { createSpeedometer } from "../../web/uploads/speed.ts";
import { readSubtitles, SubtitleFault, speakersOf } from "../../web/uploads/subtitles.ts";

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
