import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { MediaContainer } from "../../../shared/files/media-formats.ts";
import { readWav } from "../../../test/support/wav.ts";
import type { MediaFacts, MediaPart } from "../../platform/db/json-columns.ts";
import { silenceLibraries } from "./render/libav.ts";
import { render } from "./render/render.ts";
import { factsOf, inFolder, inspect } from "./render/test/support.ts";
import { soundOf } from "./render/test/tones-in.ts";
import { encodeFile, type TestFile } from "./test/encode.ts";

silenceLibraries();

interface TestPart extends TestFile {
  readonly container: MediaContainer;
  readonly speaker?: string;
}

/** Encodes files and puts them behind each other, as a client sends them. */
function encodeParts(folder: string, files: readonly TestPart[]): { path: string; parts: MediaPart[] } {
  const path = join(folder, "upload");
  let start = 0;
  const parts = files.map(({ container, speaker = null, ...file }): MediaPart => {
    const one = join(folder, "one");
    encodeFile(one, file);
    writeFileSync(path, readFileSync(one), { flag: "a" });
    const end = start + statSync(one).size;
    const part = { start, end, container, speaker, durationMs: (file.seconds ?? 12) * 1000 };
    start = end;
    return part;
  });
  return { path, parts };
}

const renderParts = (folder: string, files: readonly TestPart[], facts: Partial<MediaFacts>) => {
  const { path, parts } = encodeParts(folder, files);
  const durationMs = parts.reduce((sum, part) => sum + (part.speaker === null ? part.durationMs : 0), 0);
  const all = { ...factsOf("a.mp4"), isStoredForm: false, durationMs, parts, ...facts };
  return render({ inputPath: path, outDir: folder, facts: all }, () => {});
};

/** The level of each second of each channel of a file's sound; one channel where they are mixed. */
function levelsOf(inputPath: string, outDir: string): Map<number, number[]> {
  return new Map(
    soundOf(inputPath, outDir).map(({ path, channel = 0 }) => {
      const { samples } = readWav(readFileSync(path));
      const levels = Array.from({ length: Math.round(samples.length / 16_000) }, (_, sec) => {
        const second = samples.subarray(sec * 16_000 + 3200, sec * 16_000 + 12_800);
        return Math.sqrt(second.reduce((sum, value) => sum + value * value, 0) / second.length) / 32_768;
      });
      return [channel, levels] as const;
    }),
  );
}

const marks = (levels: readonly number[] | undefined) =>
  levels?.map((level) => (level > 0.1 ? "x" : ".")).join("");
const tone = (codec: string, from: number, to: number) => ({
  codec,
  sounds: (sec: number) => sec >= from && sec < to,
});

test("two videos of different formats and sizes are joined, with the sound of each at its time", () =>
  inFolder(async (folder) => {
    const { mediaPath, durationMs } = await renderParts(
      folder,
      [
        {
          container: "webm",
          format: "webm",
          seconds: 5,
          video: { codec: "libvpx" },
          audio: [tone("libopus", 0, 2)],
          options: { live: 1 },
        },
        {
          container: "mp4",
          format: "mp4",
          seconds: 6,
          video: { codec: "libx264", width: 64, height: 64 },
          audio: [tone("aac", 3, 6)],
        },
      ],
      { container: "webm" },
    );
    assert.ok(mediaPath && Math.abs(durationMs - 11_000) < 200, String(durationMs));
    const stored = await inspect(mediaPath);
    assert.deepEqual(
      [stored.codecs, stored.size],
      [
        ["avc", "aac"],
        [160, 90],
      ],
    );
    assert.ok(Math.abs(stored.videoPackets - 55) <= 2, String(stored.videoPackets));
    assert.equal(marks(levelsOf(mediaPath, folder).get(0)), "xx......xxx");
  }));

test("sound files are joined to an mp3", () =>
  inFolder(async (folder) => {
    const { mediaPath, durationMs } = await renderParts(
      folder,
      [
        { container: "wav", format: "wav", seconds: 4, audio: [tone("pcm_s16le", 1, 2)] },
        { container: "mp3", format: "mp3", seconds: 4, audio: [tone("libmp3lame", 2, 3)] },
      ],
      { container: "wav", mediaType: "audio", video: null },
    );
    assert.ok(mediaPath && Math.abs(durationMs - 8000) < 150, String(durationMs));
    assert.equal(marks(levelsOf(mediaPath, folder).get(0))?.slice(0, 8), ".x....x.");
  }));

test("several audio tracks are mixed; as speakers, each also has a channel for speech models", () =>
  inFolder(async (folder) => {
    const path = join(folder, "tracks.mkv");
    encodeFile(path, {
      format: "matroska",
      video: { codec: "libx264" },
      audio: [tone("aac", 0, 3), tone("aac", 5, 8), tone("aac", 7, 12)],
    });
    const track = { codec: "aac", channels: 1, title: null, language: null };
    const facts = {
      ...factsOf("a.mp4"),
      isStoredForm: false,
      container: "mkv",
      audioTracks: [track, track, track],
    } as const;
    const mixed = await render({ inputPath: path, outDir: folder, facts, audioTracks: "mix" }, () => {});
    assert.equal(mixed.speechPath, null);
    assert.equal(marks(levelsOf(mixed.mediaPath ?? "", folder).get(0)), "xxx..xxxxxxx");
    const apart = await render({ inputPath: path, outDir: folder, facts, audioTracks: "speakers" }, () => {});
    const levels = levelsOf(apart.speechPath ?? "", folder);
    assert.deepEqual([...levels.keys()], [0, 1, 2]);
    assert.deepEqual(
      [...levels.values()].map((channel) => marks(channel)),
      ["xxx.........", ".....xxx....", ".......xxxxx"],
    );
    // A track that was found empty has no channel: the others keep theirs.
    const known = [1, 3].map((stream) => ({ ...track, stream }));
    const some = await render(
      { inputPath: path, outDir: folder, facts: { ...facts, audioTracks: known }, audioTracks: "speakers" },
      () => {},
    );
    assert.deepEqual(
      [...levelsOf(some.speechPath ?? "", folder).values()].map((channel) => marks(channel)),
      ["xxx.........", ".......xxxxx"],
    );
  }));

test("a speaker's track whose channels are opposite is heard in its channel", () =>
  inFolder(async (folder) => {
    const path = join(folder, "tracks.mkv");
    const inverted = { ...tone("aac", 0, 4), channels: 2, isInverted: true } as const;
    encodeFile(path, { format: "matroska", audio: [inverted, tone("aac", 6, 9)] });
    const track = { codec: "aac", channels: 1, title: null, language: null };
    const facts = {
      ...factsOf("a.mp3"),
      isStoredForm: false,
      container: "mkv",
      audioTracks: [track, track],
    } as const;
    const { speechPath } = await render(
      { inputPath: path, outDir: folder, facts, audioTracks: "speakers" },
      () => {},
    );
    assert.deepEqual(
      [...levelsOf(speechPath ?? "", folder).values()].map((channel) => marks(channel)),
      ["xxxx........", "......xxx..."],
    );
  }));

test("separate files of speakers leave the recording as it is, and become channels", () =>
  inFolder(async (folder) => {
    const { mediaPath, speechPath, durationMs } = await renderParts(
      folder,
      [
        { container: "mp4", format: "mp4", video: { codec: "libx264" }, audio: [tone("aac", 0, 12)] },
        { container: "m4a", format: "mp4", speaker: "Ada", audio: [tone("aac", 0, 4)] },
        { container: "m4a", format: "mp4", speaker: "Ben", audio: [tone("aac", 6, 9)] },
      ],
      {},
    );
    assert.equal(durationMs, 12_000);
    assert.equal(marks(levelsOf(mediaPath ?? "", folder).get(0)), "xxxxxxxxxxxx");
    assert.deepEqual(
      [...levelsOf(speechPath ?? "", folder).values()].map((channel) => marks(channel)),
      ["xxxx........", "......xxx..."],
    );
  }));
