import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isFullRun } from "../../../../test/support/full.ts";
import { MediaFailedError } from "./errors.ts";
import { damageTrack, fixture, inFolder, render } from "./test/support.ts";

/** Long, because a busy machine is not an error of the file. */
const timeoutMs = 60_000;

/** Seeded, so that a failure can be reproduced. */
const numbers = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

/** Ends in a result or in a message for users: no paths, no stack, no jargon of a library. */
const endOf = async (path: string, outDir: string): Promise<string> => {
  try {
    await render(path, outDir, { timeoutMs });
    return "result";
  } catch (error) {
    assert.ok(error instanceof MediaFailedError, `${path}: ${String(error)}`);
    assert.match(error.message, /^[A-Z][^/\\\n]+\.$/);
    return error.message;
  }
};

const names = [
  "render/black-start.mp4",
  "render/fragmented.mp4",
  "onestep-mpeg4-pcm.mov",
  "onestep-aac.m4a",
  "render/tone.mp3",
];

/** How many damaged files are rendered. */
const count = isFullRun ? 40 : 20;

test(`${count} damaged files: each ends in a result or a reason`, async () => {
  await inFolder(async (folder) => {
    const random = numbers(20_260_101);
    const jobs = Array.from({ length: count }, (_, i) => {
      const name = names[i % names.length] as string;
      const bytes = readFileSync(fixture(name));
      // Half of them damaged in the headers, where it does the most harm.
      const reach = random() < 0.5 ? Math.min(4000, bytes.length) : bytes.length;
      for (let hit = 0; hit < 1 + random() * 30; hit++) {
        bytes[Math.floor(random() * reach)] = Math.floor(random() * 256);
      }
      const path = join(folder, `${i}${name.slice(name.lastIndexOf("."))}`);
      writeFileSync(path, random() < 0.2 ? bytes.subarray(0, random() * bytes.length) : bytes);
      return path;
    });
    const ends: string[] = [];
    const work = async (): Promise<void> => {
      for (let path = jobs.pop(); path !== undefined; path = jobs.pop()) {
        ends.push(await endOf(path, `${path}.out`));
      }
    };
    await Promise.all([work(), work()]);
    assert.ok(ends.filter((end) => end === "result").length >= count / 2, ends.join("\n"));
    assert.ok(ends.some((end) => end !== "result"));
  });
});

test("a file with a damaged part in the middle becomes a recording", async () => {
  await inFolder(async (folder) => {
    for (const name of ["render/black-start.mp4", "render/tone.mp3"]) {
      const bytes = readFileSync(fixture(name));
      bytes.fill(0, Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.6));
      const path = join(folder, name.replace("/", "-"));
      writeFileSync(path, bytes);
      assert.equal(await endOf(path, `${path}.out`), "result");
    }
  });
});

test("a video whose sound is damaged throughout is complete without a waveform", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "film.mp4");
    writeFileSync(path, damageTrack(fixture("good-faststart.mp4"), "audio"));
    const { durationMs, thumbnail, storyboard, waveform, failures } = await render(path, folder);
    assert.equal(durationMs, 12_000);
    assert.ok(thumbnail && storyboard);
    assert.equal(waveform, null);
    assert.equal(failures[0]?.companion, "waveform");
    assert.match(failures[0]?.detail ?? "", /The audio can't be decoded/);
  });
});

test("nothing intact: the reason names what cannot be decoded", async () => {
  await inFolder(async (folder) => {
    const film = readFileSync(fixture("render/black-start.mp4"));
    film.fill(0, film.indexOf("mdat") + 4);
    writeFileSync(join(folder, "film.mp4"), film);
    assert.match(await endOf(join(folder, "film.mp4"), folder), /^The (audio|video) can't be decoded/);

    const foreign = readFileSync(fixture("render/hevc10.mov"));
    foreign.fill(0, foreign.indexOf("mdat") + 4, foreign.lastIndexOf("moov") - 4);
    writeFileSync(join(folder, "foreign.mov"), foreign);
    assert.match(await endOf(join(folder, "foreign.mov"), folder), /can't be decoded/);
  });
});

test("a playlist or a script under another name is not followed", async () => {
  await inFolder(async (folder) => {
    const texts = [
      "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n/etc/passwd\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile /etc/passwd\n",
    ];
    for (const [i, text] of texts.entries()) {
      for (const ending of ["mp4", "mp3"]) {
        const path = join(folder, `${i}.${ending}`);
        writeFileSync(path, text);
        assert.match(await endOf(path, folder), /can't be read|no audio track|can't be decoded/);
      }
    }
  });
});
