import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installModel } from "../../server/processing/transcription/models/install.ts";
import type { BareSpeechTask } from "../bare-speech-process.ts";
import type { BenchPostgres } from "../database.ts";
import { takeTurns } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { putFile } from "../transfer.ts";
import { createUpload, type MediaServer, startMediaServer, untilRecording } from "./media-api.ts";
import { apiRequest } from "./requests.ts";

const fixtures = fileURLToPath(new URL("../../test/fixtures/speech/", import.meta.url));
const speech = join(fixtures, "espeak2.wav");

/** Two voices, a little less than 23 s. */
const clipSec = 22;
const sampleRate = 16_000;

/** The bare loop is as fast for ten minutes as for hours. */
const maxBareTimes = Math.ceil(600 / clipSec);

/** As `PARLEY_TRANSCRIPTION_THREADS` is by default. */
const threads = Math.min(availableParallelism(), 4);

/**
 * How fast the built-in engine transcribes a recording, from the recording to its transcript, against a bare loop over the
 * same engine with the same audio; and how much memory its process takes. The default model is tiny, so that everything
 * around the engine counts most: the target is for a model of the real size (`--speech-model`).
 */
export async function measureSpeech(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const { seconds, model } = sizes.speech;
  const modelFolder = model ?? join(fixtures, "tiny-transducer");
  const folder = join(postgres.folder, "speech");
  const media = await startMediaServer(postgres, "all", {
    name: "speech",
    env: { PARLEY_TRANSCRIPTION: "local", PARLEY_MAX_DURATION: "24h" },
    prepare: async (dataDir) => {
      await installModel(dataDir, "bench", { type: "folder", path: modelFolder });
    },
  });
  try {
    mkdirSync(folder, { recursive: true });
    const times = Math.max(1, Math.round(seconds / clipSec));
    const bareTimes = Math.min(times, maxBareTimes);
    const wav = repeatWav(join(folder, "bare.wav"), bareTimes);
    const mp3 = makeMp3(folder, times);
    const length = times * clipSec;
    const watch = watchEngine(media.server.pid);
    const growth = media.server.watchMemory();
    const compared = await takeTurns(
      sizes.rounds,
      async () => (bareTimes * clipSec) / (await recognizeBare({ model: modelFolder, wav, threads })),
      async () => length / (await transcribe(media, mp3)),
    );
    const engineMb = watch();
    const serverMb = growth();
    const name = `transcribe ${(length / 60).toFixed(0)} min with ${model === null ? "the tiny model" : "the given model"}`;
    return [
      ratioFigure(
        `${name}: speed to a bare loop`,
        " times real time",
        compared,
        model === null ? {} : { min: 0.9 },
      ),
      figure(`${name}: memory of the engine`, engineMb, megabytes(engineMb), " MB", { max: 2048 }),
      figure(`${name}: growth of the server`, serverMb, megabytes(serverMb), " MB", {}),
    ];
  } finally {
    await media.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const megabytes = (value: number | null): string => (value === null ? "not known" : `${value.toFixed(0)} MB`);

/** The samples of the clip. */
function clipSamples(): Buffer {
  return readFileSync(speech).subarray(44, 44 + 2 * clipSec * sampleRate);
}

function repeatWav(path: string, times: number): string {
  const header = readFileSync(speech).subarray(0, 44);
  writeFileSync(path, Buffer.concat([header, ...Array.from({ length: times }, clipSamples)]));
  return path;
}

function makeMp3(folder: string, times: number): string {
  const clip = join(folder, "clip.mp3");
  encodeClip(clip, {
    audio: {
      source: [
        ["amovie", `filename=${speech}`],
        ["atrim", `duration=${clipSec}`],
      ],
      codec: "libmp3lame",
      bitsPerSec: 128_000,
    },
  });
  return repeatClip(clip, { seconds: clipSec, times, path: join(folder, "long.mp3") });
}

/** @returns the seconds it took. */
async function recognizeBare(task: BareSpeechTask): Promise<number> {
  const child = fork(new URL("../bare-speech-process.ts", import.meta.url));
  try {
    child.send(task);
    const ended = once(child, "exit").then(() => {
      throw new Error("the bare loop ended; does the model's metadata fit its vocabulary?");
    });
    const [{ seconds, words }] = (await Promise.race([once(child, "message"), ended])) as [
      { seconds: number; words: number },
    ];
    if (words === 0) throw new Error("the bare loop recognized nothing");
    return seconds;
  } finally {
    if (child.connected) child.disconnect();
  }
}

/** @returns the seconds from the recording to its transcript. */
async function transcribe(media: MediaServer, path: string): Promise<number> {
  const upload = await createUpload(media, "audio");
  await putFile(path, upload.url, upload.headers);
  const id = await untilRecording(media, upload.id, 600_000);
  const startedAt = performance.now();
  const { url, headers } = apiRequest(media.server, media.data.made.token, "GET", "");
  for (;;) {
    const response = await fetch(new URL(`/_/api/v1/recordings/${id}`, url), { headers });
    const { transcript } = (await response.json()) as {
      transcript: { segments: number; transcription: { status: string; last_error: string | null } };
    };
    const { status, last_error } = transcript.transcription;
    if (status === "failed") throw new Error(`the transcription failed: ${last_error}`);
    if (status === "done") {
      if (transcript.segments === 0) throw new Error("the transcript is empty");
      break;
    }
    // The longer it takes, the less often, so that asking takes no time from the engine.
    await delay(Math.min(1000, Math.max(20, (performance.now() - startedAt) / 50)));
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await media.clear();
  return seconds;
}

/** How often the memory of the engine's process is read; the system keeps the peak. */
const watchMs = 50;

/** @returns what ends the watch and gives the most MiB that a process of the engine has had. Linux only: null elsewhere. */
function watchEngine(serverPid: number): () => number | null {
  if (process.platform !== "linux") return () => null;
  let peakMb: number | null = null;
  // Once it is found, no other process is looked at until it ends.
  let engine: string | null = null;
  const timer = setInterval(() => {
    const names = engine === null ? readdirSync("/proc") : [engine];
    engine = null;
    for (const name of names) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const isEngine = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("local/child.ts");
        const status = isEngine ? readFileSync(`/proc/${name}/status`, "utf8") : "";
        if (Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) !== serverPid) continue;
        engine = name;
        const kib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
        if (Number.isFinite(kib)) peakMb = Math.max(peakMb ?? 0, kib / 1024);
      } catch {
        // It has just ended.
      }
    }
  }, watchMs).unref();
  return () => {
    clearInterval(timer);
    return peakMb;
  };
}
