import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { encodeFile } from "../../server/processing/media/test/encode.ts";
import { call, type TestApp } from "../support/app.ts";
import { launchWithDevices } from "../support/chromium.ts";
import { measureTone, windowMs } from "../support/tones.ts";
import { until } from "../support/until.ts";
import { makeWav } from "../support/wav.ts";
import { signInAs } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-record-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let profiles = 0;

/** The fake microphone and the fake shared sound both begin a tone this often; it must not seem to be noise. */
const toneEverySec = 2;
const toneHertz = 1000;

/** A browser with fake devices, whose profile survives when it is killed, with the app of a user. */
export async function openRecorderBrowser(app: Pick<TestApp, "db" | "url">, userId?: string) {
  const profile = join(folder, `profile-${++profiles}`);
  const microphone = join(folder, "microphone.wav");
  writeFileSync(microphone, makeWav(toneEverySec * 1000, [{ startMs: 0, endMs: 600, hz: toneHertz }]));
  const open = async (): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await launchWithDevices(profile, microphone);
    after(() => context.close().catch(() => undefined));
    context.setDefaultTimeout(60_000);
    const page = context.pages()[0] ?? (await context.newPage());
    if (userId !== undefined) {
      await signInAs(app, context, userId);
      await page.goto(app.url);
    }
    return { context, page };
  };
  return { open, profile };
}

/** Records until `stop` is clicked. @returns the panel of the recording. */
export async function startRecording(page: Page, title: string, { microphone = true } = {}) {
  await page.getByRole("banner").getByRole("button", { name: "Record" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  await dialog.getByLabel("Title").fill(title);
  if (!microphone) await dialog.getByLabel("Microphone", { exact: true }).uncheck({ force: true });
  await dialog.getByRole("button", { name: "Start recording" }).click();
  const panel = page.getByRole("region", { name: "Recording" });
  await panel.waitFor();
  // Remembers when the clock changed.
  await page.evaluate(`(() => {
    const clock = document.querySelector('[role="timer"]');
    window.clockChanged = performance.now();
    new MutationObserver(() => { window.clockChanged = performance.now(); })
      .observe(clock, { characterData: true, childList: true, subtree: true });
  })()`);
  return panel;
}

/** Seconds that the recording's clock shows. */
async function shownSeconds(page: Page): Promise<number> {
  return secondsOf((await page.getByRole("timer").textContent()) ?? "");
}

/** The recorder's clock has hours only from the first hour on. */
function secondsOf(clock: string): number {
  return clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
}

/** Milliseconds recorded by now, while the recording runs: more exactly than its clock shows them. */
export async function recordedMs(page: Page): Promise<number> {
  const shown = await page.evaluate<{ text: string; sinceMs: number }>(`({
    text: document.querySelector('[role="timer"]').textContent,
    sinceMs: performance.now() - window.clockChanged,
  })`);
  return 1000 * secondsOf(shown.text) + Math.min(1000, shown.sinceMs);
}

/** Waits until the recording's clock shows a time. */
export async function waitForTime(page: Page, seconds: number): Promise<void> {
  // Each look at the clock takes processor time.
  await delay(Math.max(0, 1000 * (seconds - (await shownSeconds(page)) - 1)));
  await until(
    `the recording has ${seconds} s`,
    async () => (await shownSeconds(page)) >= seconds,
    60_000 + 2000 * seconds,
  );
}

/** The names of everything in the browser's private file system. */
export function storedNames(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(async () => {
    const names = [];
    const walk = async (folder) => {
      for await (const [name, entry] of folder.entries()) {
        names.push(name);
        if (entry.kind === "directory") await walk(entry);
      }
    };
    try {
      await walk(await navigator.storage.getDirectory());
    } catch (error) {
      // A folder was removed meanwhile.
      if (error.name !== "NotFoundError") throw error;
      return ["changing"];
    }
    return names;
  })()`);
}

/** A recording's file, copied out of the store. */
export async function saveMedia(
  store: ObjectStore,
  recordingId: string,
  format: "mp4" | "mp3" = "mp4",
): Promise<string> {
  const path = join(folder, `${recordingId}.${format}`);
  const { body } = await store.get(recordingObjectKey(recordingId, `media.${format}`));
  writeFileSync(path, Buffer.concat(await body.toArray()));
  return path;
}

/** How loud the tone is in a recording. The left channel is 0. */
interface Heard {
  readonly channels: number;
  /** The most between two times in seconds. */
  loudest(channel: 0 | 1, fromSec?: number, toSec?: number): number;
  /** When the tone begins, in seconds. */
  beginnings(channel: 0 | 1): number[];
}

/** Listens to a recording's file. */
export function listenTo(path: string): Heard {
  const channels = measureTone(path, toneHertz);
  const between = (channel: 0 | 1, fromSec: number, toSec: number) =>
    (channels[channel] ?? []).filter((_, index) => {
      const second = (index * windowMs) / 1000;
      return second >= fromSec && second < toSec;
    });
  const loudest = (channel: 0 | 1, fromSec = 0, toSec = Number.POSITIVE_INFINITY) =>
    between(channel, fromSec, toSec).reduce((most, level) => Math.max(most, level), 0);
  return {
    channels: channels.length,
    loudest,
    beginnings(channel) {
      const limit = loudest(channel) / 4;
      const levels = channels[channel] ?? [];
      return levels.flatMap((level, index) =>
        level >= limit && (levels[index - 1] ?? 0) < limit ? [(index * windowMs) / 1000] : [],
      );
    },
  };
}

/**
 * Fails unless the tone of both sources returns in time from the beginning to the end of a recording.
 * @param mutedSec when the microphone, which is on the left, was muted.
 */
export function assertComplete(heard: Heard, durationMs: number, mutedSec?: readonly [number, number]): void {
  assert.equal(heard.channels, 2);
  for (const channel of [0, 1] as const) {
    assert.ok(heard.loudest(channel) > 0.05, `channel ${channel} has sound: ${heard.loudest(channel)}`);
    const times = [0, ...heard.beginnings(channel), durationMs / 1000];
    const gaps = times.slice(1).flatMap((time, index) => {
      const before = times[index] ?? 0;
      const isMuted = channel === 0 && mutedSec !== undefined && before <= mutedSec[1] && time >= mutedSec[0];
      return isMuted ? [] : [time - before];
    });
    assert.ok(Math.max(...gaps) < 1.5 * toneEverySec, `channel ${channel} has no gaps: ${times.join()}`);
  }
}

/** A recording as the encoder stores it: pieces of a second, the first with the header. */
export function makePieces(seconds: number): readonly Buffer[] {
  const path = join(folder, `pieces-${seconds}.mp4`);
  encodeFile(path, {
    format: "mp4",
    seconds,
    audio: [{ codec: "aac" }],
    options: { movflags: "empty_moov+default_base_moof", frag_duration: 1_000_000 },
  });
  const bytes = readFileSync(path);
  const pieces: Buffer[] = [];
  for (let from = 0; ; ) {
    // Each fragment ends with its media.
    const rest = bytes.subarray(from);
    const first = firstFragment(rest);
    if (first === 0) return [...pieces.slice(0, -1), Buffer.concat([pieces.at(-1) ?? rest, rest])];
    pieces.push(rest.subarray(0, first));
    from += first;
  }
}

function firstFragment(bytes: Buffer): number {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const isMedia = bytes.toString("latin1", at + 4, at + 8) === "mdat";
    at += bytes.readUInt32BE(at);
    if (isMedia) return at;
  }
  return 0;
}

/** An upload for a recording, as the recorder creates it. @returns its id and the URL for its bytes. */
export async function createRecordingUpload(
  app: Pick<TestApp, "url">,
  token: string,
  title: string,
): Promise<{ uploadId: string; tusUrl: string }> {
  const { body } = await call(
    app,
    "POST",
    "/_/api/v1/recordings",
    { title, source: "local_capture", media: { format: "m4a" } },
    { token, version: null },
  );
  return { uploadId: body.id, tusUrl: body.upload.tus_url };
}

/** Sends bytes of a recording whose length is not known yet. */
export async function sendPart(tusUrl: string, bytes: Buffer): Promise<void> {
  const headers = { "tus-resumable": "1.0.0" };
  const begun = await fetch(tusUrl, { method: "POST", headers: { ...headers, "upload-defer-length": "1" } });
  assert.equal(begun.status, 201);
  const sent = await fetch(tusUrl, {
    method: "PATCH",
    headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body: new Uint8Array(bytes),
  });
  assert.equal(sent.status, 204);
}

/**
 * Stores a recording in the browser, as one that was killed leaves it.
 * @param has which pieces are still there.
 * @param hasNote whether its note can be read.
 */
export async function leaveRecording(
  page: Page,
  note: { readonly uploadId: string; readonly userId: string; readonly title: string },
  pieces: readonly Buffer[],
  has: (index: number) => boolean,
  hasNote: boolean,
): Promise<void> {
  let start = 0;
  const files: { name: string; base64: string }[] = [];
  for (const [index, piece] of pieces.entries()) {
    const name = [start, piece.length, (index + 1) * 1000].map((part) => String(part).padStart(12, "0"));
    if (has(index)) files.push({ name: name.join("-"), base64: piece.toString("base64") });
    start += piece.length;
  }
  const json = JSON.stringify({ ...note, startedAt: "2026-01-05T10:00:00.000Z", moments: [] });
  files.push({ name: "note.json", base64: Buffer.from(hasNote ? json : "{").toString("base64") });
  await page.evaluate(`(async () => {
    const storage = await navigator.storage.getDirectory();
    const root = await storage.getDirectoryHandle("parley-recordings", { create: true });
    const folder = await root.getDirectoryHandle(${JSON.stringify(note.uploadId)}, { create: true });
    for (const { name, base64 } of ${JSON.stringify(files)}) {
      const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await stream.write(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
      await stream.close();
    }
  })()`);
}
