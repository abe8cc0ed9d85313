import assert from "node:assert/strict";
import { test } from "node:test";
import { box, words } from "../test/files.ts";
import { readStreamDescription } from "./audio-config.ts";
import { children } from "./boxes.ts";
import { readSampleEntries, refuseOtherFiles } from "./codecs.ts";

function opened(content: Buffer) {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [only] = children(view, 0, content.length);
  assert.ok(only);
  return { view, box: only };
}

/** `esds` with an object type and the codec's own configuration. */
function esds(objectType: number, config: readonly number[]): Buffer {
  const specific = [5, config.length, ...config];
  const decoder = [4, 13 + specific.length, objectType, 0x15, ...Array(11).fill(0), ...specific];
  // The length of the outer descriptor in the long form that QuickTime writes.
  return box("esds", words(0), [3, 0x80, 0x80, 0x80, 3 + decoder.length, 0, 1, 0, ...decoder]);
}

function describe(objectType: number, config: readonly number[]) {
  const { view, box: found } = opened(esds(objectType, config));
  return readStreamDescription(view, found);
}

test("audio: AAC by its configuration, with band replication by its actual rate", () => {
  assert.deepEqual(describe(64, [0x11, 0x90]), { codec: "aac", channels: 2, sampleRate: 48_000 });
  // Object type 5, 24 kHz, stereo, extension 48 kHz, object type 2.
  assert.deepEqual(describe(64, [0x2b, 0x11, 0x88, 0]), { codec: "aac", channels: 2, sampleRate: 48_000 });
  // Parametric stereo: one channel is coded, two are heard.
  assert.deepEqual(describe(64, [0xeb, 0x09, 0x88, 0]), { codec: "aac", channels: 2, sampleRate: 48_000 });
});

test("audio: mp3 and other codecs labelled mp4a are reported by their real names", () => {
  assert.equal(describe(107, []).codec, "mp3");
  assert.equal(describe(165, []).codec, "ac3");
  assert.equal(describe(64, [0xf8, 0x46, 0x40, 0]).codec, "mp3");
  assert.equal(describe(200, []).codec, null);
});

test("audio: a configuration that ends early is damage", () => {
  assert.throws(() => describe(64, [0x11]), /ends too early/);
});

test("tracks: an encrypted one cannot be decoded, and neither can an unknown one", () => {
  const entry = (type: string): Buffer =>
    box("stsd", words(0, 1), box(type, Buffer.alloc(8), Buffer.alloc(20)));
  for (const [type, codec] of [
    ["enca", "encrypted"],
    ["zzzz", "zzzz"],
  ] as const) {
    const { view, box: stsd } = opened(entry(type));
    const [found] = readSampleEntries(view, stsd, "audio");
    assert.deepEqual([found?.codec, found?.isDecodable], [codec, false]);
  }
});

test("tracks: media in another file is refused", () => {
  const reference = (flags: number, name: string): Buffer =>
    box("dref", words(0, 1), box("url ", words(flags), Buffer.from(name)));
  const check = (content: Buffer): void => {
    const { view, box: dref } = opened(content);
    refuseOtherFiles(view, dref);
  };
  check(reference(1, ""));
  check(reference(0, "\0"));
  assert.throws(() => check(reference(0, "file:///etc/passwd\0")), /in another file/);
});
