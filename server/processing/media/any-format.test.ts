import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sniff, sniffBytes } from "../../../shared/files/media-content.ts";
import type { ValidationResult } from "./facts.ts";
import { MediaFailedError, renderMedia } from "./render/index.ts";
import { inspect } from "./render/inspect.ts";
import { silenceLibraries } from "./render/libav.ts";
import { render } from "./render/render.ts";
import { inFolder, inspect as inspectStored } from "./render/test/support.ts";
import { tonesIn } from "./render/test/tones-in.ts";
import { encodeFile, type TestFile, writeAmr, writeGsm } from "./test/encode.ts";
import { testFormats } from "./test/formats.ts";
import { memoryBytes } from "./validate/bytes.ts";
import { examine, resultOf } from "./validate/examine.ts";
import { validateAny } from "./validate-any.ts";

const limits = { maxDurationSec: 3600, maxBytes: 2 ** 30 };
const any = { kind: "any" } as const;

/** Validates in the confined child process, as the server does. */
const validateConfined = (path: string, outDir: string, allowed = limits) => {
  const bytes = readFileSync(path);
  const source = {
    size: bytes.length,
    path,
    read: async (start: number, end: number) => bytes.subarray(start, end + 1),
  };
  return validateAny(source, allowed, async () => ({ inputPath: path, outDir }));
};

/** The same in this process, which is quicker. */
function validateHere(path: string): ValidationResult {
  const bytes = readFileSync(path);
  const type = sniff(bytes.subarray(0, sniffBytes));
  if (type.family !== "converted") return examine(memoryBytes(bytes), any, limits);
  try {
    return resultOf(
      inspect({ inputPath: path, container: type.container }, () => {}),
      any,
      limits,
    );
  } catch (error) {
    if (error instanceof MediaFailedError) return { ok: false, reason: error.message, causes: [error.cause] };
    throw error;
  }
}

silenceLibraries();

const handmade = { "voice.amr": writeAmr, "telephone GSM.wav": writeGsm };

for (const [name, file] of [...Object.entries(testFormats), ...Object.entries(handmade)])
  test(`${name} becomes an mp4 or mp3 of the same length; cut off, it is refused or plays as far as it goes`, () =>
    inFolder(async (folder) => {
      const path = join(folder, name);
      if (typeof file === "function") file(path);
      else encodeFile(path, file);
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      const { facts } = result;
      assert.ok(Math.abs(facts.durationMs - 12_000) < 250, String(facts.durationMs));
      const { mediaPath, durationMs } = await render({ inputPath: path, facts, outDir: folder }, () => {});
      assert.ok(mediaPath && Math.abs(durationMs - 12_000) < 300, String(durationMs));
      const stored = await inspectStored(mediaPath);
      assert.deepEqual(
        stored.codecs,
        typeof file === "function" || file.video === undefined ? [null, "mp3"] : ["avc", "aac"],
      );
      assert.ok(Math.abs(stored.durationSec - 12) < 0.3, String(stored.durationSec));
      truncateSync(path, Math.floor(statSync(path).size * 0.6));
      const cut = validateHere(path);
      if (cut.ok) assert.ok(cut.facts.durationMs < 11_000, String(cut.facts.durationMs));
      else assert.match(cut.reason, /^The (file|recording) /);
    }));

test("a WAV file whose header states a wrong length is read to its end, and a chunk behind the sound is not", () =>
  inFolder((folder) => {
    const path = join(folder, "sound.wav");
    encodeFile(path, testFormats["pcm.wav"] as TestFile);
    const whole = readFileSync(path);
    const at = whole.indexOf("data") + 4;
    const durationMs = 11_968;
    for (const stated of [0, 0xffff_ffff, 50_000, 1_000_000]) {
      const wrong = Buffer.from(whole);
      wrong.writeUInt32LE(stated, at);
      writeFileSync(path, wrong);
      const result = validateHere(path);
      assert.ok(result.ok && result.facts.durationMs === durationMs, `${stated}: ${JSON.stringify(result)}`);
    }
    const list = Buffer.concat([Buffer.from("LIST"), Buffer.from([0, 0, 2, 0]), Buffer.alloc(131_072, 1)]);
    writeFileSync(path, Buffer.concat([whole, list]));
    const result = validateHere(path);
    assert.ok(result.ok && result.facts.durationMs === durationMs, JSON.stringify(result));
    return Promise.resolve();
  }));

test("confined: what a browser records is converted; a file above the limits is refused before any work", () =>
  inFolder(async (folder) => {
    const path = join(folder, "recording.webm");
    encodeFile(path, testFormats["recorded by a browser.webm"] as TestFile);
    const tooLarge = await validateConfined(path, join(folder, "none"), { ...limits, maxBytes: 1000 });
    assert.ok(!tooLarge.ok && /at most 1000 bytes/.test(tooLarge.reason));
    assert.ok(!existsSync(join(folder, "none")), "no process was started");
    const tooLong = await validateConfined(path, folder, { ...limits, maxDurationSec: 11 });
    assert.ok(!tooLong.ok && /at most 11 seconds are allowed/.test(tooLong.reason));
    const result = await validateConfined(path, folder);
    assert.ok(result.ok);
    const { mediaPath } = await renderMedia({ inputPath: path, facts: result.facts, outDir: folder });
    const { codecs, keyframesSec, durationSec } = await inspectStored(mediaPath ?? "");
    assert.deepEqual(codecs, ["avc", "aac"]);
    const gaps = keyframesSec.map((sec, index) => (keyframesSec[index + 1] ?? durationSec) - sec);
    assert.ok(Math.max(...gaps) <= 2.5, keyframesSec.join(" "));
  }));

test("facts of several audio tracks and of the start time come from the container", () =>
  inFolder(async (folder) => {
    for (const format of ["matroska", "mov"]) {
      const path = join(folder, format);
      const voice = { codec: "aac", sampleRate: 16_000 };
      encodeFile(path, {
        format,
        audio: [{ ...voice, title: "Microphone" }, voice],
        tags: { creation_time: "2026-03-04T05:06:07.000000Z" },
      });
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      assert.equal(result.facts.startedAt, "2026-03-04T05:06:07.000Z");
      assert.equal(result.facts.audioTracks?.length, 2);
      if (format === "matroska") assert.equal(result.facts.audioTracks?.[0]?.title, "Microphone");
    }
  }));

test("streams that stand one after the other in a file are a recording of their whole length", () =>
  inFolder(async (folder) => {
    const join2 = (name: string, ...files: readonly TestFile[]): string => {
      const path = join(folder, name);
      for (const file of files) {
        encodeFile(join(folder, "one"), file);
        appendFileSync(path, readFileSync(join(folder, "one")));
      }
      return path;
    };
    const opus = { format: "ogg", seconds: 7, audio: [{ codec: "libopus" }] };
    const flac = {
      format: "ogg",
      seconds: 6,
      audio: [{ codec: "flac", hz: 900, sampleRate: 44_100, sounds: (sec: number) => sec >= 1 }],
    };
    const webm = {
      format: "webm",
      seconds: 6,
      video: { codec: "libvpx" },
      audio: [{ codec: "libopus" }],
      options: { live: 1 },
    };
    const free = { format: "flac", seconds: 6, audio: [{ codec: "flac" }] };
    for (const [path, seconds] of [
      [join2("three.ogg", opus, opus, flac), 20],
      [join2("two.webm", webm, webm), 12],
      [join2("two.flac", free, free), 12],
    ] as const) {
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      assert.ok(Math.abs(result.facts.durationMs - seconds * 1000) < 150, String(result.facts.durationMs));
      const { mediaPath } = await render({ inputPath: path, facts: result.facts, outDir: folder }, () => {});
      const { durationSec } = await inspectStored(mediaPath ?? "");
      assert.ok(Math.abs(durationSec - seconds) < 0.25, String(durationSec));
      const tones = tonesIn(mediaPath ?? "", folder);
      const endMs = tones.at(-1)?.endMs ?? 0;
      assert.ok(Math.abs(endMs - seconds * 1000) < 250, `the last sound is at the end: ${endMs}`);
      if (path.endsWith("ogg"))
        assert.ok(tones.some(({ hz, startMs }) => hz === 900 && Math.abs(startMs - 15_000) < 250));
    }
    // The last stream has no intact header: the others are the recording.
    const path = join2("damaged.ogg", opus, opus, opus);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, bytes.lastIndexOf("OpusHead") + 8, bytes.lastIndexOf("OpusTags") + 8));
    const result = validateHere(path);
    assert.ok(result.ok && result.facts.parts?.length === 2, JSON.stringify(result));
    assert.ok(Math.abs(result.facts.durationMs - 14_000) < 150, String(result.facts.durationMs));
  }));

test("a file that begins late counts from its first track, as mp4 and as mov, and its tracks keep their distance", () =>
  inFolder(async (folder) => {
    const lengths: number[] = [];
    for (const format of ["mp4", "mov", "matroska"]) {
      const path = join(folder, format);
      encodeFile(path, {
        format,
        video: { codec: "libx264" },
        audio: [{ codec: "aac", sounds: (sec) => sec >= 3 }],
        options: { output_ts_offset: "5" },
      });
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      const { facts } = result;
      const { mediaPath, durationMs, waveform } = await render(
        { inputPath: path, facts, outDir: folder },
        () => {},
      );
      lengths.push(Math.round(facts.durationMs / 100), Math.round(durationMs / 100));
      const { durationSec } = await inspectStored(mediaPath ?? "");
      assert.ok(Math.abs(durationSec - 12) < 0.1, String(durationSec));
      const { peaks, peaks_per_second } = JSON.parse(readFileSync(waveform?.path ?? "", "utf8"));
      const loud = peaks.findIndex((peak: number) => peak > 50) / peaks_per_second;
      assert.ok(Math.abs(loud - 3) < 0.15, `the sound begins at ${loud} in the waveform`);
      const [tone] = tonesIn(mediaPath ?? "", folder);
      assert.ok(Math.abs((tone?.startMs ?? 0) - 3000) < 150, "and for speech models");
    }
    assert.deepEqual(lengths, [120, 120, 120, 120, 120, 120]);
  }));

test("a track that can't be decoded, though it is marked as the main one, leaves the others as the recording", () =>
  inFolder(async (folder) => {
    const path = join(folder, "two.mov");
    encodeFile(path, {
      format: "mov",
      video: { codec: "libx264" },
      audio: [
        { codec: "aac", hz: 450 },
        { codec: "aac", hz: 900, channels: 2 },
      ],
    });
    const bytes = readFileSync(path);
    // The larger track gets a codec that nobody knows.
    const entry = bytes.lastIndexOf("mp4a");
    bytes.write("zzzz", entry, "latin1");
    bytes.write("zzzz", bytes.indexOf("esds", entry), "latin1");
    writeFileSync(path, bytes);
    const result = validateHere(path);
    assert.ok(result.ok, JSON.stringify(result));
    const { mediaPath } = await render({ inputPath: path, facts: result.facts, outDir: folder }, () => {});
    assert.deepEqual((await inspectStored(mediaPath ?? "")).codecs, ["avc", "aac"]);
    assert.deepEqual([...new Set(tonesIn(mediaPath ?? "", folder).map(({ hz }) => hz))], [450]);
  }));

test("the title that a file states is read from every kind of container; a program's name is none", () =>
  inFolder(async (folder) => {
    const audio = [{ codec: "aac" }];
    const kinds: readonly (readonly [format: string, codec: string, options?: TestFile["options"]])[] = [
      ...(["matroska", "mov", "mp4"] as const).map((format) => [format, "aac"] as const),
      ["mp3", "libmp3lame", { id3v2_version: 3 }],
      ["mp3", "libmp3lame", { id3v2_version: 4 }],
      ["ogg", "libvorbis"],
      ["asf", "wmav2"],
    ];
    for (const [format, codec, options = {}] of kinds) {
      const path = join(folder, format);
      const file = { format, audio: [{ ...audio[0], codec, sampleRate: 44_100 }], options };
      for (const [title, expected] of [
        ["Café board 会議", "Café board 会議"],
        ["Zoom Meeting", undefined],
      ] as const) {
        encodeFile(path, { ...file, tags: { title } });
        const result = validateHere(path);
        assert.ok(result.ok, JSON.stringify(result));
        assert.equal(result.facts.title, expected, format);
      }
    }
  }));

test("what is playable of a file that was cut off is kept, with how much; a whole file is not marked", () =>
  inFolder(async (folder) => {
    const video = { codec: "libx264", keyframeSec: 1 };
    const audio = [{ codec: "aac" }];
    const fragmented = { movflags: "frag_keyframe+empty_moov" };
    for (const [name, file, expectedMs] of [
      ["obs.mp4", { format: "mp4", video, audio, options: fragmented, seconds: 15 }, null],
      ["finished.mkv", { format: "matroska", video, audio, seconds: 15 }, 15_000],
      ["sound.mp3", { format: "mp3", audio: [{ codec: "libmp3lame" }], seconds: 15 }, 15_000],
      ["sound.flac", { format: "flac", audio: [{ codec: "flac" }], seconds: 15 }, 15_000],
      ["sound.aiff", { format: "aiff", audio: [{ codec: "pcm_s16be" }], seconds: 15 }, 15_000],
      ["sound.wav", { format: "wav", audio: [{ codec: "pcm_s16le" }], seconds: 15 }, 15_000],
      ["sound.ogg", { format: "ogg", audio: [{ codec: "libopus" }], seconds: 15 }, null],
      ["sound.aac", { format: "adts", audio, seconds: 15 }, null],
      ["video.ts", { format: "mpegts", video, audio, seconds: 15 }, null],
    ] as const) {
      const path = join(folder, name);
      encodeFile(path, file);
      const whole = validateHere(path);
      assert.ok(whole.ok && whole.facts.endsEarly === undefined, JSON.stringify(whole));
      const all = readFileSync(path);
      truncateSync(path, Math.floor(all.length * 0.8));
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      const { durationMs, endsEarly } = result.facts;
      assert.ok(durationMs > 10_500 && durationMs < 13_500, String(durationMs));
      assert.ok(endsEarly !== undefined, name);
      const expected = endsEarly.expected_ms;
      assert.ok(
        expectedMs === null ? expected === null : Math.abs((expected ?? 0) - expectedMs) < 300,
        String(expected),
      );
      const rendered = await render({ inputPath: path, facts: result.facts, outDir: folder }, () => {});
      assert.ok(Math.abs(rendered.durationMs - durationMs) < 700, `${rendered.durationMs} of ${durationMs}`);
      const kind = name.endsWith(".mp3") ? "audio" : "video";
      const strict = examine(memoryBytes(all.subarray(0, all.length * 0.8)), { kind }, limits);
      assert.ok(!strict.ok, "the contract's uploads need the whole file");
    }
    const path = join(folder, "indexed.mp4");
    encodeFile(path, { format: "mp4", video, audio, options: { movflags: "+faststart" } });
    truncateSync(path, Math.floor(statSync(path).size * 0.8));
    const cut = validateHere(path);
    assert.ok(!cut.ok && /whole file/.test(cut.reason), "its index tells that the transfer was cut");
  }));
