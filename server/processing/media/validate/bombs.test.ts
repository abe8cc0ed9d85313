import assert from "node:assert/strict";
import { test } from "node:test";
import {
  audio,
  bodyOf,
  box,
  fixture,
  oneStep,
  reasonFor,
  renamed,
  video,
  withWord,
  words,
} from "./test/files.ts";

/** The maximum cost of a crafted file: these are all refused in a few milliseconds. */
const maxMs = 3000;

function refused(content: Buffer, says: RegExp, expectation = video): void {
  const startedAt = performance.now();
  assert.match(reasonFor(content, expectation), says);
  assert.ok(performance.now() - startedAt < maxMs);
}

const good = fixture("good-faststart.mp4");
const huge = 0xffff_ffff;

test("bomb: tables that claim four billion entries", () => {
  for (const type of ["stts", "ctts", "stsc", "stco", "stss", "elst"])
    refused(withWord(good, type, 4, huge), new RegExp(`table "${type}" is longer than the space it has`));
  refused(withWord(good, "stsz", 8, huge), /table "stsz" is longer than the space it has/);
});

test("bomb: four billion samples of one size, which need no table", () => {
  const samples = withWord(withWord(good, "stsz", 4, 1), "stsz", 8, huge);
  refused(samples, /disagree on the number of samples/);
  // With a duration table that agrees, and with chunks that hold them all.
  refused(withWord(samples, "stts", 8, huge), /disagree|lists 4294967295 video frames|is invalid/);
});

test("bomb: durations of 136 years for each sample", () => {
  refused(withWord(good, "stts", 12, huge), /hours .* without a keyframe; at most 6 seconds are allowed/);
});

test("bomb: a run of a fragment that claims four billion samples", () => {
  const file = fixture("good-fragmented.mp4");
  refused(withWord(file, "trun", 4, huge), /table "trun" is longer than the space it has/);
  // Without a single field per sample the claim fits any box.
  const bare = withWord(withWord(file, "trun", 0, 0x01), "trun", 4, huge);
  refused(bare, /incomplete|at most/);
});

test("bomb: 290 kB of fragments with one run each, all claiming as much as they can", () => {
  const file = fixture("good-fragmented.mp4");
  const moov = bodyOf(file, "moov") - 8;
  const head = file.subarray(0, moov + file.readUInt32BE(moov));
  const run = box("trun", words(0, huge));
  const fragment = box("moof", box("traf", box("tfhd", words(0x38, 1, huge, huge, 0)), run));
  refused(Buffer.concat([head, ...Array.from({ length: 4000 }, () => fragment)]), /incomplete/);
  const still = box("moof", box("traf", box("tfhd", words(0x38, 1, 0, 0, 0)), run));
  refused(
    Buffer.concat([head, ...Array.from({ length: 4000 }, () => still)]),
    /at least 10 seconds|keyframe/,
  );
});

test("bomb: boxes within boxes, 30,000 deep", () => {
  const nested = Buffer.alloc(30_000 * 8);
  for (let start = 0; start < nested.length; start += 8) {
    nested.writeUInt32BE(nested.length - start, start);
    nested.write("trak", start + 4);
  }
  refused(box("moov", nested), /damaged/);
});

test("bomb: an index larger than the file, and one larger than any recording needs", () => {
  refused(withWord(good, "moov", -8, huge), /incomplete/);
  refused(withWord(good, "moov", -8, good.length), /incomplete/);
});

test("bomb: sizes of zero and sizes too small cause no endless loop", () => {
  refused(Buffer.concat([box("ftyp", Buffer.from("isom\0\0\0\0")), Buffer.alloc(100_000)]), /no index/);
  for (const size of [0, 1, 2, 7]) {
    refused(withWord(good, "moov", -8, size), /no index|damaged|incomplete/);
    refused(withWord(good, "mdia", -8, size), /damaged/);
    refused(withWord(good, "stsd", -8, size), /damaged/);
  }
});

test("bomb: an index that is compressed, or refers to other files, is refused by name", () => {
  const mvhd = renamed(good, "mvhd", "cmov");
  refused(mvhd, /compressed/);
  refused(renamed(good, "mvhd", "rmra"), /other files/);
});

test("bomb: five thousand tracks, and a million boxes in one", () => {
  refused(
    box("moov", box("mvhd", Buffer.alloc(100)), ...Array.from({ length: 5000 }, () => box("trak"))),
    /too many parts|clock/,
  );
  refused(box("moov", Buffer.concat(Array.from({ length: 100_000 }, () => box("free")))), /too many parts/);
});

test("bomb: an mp3 whose tag claims to be longer than the file, or is the whole file", () => {
  const mp3 = fixture("good-cbr.mp3");
  const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f]);
  refused(tag, /No mp3 audio/, audio);
  refused(
    Buffer.concat(Array.from({ length: 50_000 }, () => Buffer.from("ID3\x04\0\0\0\0\0\0"))),
    /No mp3 audio/,
    audio,
  );
  refused(Buffer.concat([mp3.subarray(0, 2000), Buffer.alloc(3_000_000, 0xff)]), /are not mp3 audio/, audio);
  refused(Buffer.alloc(3_000_000, "ID3 APETAGEX "), /looks like a text|No mp3 audio/, oneStep("mp3"));
});
