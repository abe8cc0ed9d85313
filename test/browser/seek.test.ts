import assert from "node:assert/strict";
import { createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { silenceLibraries } from "../../server/processing/media/render/libav.ts";
import { render } from "../../server/processing/media/render/render.ts";
import { inFolder } from "../../server/processing/media/render/test/support.ts";
import { encodeFile, type TestFile } from "../../server/processing/media/test/encode.ts";
import { memoryBytes } from "../../server/processing/media/validate/bytes.ts";
import { examine } from "../../server/processing/media/validate/examine.ts";
import { launchChromium, noChromium } from "../support/chromium.ts";

const seconds = 60;
/** Each second has a tone of its own, so that what is heard tells the time. */
const hz = (sec: number) => 400 + 40 * Math.floor(sec);
/** Silence in parts, so that the encoder's bit rate varies. */
const sounds = (sec: number) => sec < 5 || sec >= 35;
const vbr = { flags: "+qscale", global_quality: 118 * 5 };
const mp3 = (audio: Partial<NonNullable<TestFile["audio"]>[number]>, options = {}): TestFile => ({
  format: "mp3",
  seconds,
  audio: [{ codec: "libmp3lame", hz, ...audio }],
  options,
});

const files: Readonly<Record<string, { readonly file: TestFile; readonly isKept: boolean }>> = {
  "a constant bit rate": { file: mp3({}), isKept: true },
  "a constant bit rate without a header": { file: mp3({}, { write_xing: 0 }), isKept: true },
  "a variable bit rate": { file: mp3({ options: vbr, sounds }), isKept: false },
  "a variable bit rate without a header": {
    file: mp3({ options: vbr, sounds }, { write_xing: 0 }),
    isKept: false,
  },
  "an mp4": {
    file: {
      format: "mp4",
      seconds,
      video: { codec: "libx264", keyframeSec: 5 },
      audio: [{ codec: "aac", hz }],
      options: { movflags: "+faststart" },
    },
    isKept: true,
  },
};

test(
  "the browser's player shows the length of every stored file and plays the second that it seeks to",
  { skip: noChromium },
  () =>
    inFolder(async (folder) => {
      silenceLibraries();
      const stored: Record<string, string> = {};
      for (const [name, { file, isKept }] of Object.entries(files)) {
        const path = join(folder, name);
        encodeFile(path, file);
        const { path: played, isKept: wasKept } = await store(path, join(folder, `of ${name}`));
        stored[name] = played;
        assert.equal(wasKept, isKept, name);
      }
      const joined = join(folder, "joined");
      const part = (index: number) => {
        const path = join(folder, `part ${index}`);
        encodeFile(path, {
          ...mp3({ hz: (sec) => hz(sec + index * 30), options: index === 0 ? {} : { b: 96_000 } }),
          seconds: 30,
        });
        return readFileSync(path);
      };
      writeFileSync(joined, Buffer.concat([part(0), part(1)]));
      stored.joined = (await store(joined, join(folder, "of joined"))).path;
      for (const [name, heard] of Object.entries(await play(stored))) {
        assert.ok(Math.abs(heard.durationSec - seconds) < 0.5, `${name}: ${JSON.stringify(heard)}`);
        assert.ok(Math.abs(heard.second - 51) < 0.6, `${name}: ${JSON.stringify(heard)}`);
      }
    }),
);

/** Validates and renders a file as an upload. @returns what a browser gets. */
async function store(path: string, outDir: string): Promise<{ path: string; isKept: boolean }> {
  mkdirSync(outDir);
  const result = examine(
    memoryBytes(readFileSync(path)),
    { kind: "any" },
    { maxDurationSec: 3600, maxBytes: 2 ** 30 },
  );
  assert.ok(result.ok, JSON.stringify(result));
  const { mediaPath } = await render({ inputPath: path, facts: result.facts, outDir }, () => {});
  return { path: mediaPath ?? path, isKept: mediaPath === null };
}

interface Heard {
  readonly durationSec: number;
  readonly second: number;
}

/** Runs in the page. */
const listenAll = `async (names) => Object.fromEntries(await Promise.all(names.map(async (name) => {
  const media = document.createElement("video");
  media.src = "/" + encodeURIComponent(name);
  await new Promise((done, fail) => {
    media.onloadedmetadata = done;
    media.onerror = () => fail(new Error(name + ": " + media.error?.message));
  });
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 4096;
  const mute = context.createGain();
  mute.gain.value = 0;
  context.createMediaElementSource(media).connect(analyser).connect(mute).connect(context.destination);
  media.currentTime = 51.3;
  await new Promise((done) => media.addEventListener("seeked", done, { once: true }));
  await media.play();
  while (media.currentTime < 51.6) await new Promise((done) => requestAnimationFrame(done));
  const levels = new Float32Array(analyser.frequencyBinCount);
  analyser.getFloatFrequencyData(levels);
  media.pause();
  const frequency = (levels.indexOf(Math.max(...levels)) * context.sampleRate) / analyser.fftSize;
  const heard = { durationSec: media.duration, second: (frequency - 400) / 40 };
  await context.close();
  return [name, heard];
})))`;

/** Seeks each file to 51.3 s in the browser. @returns its length, and the second whose tone is heard. */
async function play(paths: Record<string, string>) {
  const server = createServer((request, response) => {
    const path = paths[decodeURIComponent((request.url ?? "").slice(1))];
    if (path === undefined) {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
      return;
    }
    const { size } = statSync(path);
    const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "bytes=0-") ?? [];
    const [start, end] = [Number(from), to === "" ? size - 1 : Number(to)];
    response.writeHead(206, {
      "accept-ranges": "bytes",
      "content-length": end - start + 1,
      "content-range": `bytes ${start}-${end}/${size}`,
    });
    createReadStream(path, { start, end }).pipe(response);
  }).listen(0, "127.0.0.1");
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`);
    return await page.evaluate<Record<string, Heard>>(
      `(${listenAll})(${JSON.stringify(Object.keys(paths))})`,
    );
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
