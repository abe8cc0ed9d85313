import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { inspect } from "../../server/processing/media/render/test/support.ts";
import { sweepLog } from "../../server/processing/uploads/test/uploads.ts";
import { failExpiredUploads } from "../../server/processing/uploads/transfer/arrival.ts";
import { makeUser, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import {
  createRecordingUpload,
  leaveRecording,
  listenTo,
  makePieces,
  openRecorderBrowser,
  recordedMs,
  saveMedia,
  sendPart,
  startRecording,
  storedNames,
  waitForTime,
} from "./record-support.ts";
import { assertAccessible, phone, signInAs, startBrowserApp, visit, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { context, page: recorder } = await (await openRecorderBrowser(app)).open();

/** Shows the app to another user in the same browser: each browser with devices takes a quarter of a second to start. */
async function enterAs(userId: string): Promise<Page> {
  await signInAs(app, context, userId);
  await recorder.goto(app.url);
  return recorder;
}

test("a recording has the microphone left and shared sound right, and survives a lost connection and a 502", async () => {
  const { member } = await makeWorkspace(app.db);
  const page = await enterAs(member.id);
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
  await panel.getByText("Paused").waitFor();
  // What the microphone had recorded before may still arrive.
  let pausedAt = "";
  await until("the clock stands still", async () => {
    const before = pausedAt;
    await delay(1100);
    pausedAt = (await panel.getByRole("timer").textContent()) ?? "";
    return pausedAt === before;
  });
  await context.setOffline(false);
  await panel.getByText("Uploading while you record").waitFor();
  assert.equal(await panel.getByRole("timer").textContent(), pausedAt, "the clock stands still while paused");
  await panel.getByRole("button", { name: "Resume recording" }).click();
  await page.keyboard.press("h");
  await panel.getByRole("button", { name: "Highlight this moment (1)" }).waitFor();
  await waitForTime(page, 7);
  await panel.getByRole("button", { name: "Mute microphone" }).click();
  const mutedSec = 1 + (await recordedMs(page)) / 1000;
  await waitForTime(page, Math.max(11, mutedSec + 2.5));
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
  const heard = listenTo(await saveMedia(app.store, row.id));
  assert.equal(heard.channels, 2);
  const [spoken, muted] = [heard.loudest(0, 1, 7), heard.loudest(0, mutedSec, mutedSec + 2)];
  assert.ok(spoken > 0.05, `the microphone is on the left: ${spoken}`);
  assert.ok(muted < spoken / 20, `muting silences it: ${muted} of ${spoken}`);
  const shared = heard.loudest(1, mutedSec, mutedSec + 2);
  assert.ok(shared > 0.05, `the shared sound is on the right: ${shared}`);
  await until("nothing stays in the browser", async () => (await storedNames(page)).length === 0);
  await context.unrouteAll();
});

test("sound only: the microphone is on the left alone, the title names the date, and the session is in use meanwhile", async () => {
  const { member } = await makeWorkspace(app.db);
  const page = await enterAs(member.id);
  await page.getByRole("main").getByRole("button", { name: "Record a meeting" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  const uses: Record<string, string>[] = [];
  page.on("request", (request) => {
    if (request.url() === `${app.url}/_/api/v1/session/me`) uses.push(request.headers());
  });
  // Minutes pass in a second, and the last input is longer ago.
  await page.evaluate(`{
    const [interval, now] = [setInterval, Date.now];
    window.setInterval = (run, ms, ...rest) => interval(run, ms === 60_000 ? 1000 : ms, ...rest);
    let ahead = 0;
    interval(() => { ahead += 120_000; }, 100);
    Date.now = () => now() + ahead;
  }`);
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
  assert.ok(uses.length >= 5, `${uses.length} requests`);
  assert.ok(uses.every((headers) => headers["parley-background"] === undefined));
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/recordings/**");
  await page.getByRole("heading", { level: 1, name: /^(?:Audio|Video) recording of / }).waitFor();
  await page.getByText("Ana Ruiz").first().waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const heard = listenTo(await saveMedia(app.store, id, "mp3"));
  const [left, right] = [heard.loudest(0), heard.loudest(1)];
  assert.ok(left > 0.05 && right < left / 20, `${right} on the right of ${left}`);
});

test("without the microphone only the right channel has sound, and the end arrives even if the browser's storage is slow", async () => {
  const { member } = await makeWorkspace(app.db);
  const page = await enterAs(member.id);
  await page.evaluate(`(() => {
    const { getFile } = FileSystemFileHandle.prototype;
    FileSystemFileHandle.prototype.getFile = async function () {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return getFile.call(this);
    };
  })()`);
  const panel = await startRecording(page, "Slow disk", { microphone: false });
  await waitForTime(page, 11);
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/recordings/**");
  const { id, duration_ms } = await app.db.kysely
    .selectFrom("recordings")
    .select(["id", "duration_ms"])
    .where("title", "=", "Slow disk")
    .executeTakeFirstOrThrow();
  assert.ok(duration_ms > 10_900, `${duration_ms} ms`);
  const heard = listenTo(await saveMedia(app.store, id));
  const [left, right] = [heard.loudest(0), heard.loudest(1)];
  assert.ok(right > 0.05 && left < right / 20, `${left} on the left of ${right}`);
});

test("a recording discarded right after its start leaves nothing in the browser and no bytes on the server", async () => {
  const { member } = await makeWorkspace(app.db);
  const page = await enterAs(member.id);
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

/** The length of recordings that an earlier visit left. */
const leftSec = 24;
const pieces = makePieces(leftSec);

/** A page of a user whose browser has a recording, of which the server has the first pieces. */
async function leave(
  workspace: Awaited<ReturnType<typeof makeWorkspace>>,
  title: string,
  { sent = 0, hasNote = true } = {},
  open: typeof visitShared | typeof visit = visitShared,
) {
  const { member } = workspace;
  const { uploadId, tusUrl } = await createRecordingUpload(app, member.token, title);
  if (sent > 0) await sendPart(tusUrl, Buffer.concat(pieces.slice(0, sent)));
  const { page, context } = await open(app, "/icon.svg", { userId: member.id });
  // The beginning of the file stays when its bytes have arrived.
  const note = { uploadId, userId: member.id, title };
  await leaveRecording(page, note, pieces, (index) => index === 0 || index >= sent, hasNote);
  await page.goto(`${app.url}/stories`);
  await noticeOf(page, title).waitFor();
  return { page, context, uploadId };
}

const noticeOf = (page: Page, title: string) =>
  page.getByRole("status").filter({ hasText: `Unfinished recording: ${title}` });

const findRecording = (title: string) =>
  app.db.kysely
    .selectFrom("recordings")
    .select(["id", "duration_ms"])
    .where("title", "=", title)
    .executeTakeFirst();

test("a recording whose upload the server has ended with a part stays in the browser, and can be saved as a file", async () => {
  const { page, uploadId } = await leave(await makeWorkspace(app.db), "Half a call", { sent: 12 });
  const notice = noticeOf(page, "Half a call");
  const finish = notice.getByRole("button", { name: "Finish upload (24 s recovered)" });
  await finish.waitFor();
  const past = new Date(Date.now() - 40 * 86_400_000);
  await app.db.kysely
    .updateTable("uploads")
    .set({ active_at: past, url_expires_at: past })
    .where("id", "=", uploadId)
    .execute();
  await failExpiredUploads({ ...app, log: sweepLog().log });
  await until("the server has made a recording of the first half", () => findRecording("Half a call"));

  await finish.click();
  await notice.getByText("closed the upload with what had arrived, the first 12 s.").waitFor();
  assert.equal(await finish.count(), 0);
  await assertAccessible(page);
  const download = page.waitForEvent("download");
  await notice.getByRole("button", { name: "Save as file" }).click();
  const folder = mkdtempSync(join(tmpdir(), "parley-rest-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  await (await download).saveAs(join(folder, "rest.mp4"));
  const { durationSec, codecs } = await inspect(join(folder, "rest.mp4"));
  assert.ok(Math.abs(durationSec - leftSec) < 0.5, `it ends at ${durationSec} s`);
  assert.deepEqual(codecs, [null, "aac"]);
  assert.ok((await storedNames(page)).length > 12, "the rest stays");
});

test("a recording whose note is damaged is offered, can't be discarded in a tab while another uploads it, and arrives whole", async () => {
  const { page, context } = await leave(await makeWorkspace(app.db), "Two tabs", {
    sent: 12,
    hasNote: false,
  });
  const other = await context.newPage();
  await other.goto(`${app.url}/stories`);
  const discard = noticeOf(other, "Two tabs").getByRole("button", { name: "Discard" });
  await discard.waitFor();
  const { promise: sending, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/_/media/resumable/**", async (route) => {
    begin();
    await released;
    await route.continue();
  });
  await noticeOf(page, "Two tabs")
    .getByRole("button", { name: /^Finish upload/ })
    .click();
  await sending;
  await discard.click();
  const dialog = other.getByRole("dialog", { name: "Discard recording?" });
  await dialog.getByRole("button", { name: "Discard recording" }).click();
  await dialog.getByText("It is open in another tab of this browser.").waitFor();
  release();
  await page.waitForURL("**/recordings/**");
  const { duration_ms } = await until("it is a recording", () => findRecording("Two tabs"));
  assert.ok(Math.abs(duration_ms - leftSec * 1000) < 500, `${duration_ms} ms`);
  await until("nothing stays in the browser", async () => (await storedNames(page)).length === 0);
  await dialog.getByRole("button", { name: "Discard recording" }).click();
  await dialog.getByText("It was uploaded or discarded in another tab.").waitFor();
});

test("signing out with an unfinished recording asks what becomes of it, and others see only that there is one", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, context } = await leave(workspace, "Left behind", {}, visit);
  const signOut = async (choice: string, button: string) => {
    await page.getByRole("button", { name: /account menu of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    const dialog = page.getByRole("dialog", { name: "Unfinished recordings" });
    await dialog.getByText("A part of “Left behind” is stored only in this browser.").waitFor();
    await dialog.getByRole("radio", { name: choice }).check();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: button }).click();
    await page.waitForURL(/sign-in/);
  };
  const enter = async (userId: string) => {
    await signInAs(app, context, userId);
    await page.goto(`${app.url}/stories`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  };
  await signOut("Keep on this device", "Keep and sign out");
  const { id: otherId } = await makeUser(app.db, workspace);
  // The page's clock is ahead by more than the server waits for a recording.
  await page.clock.setFixedTime(Date.now() + 31 * 86_400_000);
  await enter(otherId);
  await page.getByText("Unfinished recording of another user").waitFor();
  assert.equal(await page.getByText("Left behind").count(), 0);
  await enter(workspace.member.id);
  await noticeOf(page, "Left behind").waitFor();
  await signOut("Delete", "Delete and sign out");
  assert.deepEqual(await storedNames(page), []);
});
