import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import {
  microphoneHertz,
  openRecorderBrowser,
  shownSeconds,
  startRecording,
  waitForTime,
} from "./record-support.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

test("a recording has the microphone left and shared sound right, and survives a lost connection and a 502", async () => {
  const { member } = await makeWorkspace(app.db);
  const { open } = await openRecorderBrowser(app, member.id);
  const { context, page } = await open();
  const panel = await startRecording(page, "Weekly call");
  await waitForTime(page, 2);
  const methods: string[] = [];
  await context.route("**/_/media/resumable/**", (route) => {
    const method = route.request().method();
    methods.push(method);
    // As a proxy responds while the server restarts.
    const isFirst = method === "HEAD" && methods.filter((one) => one === "HEAD").length === 1;
    return isFirst ? route.fulfill({ status: 502 }) : route.continue();
  });
  await context.setOffline(true);
  await panel.getByText("No connection").waitFor();
  await panel.getByRole("button", { name: "Pause recording" }).click();
  const pausedAt = await panel.getByRole("timer").textContent();
  await context.setOffline(false);
  await panel.getByText("Uploading while you record").waitFor();
  assert.equal(await panel.getByRole("timer").textContent(), pausedAt, "the clock stands still while paused");
  await panel.getByRole("button", { name: "Resume recording" }).click();
  await page.keyboard.press("h");
  await panel.getByRole("button", { name: "Highlight this moment (1)" }).waitFor();
  await waitForTime(page, 8);
  await panel.getByRole("button", { name: "Mute microphone" }).click();
  await waitForTime(page, 12);
  await assertAccessible(page);
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/record/**");
  await page.waitForURL("**/recordings/**");
  assert.ok(methods.filter((method) => method === "HEAD").length > 1, methods.join());
  assert.ok(!methods.includes("POST"), "a 502 doesn't make the browser begin the upload again");
  const row = await app.db.kysely
    .selectFrom("recordings")
    .selectAll()
    .where("title", "=", "Weekly call")
    .executeTakeFirstOrThrow();
  assert.equal(row.title, "Weekly call");
  assert.equal(row.source, "local_capture");
  assert.equal(row.media_type, "video");
  const highlights = await app.db.kysely
    .selectFrom("highlights")
    .select(["text", "start_ms"])
    .where("recording_id", "=", row.id)
    .execute();
  assert.equal(highlights.length, 1);
  const { facts } = await app.db.kysely
    .selectFrom("uploads")
    .select("facts")
    .where("recording_id", "=", row.id)
    .executeTakeFirstOrThrow();
  assert.ok((facts?.video?.height ?? 0) <= 720);
  assert.ok((facts?.video?.maxKeyframeGapMs ?? Number.POSITIVE_INFINITY) <= 5000, JSON.stringify(facts));
  const heard = await listen(page, row.id);
  assert.equal(heard.channels, 2);
  assert.ok(heard.leftEarly > 0.05, `the microphone is on the left: ${JSON.stringify(heard)}`);
  assert.ok(heard.leftLate < heard.leftEarly / 20, `muting silences it: ${JSON.stringify(heard)}`);
  assert.ok(heard.rightLate > 0.05, `the shared sound is on the right: ${JSON.stringify(heard)}`);
  assert.deepEqual(await storedNames(page), [], "nothing stays in the browser");
});

test("a killed browser loses at most two seconds; the next visit finishes the recording", async () => {
  const { member } = await makeWorkspace(app.db);
  for (let kill = 0; kill < Number(process.env.KILLS ?? 1); kill++) {
    const { open, profile } = await openRecorderBrowser(app, member.id);
    const first = await open();
    await startRecording(first.page, `Killed ${kill}`);
    await waitForTime(first.page, 11);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3000));
    const shownMs = 1000 * (await shownSeconds(first.page));
    killBrowser(profile);
    const { page, context } = await open();
    const notice = page.getByRole("status").filter({ hasText: `Unfinished recording: Killed ${kill}` });
    await notice.getByRole("button", { name: /^Finish upload \(\d+ s recovered\)$/ }).click();
    await page.waitForURL("**/recordings/**");
    const row = await app.db.kysely
      .selectFrom("recordings")
      .select("duration_ms")
      .where("title", "=", `Killed ${kill}`)
      .executeTakeFirstOrThrow();
    assert.ok(row.duration_ms >= shownMs - 2000, `${row.duration_ms} ms of ${shownMs} ms`);
    assert.deepEqual(await storedNames(page), []);
    await context.close();
  }
});

test("sound only: the microphone is on the left alone, and the title names the date", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await (await openRecorderBrowser(app, member.id)).open();
  await page.getByRole("main").getByRole("button", { name: "Record a meeting" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  await dialog.getByText("Sound only", { exact: true }).click();
  await dialog.getByLabel("Participants").fill("Ana Ruiz");
  await dialog.getByLabel("Participants").press("Enter");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Start recording" }).click();
  await waitForTime(page, 3);
  const panel = page.getByRole("region", { name: "Recording" });
  await panel.getByRole("button", { name: "Stop" }).click();
  await panel.getByText("A recording needs at least 10 seconds.").waitFor();
  await panel.getByRole("button", { name: "Keep recording" }).click();
  await waitForTime(page, 11);
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/recordings/**");
  await page.getByRole("heading", { level: 1, name: /^Recording of / }).waitFor();
  await page.getByText("Ana Ruiz").first().waitFor();
  const heard = await listen(page, new URL(page.url()).pathname.split("/").at(-1) ?? "");
  assert.ok(heard.leftEarly > 0.05 && heard.rightEarly < heard.leftEarly / 20, JSON.stringify(heard));
});

test("a recording discarded right after its start leaves nothing in the browser and no bytes on the server", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await (await openRecorderBrowser(app, member.id)).open();
  const panel = await startRecording(page, "Discarded");
  await panel.getByRole("button", { name: "Stop" }).click();
  await panel.getByRole("button", { name: "Discard" }).click();
  await panel.waitFor({ state: "detached" });
  await until("the folder is removed", async () => (await storedNames(page)).length === 0);
  const upload = await app.db.kysely
    .selectFrom("uploads")
    .select(["status", "active_at"])
    .where("title", "=", "Discarded")
    .executeTakeFirstOrThrow();
  assert.deepEqual(upload, { status: "awaiting", active_at: null });
});

test("where the screen can't be recorded, the dialog says what works", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await visit(app, "/icon.svg", { userId: member.id, size: phone });
  await page.addInitScript("delete MediaDevices.prototype.getDisplayMedia");
  await page.goto(app.url);
  await page.getByRole("navigation").getByRole("button", { name: "New" }).click();
  await page.getByRole("menuitem", { name: "Record" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  await dialog.getByText("This browser can't record the screen.").waitFor();
  assert.equal(await dialog.getByText("Screen", { exact: true }).count(), 0);
  await dialog.getByText("Sound only", { exact: true }).waitFor();
  await assertAccessible(page);
});

/** Kills the browser of a profile with all its processes, as a crash does. */
function killBrowser(profile: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--user-data-dir=${profile}`))
        process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, as children do once the first of them is killed.
    }
  }
}

/** What is heard in the recording, as the browser decodes it: amplitudes, the tone's by Goertzel's filter. */
function listen(page: Page, recordingId: string) {
  return page.evaluate<{
    channels: number;
    leftEarly: number;
    leftLate: number;
    rightEarly: number;
    rightLate: number;
  }>(`(async () => {
    const { media } = await (await fetch("/_/api/v1/recordings/${recordingId}/media")).json();
    const file = await (await fetch(media.url)).arrayBuffer();
    const sound = await new OfflineAudioContext(2, 1, 48000).decodeAudioData(file);
    const [left, right] = [sound.getChannelData(0), sound.getChannelData(1)];
    const toneIn = (samples, from, to) => {
      let most = 0;
      for (let at = from; at + 0.1 <= to; at += 0.1) {
        let [re, im] = [0, 0];
        for (let i = 0; i < 4800; i++) {
          const angle = (2 * Math.PI * ${microphoneHertz} * i) / 48000;
          const value = samples[Math.round(at * 48000) + i] ?? 0;
          re += value * Math.cos(angle);
          im += value * Math.sin(angle);
        }
        most = Math.max(most, Math.hypot(re, im) / 2400);
      }
      return most;
    };
    return {
      channels: sound.numberOfChannels,
      leftEarly: toneIn(left, 1, 7),
      leftLate: toneIn(left, 9.5, 11),
      rightEarly: toneIn(right, 1, 7),
      rightLate: toneIn(right, 9.5, 11),
    };
  })()`);
}

/** The names of everything in the browser's private file system. */
function storedNames(page: Page): Promise<string[]> {
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
