import assert from "node:assert/strict";
import { test } from "node:test";
import type { MediaFacts } from "../../../../platform/db/json-columns.ts";
import { audio, fixture, reasonFor, validateHere } from "../test/files.ts";
import { seeded } from "../test/random.ts";

const good = fixture("good-44100.mp3");
const short = fixture("bad-short.mp3");
const bare = fixture("good-vbr-no-xing.mp3");

function facts(content: Buffer): MediaFacts {
  const result = validateHere(content, audio);
  assert.ok(result.ok, JSON.stringify(result));
  return result.facts;
}

/** An ID3v2 tag of so many bytes after its header. */
function tag(length: number, fill = 0): Buffer {
  const head = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, (length >> 7) & 127, length & 127]);
  return Buffer.concat([head, Buffer.alloc(length, fill)]);
}

test("mp3: a truncated file is detected by the frames and bytes that its header announces", () => {
  const whole = fixture("good-cbr.mp3");
  assert.ok(facts(whole).durationMs > 12_000);
  assert.match(
    reasonFor(whole.subarray(0, Math.floor(whole.length * 0.9)), audio),
    /^The file breaks off: its header announces 12\.\d+ seconds in \d+ bytes, and 10\.\d+ seconds in \d+ bytes are there\./,
  );
  const grown = Buffer.concat([whole, bare]);
  assert.ok(facts(grown).durationMs > 24_000, "more than announced is accepted");
});

test("mp3: a header that claims 800 seconds over eight is not trusted, nor counted as audio", () => {
  const at = short.indexOf("Info");
  assert.ok(at > 0);
  const lying = Buffer.from(short);
  lying.writeUInt32BE(22_000, at + 8);
  assert.match(reasonFor(lying, audio), /^The recording is 8\.1\d* seconds long/);
  lying.write("VBRI", at - 9 + 32 - 0, "latin1");
  assert.match(reasonFor(lying, audio), /^The recording is 8\.1\d* seconds long/);
});

test("mp3: only a file in which players find every time by its bit rate is stored as it is", () => {
  const cbr = fixture("good-cbr.mp3");
  const ape = Buffer.alloc(40_000);
  ape.write("APETAGEX", 40_000 - 32, "latin1");
  ape.writeUInt32LE(40_000, 40_000 - 20);
  const cases: readonly [name: string, content: Buffer, isKept: boolean][] = [
    ["a constant bit rate", cbr, true],
    ["a few stray bytes", Buffer.concat([Buffer.alloc(300), cbr]), true],
    ["a long tag behind a header that says where the sound ends", Buffer.concat([cbr, ape]), true],
    ["a variable bit rate without a header", bare, false],
    ["a header whose length is wrong", Buffer.concat([cbr, cbr]), false],
    ["zero bytes in front", Buffer.concat([Buffer.alloc(30_000), cbr]), false],
    [
      "a header of a variable bit rate",
      Buffer.from(cbr.toString("latin1").replace("Info", "Xing"), "latin1"),
      false,
    ],
  ];
  for (const [name, content, isKept] of cases) assert.equal(facts(content).isStoredForm, isKept, name);
});

test("mp3: tags in front, however many, and tags at the end are not audio", () => {
  const ape = Buffer.alloc(64);
  ape.write("APETAGEX", 0, "latin1");
  ape.writeUInt32LE(2000, 8);
  ape.writeUInt32LE(32, 12);
  ape.writeUInt32LE(0xa000_0000, 20);
  ape.copy(ape, 32, 0, 32);
  ape.writeUInt32LE(0x8000_0000, 52);
  const oldTag = Buffer.alloc(128);
  oldTag.write("TAG");
  const { durationMs } = facts(bare);
  for (const content of [
    Buffer.concat([tag(2000), bare]),
    Buffer.concat([tag(2000, 0xff), tag(10), tag(16_000), bare]),
    Buffer.concat([bare, ape, oldTag]),
    Buffer.concat([tag(5), ape, bare, tag(300)]),
  ])
    assert.equal(facts(content).durationMs, durationMs);
});

test("mp3: a tag that claims to be longer than the file is skipped as junk", () => {
  const lying = tag(100);
  lying.writeUInt32BE(0x7f7f_7f7f, 6);
  assert.equal(facts(Buffer.concat([lying, bare])).durationMs, facts(bare).durationMs);
});

test("mp3: a little junk before, between and after the frames is skipped", () => {
  const random = seeded(1);
  const junk = Buffer.from(Array.from({ length: 3000 }, () => random.below(256)));
  const frameBytes = 96;
  const cbr = fixture("good-cbr.mp3");
  const start = cbr.indexOf(Buffer.from([0xff, 0xf3]));
  const middle = start + 100 * 72;
  const content = Buffer.concat([junk, cbr.subarray(start, middle), junk, cbr.subarray(middle), junk]);
  const lost = facts(cbr).durationMs - facts(content).durationMs;
  // A frame or two around each cut.
  assert.ok(Math.abs(lost) <= (4 * 576_000) / 16_000, `${lost} ms, frames of ${frameBytes} bytes`);
});

test("mp3: a file with more junk than audio is not an mp3", () => {
  const junk = Buffer.alloc(200_000, 0x11);
  assert.match(reasonFor(Buffer.concat([good, junk]), audio), /are not mp3 audio/);
  assert.match(reasonFor(Buffer.alloc(2_000_000, 0x81), audio), /No mp3 audio was found/);
});

test("mp3: a truncated last frame is not counted, and a file cut at 60 % is reported as truncated", () => {
  const whole = facts(good).durationMs;
  assert.equal(facts(good.subarray(0, good.length - 128 - 10)).durationMs, whole - 26);
  const rest = reasonFor(good.subarray(0, good.length * 0.6), audio);
  assert.match(rest, /^The file breaks off: .* and 7\.\d+ seconds in \d+ bytes are there/);
});

test("mp3: recordings of different sample rates in one file add up", () => {
  const joined = facts(Buffer.concat([good.subarray(0, good.length - 128), bare]));
  assert.ok(Math.abs(joined.durationMs - facts(good).durationMs - facts(bare).durationMs) <= 1);
  assert.equal(joined.audio?.sampleRate, 44_100);
});

test("mp3: the free format is refused by name", () => {
  const frame = Buffer.alloc(700);
  frame.writeUInt32BE(0xfffb_00c4);
  assert.match(reasonFor(Buffer.concat(Array.from({ length: 500 }, () => frame)), audio), /free format/);
});
