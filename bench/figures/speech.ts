import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installModel } from "../../server/processing/models/install.ts";
import { appRequest, ask, type Client, createUpload, putFile, untilRecording } from "../api.ts";
import type { Bench } from "../bench.ts";
import { makeUser } from "../data/people.ts";
import { median } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure } from "../report.ts";

const fixtures = fileURLToPath(new URL("../../test/fixtures/speech/", import.meta.url));
const speech = join(fixtures, "espeak2.wav");

/** Two voices, a little less than 23 s. */
const maxClipSec = 22;

/**
 * How fast the built-in engine transcribes a recording, from the recording to its transcript, and how much memory its
 * process takes. The default model is tiny, so that everything around the engine counts most: the targets are for a model of
 * the real size (`--speech-model`).
 */
export async function measureSpeech({ postgres, start, sizes }: Bench): Promise<Figure[]> {
  const { seconds, model } = sizes.speech;
  const data = await postgres.database("parley_speech", "1", (db) =>
    makeUser(db, "Northwind", "northwind.example"),
  );
  const folder = join(postgres.folder, data.connection.database);
  mkdirSync(folder, { recursive: true });
  await installModel(folder, "bench", { type: "folder", path: model ?? join(fixtures, "tiny-transducer") });
  const server = await start(data, { PARLEY_TRANSCRIPTION: "local", PARLEY_MAX_DURATION: "24h" });
  const client: Client = { server, token: data.made.token };
  const clipSec = Math.min(maxClipSec, seconds);
  const times = Math.round(seconds / clipSec);
  const mp3 = makeMp3(folder, clipSec, times);
  const watch = watchEngine(server.pid);
  const growth = server.watchMemory();
  const speeds: number[] = [];
  for (let round = 0; round < sizes.rounds; round += 1)
    speeds.push((times * clipSec) / (await transcribe(client, mp3)));
  const engineMb = watch();
  const serverMb = growth();
  await server.stop();
  const name = `transcribe ${((times * clipSec) / 60).toFixed(0)} min with ${model === null ? "the tiny model" : "the given model"}`;
  const speed = median(speeds);
  return [
    figure(`${name}: speed`, speed, `${speed.toFixed(1)} times real time`, " times real time", {}),
    figure(`${name}: memory of the engine`, engineMb, megabytes(engineMb), " MB", { max: 2048 }),
    figure(`${name}: growth of the server`, serverMb, megabytes(serverMb), " MB", {}),
  ];
}

const megabytes = (value: number | null): string => (value === null ? "not known" : `${value.toFixed(0)} MB`);

function makeMp3(folder: string, clipSec: number, times: number): string {
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

/** @returns the seconds from the recording to its transcript. */
async function transcribe(client: Client, path: string): Promise<number> {
  const { id: uploadId, media } = await createUpload(client, "audio");
  await putFile(path, media.upload);
  const id = await untilRecording(client, uploadId);
  const startedAt = performance.now();
  for (;;) {
    const { transcript } = await ask<{
      transcript: { segments: number; transcription: { status: string; last_error: string | null } };
    }>(appRequest(client, "GET", `/recordings/${id}`));
    const { status, last_error } = transcript.transcription;
    if (status === "failed") throw new Error(`the transcription failed: ${last_error}`);
    const seconds = (performance.now() - startedAt) / 1000;
    if (status === "done") {
      if (transcript.segments === 0) throw new Error("the transcript is empty");
      return seconds;
    }
    // The longer it takes, the less often, so that asking takes no time from the engine.
    await delay(Math.min(1000, Math.max(20, seconds * 20)));
  }
}

/** How often the memory of the engine's process is read; the system keeps the peak. */
const watchMs = 50;

/** The ids of the processes that a process has started. */
function childrenOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
    );
  } catch {
    // It or one of its threads has just ended.
    return [];
  }
}

/** @returns what ends the watch and gives the most MiB that a process of an engine has had. Linux only: null elsewhere. */
export function watchEngine(serverPid: number): () => number | null {
  if (process.platform !== "linux") return () => null;
  let peakMb: number | null = null;
  // Once it is found, no other process is looked at until it ends.
  let engine: string | null = null;
  const timer = setInterval(() => {
    const names = engine === null ? childrenOf(serverPid) : [engine];
    engine = null;
    for (const name of names) {
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
