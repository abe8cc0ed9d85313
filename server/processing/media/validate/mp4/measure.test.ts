import assert from "node:assert/strict";
import { test } from "node:test";
import { bodiesOf, bodyOf, fixture, reasonFor, renamed, validateHere, withWord } from "../test/files.ts";

const good = fixture("good-faststart.mp4");
const short = fixture("bad-short.mp4");

function gapMs(content: Buffer): number | undefined {
  const result = validateHere(content);
  assert.ok(result.ok, JSON.stringify(result));
  return result.facts.video?.maxKeyframeGapMs;
}

test("duration: headers that claim an hour over nine seconds are not trusted", () => {
  let lying = withWord(short, "mvhd", 16, 3_600_000);
  for (const [number] of bodiesOf(short, "tkhd").entries()) {
    lying = withWord(lying, "tkhd", 20, 3_600_000, number);
    lying = withWord(lying, "mdhd", 16, 0x7fff_ffff, number);
    lying = withWord(lying, "elst", 8, 3_600_000, number);
  }
  assert.match(reasonFor(lying), /^The recording is 9\.4 seconds long/);
});

test("duration: an edit list that shows five of twelve seconds leaves five", () => {
  const cut = withWord(withWord(good, "elst", 8, 5000, 0), "elst", 8, 5000, 1);
  assert.match(reasonFor(cut), /^The recording is 5 seconds long/);
});

test("duration: a pause before every track is not part of the recording", () => {
  // Media times of -1 make both edits empty: there is nothing to cut, and the media are shown as they are.
  const empty = withWord(withWord(good, "elst", 12, 0xffff_ffff, 0), "elst", 12, 0xffff_ffff, 1);
  assert.ok(validateHere(empty).ok);
});

test("keyframes are found in the pictures where the file has no list of them", () => {
  assert.equal(gapMs(renamed(good, "stss", "free")), 2000);
  assert.match(
    reasonFor(renamed(fixture("bad-keyframe-gap-8s.mp4"), "stss", "free")),
    /^The video has 8 seconds without a keyframe/,
  );
});

test("keyframes: a list that names pictures which are not keyframes is not trusted", () => {
  const file = fixture("bad-keyframe-gap-8s.mp4");
  assert.equal(file.readUInt32BE(bodyOf(file, "stss") + 12), 21);
  assert.match(reasonFor(withWord(file, "stss", 12, 61)), /^The video has 10 seconds without a keyframe/);
});

test("keyframes: fragments that mark every picture are not trusted", () => {
  const file = fixture("good-fragmented.mp4");
  const lying = Buffer.from(file);
  for (const at of bodiesOf(file, "tfhd")) {
    const flags = file.readUInt32BE(at);
    // Track 1 carries default flags after duration and size: all its samples become keyframes.
    if (file.readUInt32BE(at + 4) === 1 && flags & 0x20) lying.writeUInt32BE(0x0200_0000, at + 16);
  }
  assert.notDeepEqual(lying, file);
  assert.equal(gapMs(lying), 2000);
});

test("picture: a header that makes it smaller is not trusted", () => {
  const file = Buffer.from(fixture("bad-height-738.mp4"));
  file.writeUInt16BE(64, bodyOf(file, "avc1") + 24);
  file.writeUInt16BE(64, bodyOf(file, "avc1") + 26);
  assert.match(reasonFor(file), /^The video is 738 pixels high/);
});

for (const name of ["good-faststart.mp4", "good-index-at-end.mp4", "good-fragmented.mp4"])
  test(`truncated: ${name} cut at any position is refused as incomplete, never as anything else`, () => {
    const content = fixture(name);
    for (const part of [0.02, 0.2, 0.4, 0.6, 0.8, 0.95]) {
      const reason = reasonFor(content.subarray(0, Math.floor(content.length * part)));
      assert.match(reason, /^The file (is incomplete|has no index)/, `${part}: ${reason}`);
    }
  });

test("tracks: two tracks, one of them without samples, count as one", () => {
  const file = fixture("bad-two-videos.mp4");
  const stsz = bodyOf(file, "stsz", 1);
  const copy = Buffer.from(file);
  copy.writeUInt32BE(0, stsz + 8);
  for (const type of ["stts", "ctts", "stss", "stco"]) copy.writeUInt32BE(0, bodyOf(copy, type, 1) + 4);
  assert.ok(validateHere(copy).ok);
});

test("layout: padding after the last box, and media that extend past the end, are harmless", () => {
  assert.ok(validateHere(Buffer.concat([good, Buffer.alloc(1000)])).ok);
  const mdat = bodyOf(good, "mdat");
  const copy = Buffer.from(good);
  copy.writeUInt32BE(good.length, mdat - 8);
  assert.ok(validateHere(copy).ok);
});
