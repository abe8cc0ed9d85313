// Runs alone: in its full form it takes minutes.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { uploadFileKey } from "../../server/platform/storage/layout.ts";
import { inspect } from "../../server/processing/media/render/test/support.ts";
import { wholeFragments } from "../../web/recorder/outbox/fragments.ts";
import { makeWorkspace } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { killGroup } from "../support/processes.ts";
import { until } from "../support/until.ts";
import {
  openRecorderBrowser,
  recordedMs,
  startRecording,
  storedNames,
  waitForTime,
} from "./record-support.ts";
import { startWebApp } from "./support.ts";

/** How often a browser is killed; set with KILLS. */
const kills = Math.max(Number(process.env.KILLS ?? 1), isFullRun ? 20 : 1);
/** What may be lost of what the server has not acknowledged. */
const maxLossMs = 2000;

const app = await startWebApp();
const folder = mkdtempSync(join(tmpdir(), "parley-killed-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What happens before the kill. Each returns what had been recorded by then, in milliseconds. */
const lastActs: readonly ((page: Page, context: BrowserContext) => Promise<number>)[] = [
  async (page) => recordedMs(page),
  async (page, context) => {
    await context.setOffline(true);
    await delay(Math.random() * 5000);
    return recordedMs(page);
  },
  async (page) => {
    const before = await recordedMs(page);
    await page.getByRole("button", { name: "Pause recording" }).click();
    await delay(Math.random() * 1500);
    return before;
  },
  async (page) => {
    const before = await recordedMs(page);
    await page.getByRole("region", { name: "Recording" }).getByRole("button", { name: "Stop" }).click();
    await delay(Math.random() * 800);
    return before;
  },
];

test(`a browser killed at ${kills} moments loses nothing that the server has, and at most two seconds of the rest`, async (context) => {
  const { member } = await makeWorkspace(app.db);
  const browser = await openRecorderBrowser(app, member.id);
  const losses: number[] = [];
  let visit = await browser.open();
  for (let kill = 0; kill < kills; kill++) {
    const title = `Killed ${kill}`;
    await startRecording(visit.page, title);
    await waitForTime(visit.page, 12);
    await delay(Math.random() * 5000);
    const recorded = await (lastActs[kill % lastActs.length] ?? recordedMs)(visit.page, visit.context);
    killGroup(`--user-data-dir=${browser.profile}`);
    const acknowledged = await acknowledgedMs(title);
    visit = await browser.open();
    const duration = await finish(visit.page, title);
    losses.push(recorded - duration);
    assert.ok(
      duration >= acknowledged - 50,
      `kill ${kill}: ${duration} ms, the server had ${acknowledged} ms`,
    );
    assert.ok(duration >= recorded - maxLossMs, `kill ${kill}: ${duration} ms of ${recorded} ms`);
    await until("nothing is left in the browser", async () => (await storedNames(visit.page)).length === 0);
  }
  const rounded = losses.map((ms) => Math.round(ms));
  context.diagnostic(`lost at most ${Math.max(...rounded)} ms: ${rounded.join(", ")}`);
});

test("what a browser killed in the first seconds has stored can only be discarded, and nothing of it stays", async () => {
  const { member } = await makeWorkspace(app.db);
  const browser = await openRecorderBrowser(app, member.id);
  for (let kill = 0; kill < Math.ceil(kills / 5); kill++) {
    const first = await browser.open();
    await startRecording(first.page, `Short ${kill}`);
    await delay(Math.random() * 6000);
    killGroup(`--user-data-dir=${browser.profile}`);
    const { page, context } = await browser.open();
    const notice = page.getByRole("status").filter({ hasText: `Unfinished recording: Short ${kill}` });
    await until(
      "it is offered, or nothing was stored",
      async () => (await notice.count()) > 0 || (await storedNames(page)).length === 0,
    );
    if ((await notice.count()) > 0) {
      await notice.getByText("It has less than 10 seconds, so it can't be saved.").waitFor();
      assert.equal(await notice.getByRole("button", { name: /^Finish upload/ }).count(), 0);
      await notice.getByRole("button", { name: "Discard" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Discard recording" }).click();
      await notice.waitFor({ state: "detached" });
    }
    await until("nothing is left in the browser", async () => (await storedNames(page)).length === 0);
    await context.close();
  }
});

test("a recording of which nothing has arrived can be saved as a file", async () => {
  const { member } = await makeWorkspace(app.db);
  const browser = await openRecorderBrowser(app, member.id);
  const first = await browser.open();
  await startRecording(first.page, "Offline");
  await first.context.setOffline(true);
  await waitForTime(first.page, 12);
  killGroup(`--user-data-dir=${browser.profile}`);
  const { page, context } = await browser.open();
  const notice = page.getByRole("status").filter({ hasText: "Unfinished recording: Offline" });
  const download = page.waitForEvent("download");
  await notice.getByRole("button", { name: "Save as file" }).click();
  const path = join(folder, (await download).suggestedFilename());
  await (await download).saveAs(path);
  assert.match(path, /Offline\.mp4$/);
  const { durationSec } = await inspect(path);
  assert.ok(durationSec >= 10, `${durationSec} s`);
  await context.close();
});

/** The length of what the server has of a recording. */
async function acknowledgedMs(title: string): Promise<number> {
  const { id } = await app.db.kysely
    .selectFrom("uploads")
    .select("id")
    .where("title", "=", title)
    .executeTakeFirstOrThrow();
  const path = join(app.config.dataDir, "objects", ".partial", uploadFileKey(id));
  // All of it has arrived.
  if (!existsSync(path)) return 0;
  const bytes = readFileSync(path);
  const copy = join(folder, `${id}.mp4`);
  writeFileSync(copy, bytes.subarray(0, wholeFragments(bytes)));
  return 1000 * (await inspect(copy)).durationSec;
}

/** Finishes a recording on the next visit, unless all of it has arrived. @returns its length in milliseconds. */
async function finish(page: Page, title: string): Promise<number> {
  const find = () =>
    app.db.kysely
      .selectFrom("recordings")
      .select("duration_ms")
      .where("title", "=", title)
      .executeTakeFirst();
  const button = page
    .getByRole("status")
    .filter({ hasText: `Unfinished recording: ${title}` })
    .getByRole("button", { name: /^Finish upload \(\d+ s recovered\)$/ });
  await until(
    "it is offered, or has arrived",
    async () => (await button.count()) > 0 || (await find()) !== undefined,
  );
  if ((await button.count()) > 0) await button.click();
  const { duration_ms } = await until("it is a recording", find);
  return duration_ms;
}
