import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { createSession } from "../../server/accounts/sign-in/sessions.ts";
import { launchWithDevices } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { makeWav } from "../support/wav.ts";
import type { BrowserApp } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-record-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let profiles = 0;

/** The tone of the fake microphone. The fake shared sound beeps, at another frequency. */
export const microphoneHertz = 450;

/** A browser with fake devices, whose profile survives when it is killed. */
export async function openRecorderBrowser(app: BrowserApp, userId: string) {
  const profile = join(folder, `profile-${++profiles}`);
  const microphone = join(folder, "microphone.wav");
  writeFileSync(microphone, makeWav(2000, [{ startMs: 0, endMs: 2000, hz: microphoneHertz }]));
  const { cookie } = await app.db.kysely
    .transaction()
    .execute((tx) => createSession(tx, { userId, method: "password", ip: "127.0.0.1", userAgent: "test" }));
  const open = async (): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await launchWithDevices(profile, microphone);
    after(() => context.close().catch(() => undefined));
    context.setDefaultTimeout(60_000);
    await context.addCookies([{ name: "parley_session", value: cookie, url: app.url, httpOnly: true }]);
    const page = await context.newPage();
    await page.goto(app.url);
    return { context, page };
  };
  return { open, profile };
}

/** Records until `stop` is clicked. @returns the panel of the recording. */
export async function startRecording(page: Page, title: string) {
  await page.getByRole("banner").getByRole("button", { name: "Record" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  await dialog.getByLabel("Title").fill(title);
  await dialog.getByRole("button", { name: "Start recording" }).click();
  const panel = page.getByRole("region", { name: "Recording" });
  await panel.waitFor();
  return panel;
}

/** Seconds that the recording's clock shows. */
export async function shownSeconds(page: Page): Promise<number> {
  const text = await page.getByRole("timer").textContent();
  const [minutes = 0, seconds = 0] = (text ?? "").split(":").map(Number);
  return minutes * 60 + seconds;
}

/** Waits until the recording's clock shows a time. */
export function waitForTime(page: Page, seconds: number): Promise<unknown> {
  return until(`the recording has ${seconds} s`, async () => (await shownSeconds(page)) >= seconds);
}
