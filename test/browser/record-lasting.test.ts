// Runs alone: in its full form it takes minutes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { inspect } from "../../server/processing/media/render/test/support.ts";
import { makeWorkspace } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { memoryOf } from "../support/processes.ts";
import {
  assertComplete,
  listenTo,
  openRecorderBrowser,
  recordedMs,
  saveMedia,
  startRecording,
} from "./record-support.ts";
import { startWebApp } from "./support.ts";

const app = await startWebApp();

/** How long to record; set with RECORD_SECONDS. */
const seconds = Number(process.env.RECORD_SECONDS ?? (isFullRun ? 300 : 12));
/** The page has at most this much memory after an hour. */
const maxBytes = 300e6;
/** Memory grows until the page's caches are filled. */
const warmUpMs = 60_000;
const hourMs = 3_600_000;
/** Of the JavaScript in an hour: the measurement itself takes some. */
const maxHeapGrowth = 30e6;

test(`${seconds} s of screen and microphone have both sounds throughout, at most 720p and keyframes, play, seek, and take the page little memory`, async (context) => {
  const { member } = await makeWorkspace(app.db);
  const { open, profile } = await openRecorderBrowser(app, member.id);
  const { page, context: browser } = await open();
  const panel = await startRecording(page, "Long call");
  const startedAt = performance.now() - (await recordedMs(page));
  const session = await browser.newCDPSession(page);
  const samples: Sample[] = [];
  const record = async (share: number): Promise<void> => {
    while ((await recordedMs(page)) < share * seconds * 1000) {
      await delay(Math.min(10_000, seconds * 50));
      samples.push(await measure(page, session, profile));
    }
  };
  await record(0.4);
  await panel.getByRole("button", { name: "Mute microphone" }).click();
  const mutedMs = await recordedMs(page);
  await record(0.7);
  const unmutedMs = await recordedMs(page);
  await panel.getByRole("button", { name: "Unmute microphone" }).click();
  await record(1);
  const recorded = await recordedMs(page);
  const elapsed = performance.now() - startedAt;
  assert.ok(Math.abs(elapsed - recorded) < 1000 + elapsed / 100, `${recorded} ms recorded in ${elapsed} ms`);
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/recordings/**", { timeout: 300_000 });
  context.diagnostic(assertSteady(samples));

  const { id, duration_ms } = await app.db.kysely
    .selectFrom("recordings")
    .select(["id", "duration_ms"])
    .where("title", "=", "Long call")
    .executeTakeFirstOrThrow();
  assert.ok(duration_ms >= recorded - 250, `${duration_ms} ms of ${recorded} ms`);
  const path = await saveMedia(app.store, id);
  const heard = listenTo(path);
  // The clicks take effect after these times, and sound from before is still in flight.
  const mutedSec = [mutedMs / 1000 + 0.5, unmutedMs / 1000 - 0.5] as const;
  assertComplete(heard, duration_ms, mutedSec);
  assert.ok(heard.loudest(0, ...mutedSec) < heard.loudest(0) / 20, "the left channel is the microphone");
  const { size, keyframesSec, durationSec, codecs } = await inspect(path);
  assert.ok((size?.[0] ?? 0) <= 1280 && (size?.[1] ?? 0) <= 720, String(size));
  const times = [...keyframesSec, durationSec];
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  assert.ok(Math.max(...gaps) <= 5, `keyframes at ${keyframesSec.join()}`);
  context.diagnostic(
    `${duration_ms} ms, ${codecs.join(" and ")}, ${size?.join("x")}, a keyframe at least every ${Math.max(...gaps).toFixed(2)} s`,
  );
  await playAndSeek(page, duration_ms / 1000);
});

interface Sample {
  readonly ms: number;
  /** Of the page's process. */
  readonly bytes: number;
  /** Of the page's JavaScript, after collecting garbage. */
  readonly heapBytes: number;
}

async function measure(page: Page, session: CDPSession, profile: string): Promise<Sample> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return {
    ms: await recordedMs(page),
    bytes: memoryOf(`--user-data-dir=${profile}`, "--type=renderer"),
    heapBytes: usedSize,
  };
}

/** Fails if the page takes too much memory, or would after an hour. @returns the figures. */
function assertSteady(samples: readonly Sample[]): string {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const peak = Math.max(...samples.map(({ bytes }) => bytes));
  const figures = [`at most ${megabytes(peak)}`];
  assert.ok(peak < maxBytes, megabytes(peak));
  const warm = samples.filter(({ ms }) => ms >= warmUpMs);
  if (warm.length >= 10) {
    const [page, heap] = [growth(warm, "bytes"), growth(warm, "heapBytes")];
    const ends = [warm[0], warm.at(-1)].map((one) => megabytes(one?.bytes ?? 0));
    figures.push(
      `${ends.join(" to ")} from the first minute to the end`,
      `${megabytes(page)} more in an hour, ${megabytes(heap)} of it JavaScript`,
    );
    assert.ok(peak + page < maxBytes, figures.join(", "));
    assert.ok(heap < maxHeapGrowth, figures.join(", "));
  }
  return figures.join(", ");
}

/** By how many bytes a figure grows in an hour: the slope of the line through its samples. */
function growth(samples: readonly Sample[], key: "bytes" | "heapBytes"): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [ms, value] = [mean(samples.map((one) => one.ms)), mean(samples.map((one) => one[key]))];
  const sum = (of: (one: Sample) => number): number => samples.reduce((total, one) => total + of(one), 0);
  return (hourMs * sum((one) => (one.ms - ms) * (one[key] - value))) / sum((one) => (one.ms - ms) ** 2);
}

/** Plays the recording on its page, and seeks to several times. */
async function playAndSeek(page: Page, lengthSec: number): Promise<void> {
  await page.locator("video").waitFor();
  for (const share of [0, 0.9, 0.3, 0.6]) {
    const second = share * lengthSec;
    const shown = await page.evaluate<number>(`new Promise((resolve, reject) => {
      const video = document.querySelector("video");
      setTimeout(() => reject(new Error("it doesn't play at ${second} s")), 60_000);
      video.muted = true;
      video.onseeked = () => {
        video.ontimeupdate = () => {
          if (video.currentTime >= ${second} + 0.3) resolve(video.currentTime);
        };
      };
      // Before it plays, it may not be loaded.
      video.play().then(() => { video.currentTime = ${second}; }).catch(reject);
    })`);
    assert.ok(shown < second + 5, `it plays from ${second} s: ${shown}`);
  }
}
