import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser } from "playwright-core";
import {
  appRequest,
  ask,
  type Client,
  createUpload,
  publicRequest,
  putFile,
  untilRecording,
} from "../api.ts";
import type { Bench } from "../bench.ts";
import { makeSpeech } from "../data/speech.ts";
import { median } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure } from "../report.ts";
import { type SlowVisit, visitSlowly } from "../slow-visit.ts";

const segmentMs = 6000;
const maxClipSec = 20;

/**
 * The page of a long recording, a video whose transcript has the times of its words, on a slow processor: when its first
 * line is shown, and for how long the page does not respond. Without a cache, and with what the first visit cached.
 */
export async function measureLongRecording(
  browser: Browser,
  { sizes, postgres }: Pick<Bench, "sizes" | "postgres">,
  client: Client,
  cookie: string,
): Promise<Figure[]> {
  const { meetingSec, slowdown, quietMs } = sizes.web;
  const id = await makeLongRecording(client, postgres.folder, meetingSec);
  const url = `${client.server.url}/recordings/${id}`;
  const page = { url, cookie, firstLine: "ol[aria-label=Transcript] li [data-text]", slowdown, quietMs };
  for (let visit = 0; visit < sizes.warmUps.visits; visit += 1) await visitSlowly(browser, page);
  const visits: { cold: SlowVisit; warm: SlowVisit }[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) visits.push(await visitSlowly(browser, page));
  const length = meetingSec < 3600 ? `${meetingSec} s` : `${meetingSec / 3600} h`;
  return (["cold", "warm"] as const).flatMap((cache) => {
    const name = (what: string): string =>
      `recording of ${length}, CPU 1/${slowdown}, ${cache} cache: ${what}`;
    const measured = visits.map((visit) => visit[cache]);
    const spread = (what: string, values: readonly number[], max: number): Figure =>
      figure(
        name(what),
        median(values),
        `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`,
        " ms",
        { max },
      );
    return [
      spread(
        "first line",
        measured.map(({ firstLineMs }) => firstLineMs),
        1500,
      ),
      spread(
        "blocking time",
        measured.map(({ blockingMs }) => blockingMs),
        300,
      ),
    ];
  });
}

/** The recording, unless it is there. @returns its id. */
async function makeLongRecording(client: Client, parent: string, seconds: number): Promise<string> {
  const { recordings } = await ask<{ recordings: { id: string }[] }>(
    publicRequest(client, "POST", "/recordings", {}),
  );
  const [known] = recordings;
  if (known !== undefined) return known.id;
  const folder = join(parent, "long-recording");
  mkdirSync(folder, { recursive: true });
  const clip = join(folder, "clip.mp4");
  const clipSec = Math.min(maxClipSec, seconds / 6);
  encodeClip(clip, {
    video: {
      source: [["testsrc2", `size=320x180:rate=10:duration=${clipSec}`]],
      width: 320,
      height: 180,
      framesPerSec: 10,
      keyframeEvery: 20,
      bitsPerSec: 40_000,
    },
    audio: {
      source: [["anoisesrc", `duration=${clipSec}:amplitude=0.1`]],
      codec: "aac",
      bitsPerSec: 32_000,
    },
  });
  const path = repeatClip(clip, {
    seconds: clipSec,
    times: seconds / clipSec,
    path: join(folder, "long.mp4"),
  });
  const upload = await createUpload(client, "video", { title: "Two hours" });
  await putFile(path, upload.media.upload);
  await rm(folder, { recursive: true });
  const id = await untilRecording(client, upload.id);
  await ask(
    appRequest(client, "PUT", `/recordings/${id}/transcript`, {
      transcript_version: 0,
      language: "en",
      segments: talk(seconds),
    }),
  );
  // Pictures for the seek bar are rendered after the recording exists.
  for (const end = performance.now() + 120_000; performance.now() < end; await delay(500)) {
    const { storyboard } = await ask<{ storyboard: unknown }>(
      appRequest(client, "GET", `/recordings/${id}/media`),
    );
    if (storyboard !== null) return id;
  }
  throw new Error("the pictures of the seek bar were not rendered within two minutes");
}

/** Four speakers in turns, each word with its times. */
function talk(seconds: number) {
  const speech = makeSpeech(7);
  return Array.from({ length: Math.floor((seconds * 1000) / segmentMs) }, (_, n) => {
    const text = speech.sentence();
    const words = text.split(" ");
    const each = Math.floor(segmentMs / words.length);
    const start = n * segmentMs;
    return {
      speaker: `Speaker ${1 + (Math.floor(n / 3) % 4)}`,
      start,
      end: start + each * words.length,
      text,
      words: words.map((word, k) => ({
        text: word,
        start: start + k * each,
        end: start + (k + 1) * each - 20,
      })),
    };
  });
}
