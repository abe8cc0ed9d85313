import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ValidationResult } from "./facts.ts";
import { MediaFailedError, renderMedia } from "./render/index.ts";
import { inspect } from "./render/inspect.ts";
import { silenceLibraries } from "./render/libav.ts";
import { render } from "./render/render.ts";
import { inFolder, inspect as inspectStored } from "./render/test/support.ts";
import { encodeFile, type TestFile, writeAmr } from "./test/encode.ts";
import { testFormats } from "./test/formats.ts";
import { memoryBytes } from "./validate/bytes.ts";
import { examine, resultOf } from "./validate/examine.ts";
import { sniff, sniffBytes } from "./validate/sniff.ts";
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
    if (error instanceof MediaFailedError) return { ok: false, reason: error.message };
    throw error;
  }
}

silenceLibraries();

for (const [name, file] of [...Object.entries(testFormats), ["voice.amr", null] as const])
  test(`${name} becomes an mp4 or mp3 of the same length; cut off, it is refused or plays as far as it goes`, () =>
    inFolder(async (folder) => {
      const path = join(folder, name);
      if (file === null) writeAmr(path);
      else encodeFile(path, file);
      const result = validateHere(path);
      assert.ok(result.ok, JSON.stringify(result));
      const { facts } = result;
      assert.ok(Math.abs(facts.durationMs - 12_000) < 250, String(facts.durationMs));
      const { mediaPath, durationMs } = await render({ inputPath: path, facts, outDir: folder }, () => {});
      assert.ok(mediaPath && Math.abs(durationMs - 12_000) < 300, String(durationMs));
      const stored = await inspectStored(mediaPath);
      assert.deepEqual(stored.codecs, file?.video === undefined ? [null, "mp3"] : ["avc", "aac"]);
      assert.ok(Math.abs(stored.durationSec - 12) < 0.3, String(stored.durationSec));
      truncateSync(path, Math.floor(statSync(path).size * 0.6));
      const cut = validateHere(path);
      if (cut.ok) assert.ok(cut.facts.durationMs < 11_000, String(cut.facts.durationMs));
      else assert.match(cut.reason, /^The (file|recording) /);
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
