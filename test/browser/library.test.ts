import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { syncGrants } from "../../server/people/access/grants.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { call } from "../support/app.ts";
import { launchChromium } from "../support/chromium.ts";
import { makeRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { makeMedia } from "./recording-support.ts";
import { assertAccessible, phone, startBrowserApp, startWebApp, visit, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

const app = await startBrowserApp();
const byName = await startBrowserApp({ env: { PARLEY_DATETIME_FILTERS: "by-name" } });
/** Its first workspace, whose admins set the server up. */
const operators = await makeWorkspace(byName.db);

const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** Inserts transcript recordings of a user, an hour apart. */
async function insertMany(db: Database, userId: string, count: number): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
        share_state, external, tags)
      select gen_random_uuid(), u.workspace_id, 'Number ' || n, timestamptz '2026-06-01' - n * interval '1 hour',
        timestamptz '2026-06-01' - n * interval '1 hour', 60000, 'transcript', 'upload', 'restricted', false,
        '{customer,quarterly,review}'
      from generate_series(1, ${count}::integer) n, users u where u.id = ${userId} returning id`.execute(tx);
    const ids = rows.map(({ id }) => id);
    await sql`
      insert into recording_recorders (recording_id, user_id, position)
      select id, ${userId}, 0 from unnest(${ids}::uuid[]) as r (id)`.execute(tx);
    await syncGrants(tx, ids);
  });
}

test("library: signed-out users are sent to the sign-in page, which returns here", async () => {
  const { page } = await visitShared(app, "/?title=budget");
  await page.waitForURL(/\/sign-in\?next=/);
  assert.equal(new URL(page.url()).searchParams.get("next"), "/?title=budget");
});

test("library: recordings are listed, filtered through the URL, and shown as list and grid; one opened right after typing stays open while its page loads", async () => {
  const workspace = await makeWorkspace(app.db);
  await makeRecording(app, workspace.member.token, {
    title: "Budget 2027",
    participants: [{ name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" }],
  });
  await makeRecording(app, workspace.member.token, { title: "Weekly" });
  const { page, complaints } = await visitShared(app, "/", { userId: workspace.member.id });
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();
  assert.equal(await page.getByRole("list", { name: "Recordings" }).getByRole("listitem").count(), 2);
  await assertAccessible(page);

  await page.getByLabel("Title", { exact: true }).fill("weekl");
  await page.getByRole("link", { name: "Budget 2027" }).waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).searchParams.get("title"), "weekl");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();

  await page.locator("label", { hasText: "Grid" }).click();
  await page.waitForURL(/view=grid/);
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();
  await assertAccessible(page);

  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  await page.getByLabel("Title", { exact: true }).fill("budget");
  await page.getByRole("link", { name: "Budget 2027" }).click();
  // Longer than the pause after which the filter applies.
  await page.waitForTimeout(1000);
  release();
  await page.waitForURL(/\/recordings\//);
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  assert.deepEqual(complaints, []);
});

for (const own of [app, byName])
  test(`library, PARLEY_DATETIME_FILTERS=${own.config.datetimeFilters}: the date filter shows both named days and those between`, async () => {
    const { member } = await makeWorkspace(own.db);
    for (const time of ["01T23:59:59.999Z", "02T00:00Z", "03T23:59:59.999Z", "04T00:00Z"])
      await makeRecording(own, member.token, { title: `At ${time}`, start_datetime: `2026-03-${time}` });
    const { page } = await visitShared(own, "/?from=2026-03-02&to=2026-03-03", { userId: member.id });
    await page.getByRole("link", { name: "At 02T00:00Z" }).waitFor();
    await page.getByRole("link", { name: "At 03T23:59:59.999Z" }).waitFor();
    assert.equal(await page.getByRole("list", { name: "Recordings" }).getByRole("listitem").count(), 2);
  });

test("library: the empty state offers an upload (phone, dark)", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/", {
    userId: workspace.member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("heading", { name: "No recordings yet" }).waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});

test("library: the first admin sees what to set up, with its state, also beside the first recordings, until it is hidden; nothing to filter until there is a recording", async () => {
  const { admin, member } = operators;
  const { page, leave, complaints } = await visitShared(byName, "/", { userId: admin.id });
  const steps = page.getByRole("list", { name: "Set up Parley" }).getByRole("listitem");
  await steps.filter({ hasText: "Transcription" }).getByRole("img", { name: "To do" }).waitFor();
  await steps.filter({ hasText: "Invite your team" }).getByRole("img", { name: "Done" }).waitFor();
  await steps.filter({ hasText: "Backups" }).getByText("No backups are scheduled yet").waitFor();
  assert.equal(await page.getByLabel("Title", { exact: true }).count(), 0);
  await assertAccessible(page);
  await steps.getByRole("button", { name: "Load sample recordings" }).waitFor();
  await steps.filter({ hasText: "Transcription" }).getByRole("link").click();
  await page.waitForURL(/\/settings\/transcription$/);
  const goTo = createTour(page);
  await goTo("/settings/system");
  await steps.filter({ hasText: "Email" }).getByRole("link", { name: "Email settings" }).click();
  await page.waitForURL(/\/settings\/server#mail$/);
  await page.getByRole("form", { name: "Mail" }).waitFor();
  await goTo("/");
  await page.getByRole("button", { name: "Hide the checklist", exact: true }).waitFor();

  const id = await makeMedia(byName, admin.token, { transcript: undefined, participants: [] });
  await page.goto(byName.url);
  await page.getByLabel("Title", { exact: true }).waitFor();
  const reminder = page.getByRole("link", { name: /^Set up Parley: \d steps left$/ });
  await reminder.waitFor();
  await assertAccessible(page);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/setup.png` });
  await reminder.click();
  await page.getByRole("heading", { name: "Set up Parley" }).waitFor();
  await goTo("/");
  await page.getByRole("button", { name: "Dismiss checklist", exact: true }).click();
  await reminder.waitFor({ state: "hidden" });
  await page.goto(`${byName.url}/settings/system`);
  await page.getByRole("heading", { name: "Components" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Set up Parley" }).count(), 0);
  await goTo(`/recordings/${id}`);
  await page.getByText("Transcription is not set up on this server.").waitFor();
  await page.getByRole("link", { name: "Set it up" }).click();
  await page.waitForURL(/\/settings\/transcription$/);
  assert.deepEqual(complaints, []);
  await leave();
  const { page: second } = await visitShared(byName, "/", { userId: member.id });
  await second.getByRole("heading", { name: "No recordings yet" }).waitFor();
  assert.equal(await second.getByText("Set up Parley").count(), 0);
});

test("with a classic scrollbar the header reaches the edge, overlays cover all, and pages don't move sideways", async () => {
  const workspace = await makeWorkspace(app.db);
  await makeRecording(app, workspace.member.token, { title: "Weekly" });
  const browser = await launchChromium({ hasScrollbars: true });
  after(() => browser.close());
  const { page, complaints } = await visit({ ...app, browser }, "/", { userId: workspace.member.id });
  const edges = (size: { width: number; height: number }) =>
    page.setViewportSize(size).then(() =>
      page.evaluate<{ bar: number; header: number; title: number; person: number }>(`(async () => {
        await new Promise(requestAnimationFrame);
        await Promise.allSettled(document.getAnimations().map((one) => one.finished));
        return {
          bar: innerWidth - document.documentElement.clientWidth,
          header: innerWidth - document.querySelector("header").getBoundingClientRect().right,
          title: document.querySelector("h1").getBoundingClientRect().left,
          person: document.querySelector("[aria-label*='account menu of']").getBoundingClientRect().right,
        };
      })()`),
    );
  await page.getByRole("link", { name: "Weekly" }).waitFor();
  const tall = await edges({ width: 1600, height: 900 });
  const low = await edges({ width: 1600, height: 200 });
  assert.equal(tall.bar, 0, "everything fits");
  assert.ok(low.bar > 0, "the browser has classic scrollbars");
  assert.deepEqual([tall.header, low.header], [0, low.bar]);
  assert.deepEqual([low.title, low.person], [tall.title, tall.person]);

  await page.setViewportSize({ width: 1600, height: 900 });
  await page.getByRole("link", { name: "Stories" }).click();
  await page.getByRole("button", { name: "Create story" }).click();
  const dialog = page.getByRole("dialog", { name: "New story" });
  await dialog.waitFor();
  assert.equal(
    await page.evaluate("document.querySelector('.mantine-Modal-overlay').getBoundingClientRect().width"),
    1600,
  );
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("library: rows are selected with Shift, tagged and deleted with undo, marked as favorites, sorted and counted", async () => {
  const { member } = await makeWorkspace(app.db);
  for (const [index, title] of ["Alder", "Birch", "Cedar", "Dogwood"].entries())
    await makeRecording(app, member.token, {
      title,
      start_datetime: new Date(Date.UTC(2026, 2, 1 + Math.floor(index / 2), 9 + index)).toISOString(),
    });
  const { page, complaints } = await visitShared(app, "/", { userId: member.id });
  // Browsers have none on pages that came without TLS.
  await page.evaluate("delete Crypto.prototype.randomUUID");
  await page.getByText("4 recordings").waitFor();
  assert.equal(await page.getByRole("heading", { level: 2 }).count(), 2, "a heading for each day");
  const titles = () => page.getByRole("list", { name: "Recordings" }).getByRole("link").allTextContents();
  assert.deepEqual(await titles(), ["Dogwood", "Cedar", "Birch", "Alder"]);
  await page.getByRole("combobox", { name: "Sort" }).click();
  await page.getByRole("option", { name: "By title" }).click();
  await page.waitForURL(/sort=title/);
  await until("sorted by title", async () => (await titles())[0] === "Alder");
  assert.equal(await page.getByRole("heading", { level: 2 }).count(), 0);

  await page.getByRole("checkbox", { name: "Select Alder" }).click();
  await page.getByRole("checkbox", { name: "Select Cedar" }).click({ modifiers: ["Shift"] });
  const bar = page.getByRole("toolbar", { name: "Selected recordings" });
  await bar.getByText("3 recordings selected").waitFor();
  await assertAccessible(page);
  await bar.getByRole("button", { name: "Add tag" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Tag" }).fill("woods");
  await dialog.getByRole("button", { name: "Add tag" }).click();
  await page.getByText("3 recordings tagged").waitFor();
  await page.getByText("woods").nth(2).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("woods").first().waitFor({ state: "detached" });

  await page.getByRole("checkbox", { name: "Select Birch" }).focus();
  await page.keyboard.press("Space");
  await bar.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("from the trash for 30 days").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("3 recordings").waitFor();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByText("4 recordings").waitFor();

  await page.getByRole("button", { name: "Favorite: Cedar" }).click();
  await page.getByRole("button", { name: "Favorite: Cedar", pressed: true }).waitFor();
  await page.getByRole("button", { name: "Favorites only" }).click();
  await page.waitForURL(/favorite=true/);
  await page.getByText("1 recording", { exact: true }).waitFor();
  assert.deepEqual(await titles(), ["Cedar"]);
  await page.getByRole("button", { name: "Actions for Cedar" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("library: selected recordings are exported as a ZIP file with transcripts and media", async () => {
  const { member } = await makeWorkspace(app.db);
  const video = await makeMedia(app, member.token, { title: "Harbour: talks" });
  await makeRecording(app, member.token, { title: "Weekly" });
  const { page, complaints } = await visitShared(app, "/", { userId: member.id });
  await page.getByRole("checkbox", { name: "Select Weekly" }).click();
  await page.getByRole("checkbox", { name: "Select Harbour: talks" }).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Export" }).click();
  const dialog = page.getByRole("dialog", { name: "Export: 2 recordings" });
  await dialog.waitFor();
  await assertAccessible(page);
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Export" }).click();
  const files = readZip(await readFile(await (await saved).path()));
  assert.deepEqual(files.map(({ name }) => name.replace(/^\d{4}-\d\d-\d\d /, "")).sort(), [
    "Harbour talks/recording.json",
    "Harbour talks/transcript.txt",
    "Harbour talks/transcript.vtt",
    "Harbour talks/video.mp4",
    "Weekly/recording.json",
    "Weekly/transcript.txt",
    "Weekly/transcript.vtt",
  ]);
  const media = files.find(({ name }) => name.endsWith("video.mp4"))?.bytes;
  const stored = await app.store.get(recordingObjectKey(video, "media.mp4"));
  assert.ok(media?.equals(await buffer(stored.body)));
  await dialog.getByText("2 recordings exported").waitFor();
  assert.deepEqual(complaints, []);
});

test("library: an export of more recordings than the rate limit allows waits, and leaves requests to other pages", async () => {
  let aheadMs = 0;
  const { now } = Date;
  Date.now = () => now() + aheadMs;
  // The rate limiter keeps this clock.
  const limited = await startWebApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "20" } }).finally(() => {
    Date.now = now;
  });
  const { member } = await makeWorkspace(limited.db);
  await insertMany(limited.db, member.id, 9);
  const { page } = await visit({ ...limited, browser: app.browser }, "/", { userId: member.id });
  await page.getByRole("checkbox", { name: "Select Number 1", exact: true }).click();
  await page.getByRole("checkbox", { name: "Select Number 9", exact: true }).click({ modifiers: ["Shift"] });
  await page.getByRole("toolbar").getByRole("button", { name: "Export" }).click();
  const dialog = page.getByRole("dialog", { name: "Export: 9 recordings" });
  await dialog.getByLabel("Include video and audio files").uncheck();
  const readTrash = () =>
    page.evaluate<number>("fetch('/_/api/v1/trash', { credentials: 'same-origin' }).then((r) => r.status)");
  await until("the limit is reached", async () => (await readTrash()) === 429);
  await page.clock.install();
  await dialog.getByRole("button", { name: "Export" }).click();
  const statuses = new Set<number>();
  let readAgainMs = 0;
  await until("exported", async () => {
    // Both the server's and the page's clock.
    aheadMs += 10_000;
    await page.clock.fastForward(10_000);
    const isSending = await dialog.getByText(/[1-9] of 9 recordings/).isVisible();
    if (isSending && aheadMs >= readAgainMs) {
      // Once a minute, or these requests themselves use up the limit.
      readAgainMs = aheadMs + 60_000;
      statuses.add(await readTrash());
    }
    return dialog.getByText("9 recordings exported").isVisible();
  });
  assert.deepEqual([...statuses], [200]);
  assert.equal(await dialog.getByText("couldn't be exported").count(), 0);
});

/** The files of a ZIP archive without compression; their checksums are compared. */
function readZip(zip: Buffer): { name: string; bytes: Buffer }[] {
  const end = zip.length - 22;
  assert.equal(zip.readUInt32LE(end), 0x06054b50);
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    assert.equal(zip.readUInt32LE(at), 0x02014b50);
    const [crc, size, nameLength] = [
      zip.readUInt32LE(at + 16),
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
    ];
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const local = zip.readUInt32LE(at + 42);
    assert.equal(zip.readUInt32LE(local), 0x04034b50);
    assert.equal(zip.toString("utf8", local + 30, local + 30 + nameLength), name);
    const bytes = zip.subarray(local + 30 + nameLength, local + 30 + nameLength + size);
    assert.equal(crc32(bytes), crc, name);
    at += 46 + nameLength;
    return { name, bytes };
  });
}

/** At a fourth of the speed. */
const maxTaskMs = 100;

test("library: thousands of recordings scroll with few rows in the document, and without a long task on a slow phone", async () => {
  const { member } = await makeWorkspace(app.db);
  await insertMany(app.db, member.id, 2000);
  const { page, context } = await visit(app, "/", { userId: member.id, size: phone });
  await page.getByText("2,000 recordings").waitFor();
  const list = page.getByRole("list", { name: "Recordings" });
  await page.evaluate(`(async () => {
    while (document.querySelector("[aria-label=Recordings] [aria-posinset='2000']") === null) {
      window.scrollTo(0, 1e9);
      await new Promise(requestAnimationFrame);
    }
  })()`);
  assert.ok((await list.getByRole("listitem").count()) < 40);
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const longest = await page.evaluate<number[]>(`(async () => {
    let durations = [];
    new PerformanceObserver((list) => durations.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: "longtask" });
    const longest = [];
    for (const part of [0.1, 0.8, 0.3, 0.6, 0.2, 0.9]) {
      durations = [];
      window.scrollTo(0, document.body.scrollHeight * part);
      await new Promise(requestAnimationFrame);
      await new Promise(requestIdleCallback);
      // Tasks are reported after they have ended.
      await new Promise((resolve) => setTimeout(resolve, 100));
      longest.push(Math.max(0, ...durations));
      if (longest.at(-1) < ${maxTaskMs}) break;
    }
    return longest;
  })()`);
  // One of them is enough: other work on the machine delays some.
  assert.ok(Math.min(...longest) < maxTaskMs, `the longest task of each jump: ${longest.join(", ")} ms`);
});

test("library: on a phone the filters are in a sheet, with their number on its button", async () => {
  const { member } = await makeWorkspace(app.db);
  await makeRecording(app, member.token, { title: "Budget 2027" });
  await makeRecording(app, member.token, { title: "Weekly" });
  const { page, complaints } = await visit(app, "/", { userId: member.id, size: phone });
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();
  const button = page.getByRole("button", { name: /^Filters/ });
  await button.tap();
  const sheet = page.getByRole("dialog", { name: "Filters" });
  await sheet.getByLabel("Title", { exact: true }).fill("weekl");
  await assertAccessible(page);
  await sheet.getByRole("button", { name: "Done" }).tap();
  await page.getByRole("link", { name: "Budget 2027" }).waitFor({ state: "detached" });
  assert.equal(await button.innerText(), "Filters (1)");
  await page.getByRole("button", { name: "Clear filters" }).tap();
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();
  await button.focus();
  await page.keyboard.press("Enter");
  await sheet.locator(":focus").waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
  await until("focus returns", () =>
    page.evaluate<boolean>("document.activeElement.textContent.startsWith('Filters')"),
  );
  assert.deepEqual(complaints, []);
});

test("library: returning to a long list requests its start and what changed; the command palette requests one page; the actions for selected recordings are reached with the keyboard from any row", async () => {
  const { member } = await makeWorkspace(app.db);
  await insertMany(app.db, member.id, 400);
  const { page, complaints } = await visitShared(app, "/", { userId: member.id });
  await page.getByText("400 recordings").waitFor();
  await page.evaluate(`(async () => {
    while (document.querySelector("[aria-label=Recordings] [aria-posinset='400']") === null) {
      window.scrollTo(0, 1e9);
      await new Promise(requestAnimationFrame);
    }
  })()`);
  await page.getByRole("link", { name: "Number 390", exact: true }).click();
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Renamed");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Renamed" }).waitFor();
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/_/api/v1/library")) requests += 1;
  });
  await page.goBack();
  await page.getByRole("link", { name: "Renamed" }).waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(requests, 4, "the first three pages and the changed one");
  assert.equal(await page.getByRole("link", { name: "Number 389", exact: true }).count(), 1);
  requests = 0;
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Number 1", exact: false }).first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(requests, 1);
  await page.keyboard.press("Escape");
  await page.getByRole("option").first().waitFor({ state: "detached" });

  await page.evaluate("window.scrollTo(0, 0)");
  await page.getByRole("checkbox", { name: "Select Number 7", exact: true }).focus();
  await page.keyboard.press("Space");
  await page.getByText("1 recording selected").waitFor();
  await page.keyboard.press("Enter");
  // Not its dialog, which would have the focus as soon as its code is loaded.
  await page.waitForLoadState("networkidle");
  await page.locator(":focus", { hasText: "Add tag" }).waitFor();
  await page.getByRole("button", { name: "Clear selection" }).focus();
  await page.keyboard.press("Tab");
  // The list follows the actions.
  await page.locator(":focus", { hasText: "Number 1" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("library: a bulk change whose response is lost is sent again and can be undone", async () => {
  const { member } = await makeWorkspace(app.db);
  for (const title of ["Alder", "Birch"]) await makeRecording(app, member.token, { title, tags: [] });
  const { page } = await visitShared(app, "/", { userId: member.id });
  await page.getByRole("checkbox", { name: "Select Alder" }).click();
  await page.getByRole("checkbox", { name: "Select Birch" }).click();
  await page.route(
    "**/_/api/v1/recordings/bulk",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete 2 recordings?" });
  await dialog.getByText("Moves to the trash for everyone").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("2 recordings moved to trash").waitFor();
  await page.getByRole("heading", { name: "No recordings yet" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 recordings restored").waitFor();
  await page.getByRole("link", { name: "Birch" }).waitFor();
});

test("library: bulk changes leave out what the user can't change, name what failed and keep it selected", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const held = (await makeRecording(app, member.token, { title: "Held" })).recordingId;
  await makeRecording(app, member.token, { title: "Loose" });
  const theirs = (await makeRecording(app, admin.token, { title: "Theirs" })).recordingId;
  await call(app, "PUT", `/recordings/${theirs}/users`, { user_id: member.id }, { token: admin.token });
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "A case" });
  const { page } = await visitShared(app, "/", { userId: member.id });
  for (const title of ["Held", "Loose", "Theirs"])
    await page.getByRole("checkbox", { name: `Select ${title}` }).click();
  const bar = page.getByRole("toolbar", { name: "Selected recordings" });
  await bar.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete 2 recordings?" });
  await dialog.getByText("1 recording left out: you can't change it.").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("1 recording moved to trash").waitFor();
  const failure = page.getByRole("alert").filter({ hasText: "1 recording couldn't be changed" });
  await failure.getByRole("listitem").getByText("Held").waitFor();
  await bar.getByText("1 recording selected").waitFor();
  assert.ok(await page.getByRole("checkbox", { name: "Select Held" }).isChecked());
  await assertAccessible(page);
});

test("library: viewers are offered neither changes of recordings nor new ones", async () => {
  const { id, domain, admin } = await makeWorkspace(app.db);
  const viewer = await makeUser(app.db, { id, domain });
  await app.db.pool.query("update users set role = 'viewer' where id = $1", [viewer.id]);
  const { page, complaints } = await visitShared(app, "/", { userId: viewer.id });
  await page.getByRole("heading", { name: "No recordings yet" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Record/ }).count(), 0);
  assert.equal(await page.getByRole("link", { name: /^Upload (a )?recording/ }).count(), 0);
  const { recordingId } = await makeRecording(app, admin.token, { title: "Shared" });
  await call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: viewer.id }, { token: admin.token });
  await page.reload();
  await page.getByRole("checkbox", { name: "Select Shared" }).click();
  const bar = page.getByRole("toolbar", { name: "Selected recordings" });
  await bar.getByRole("button", { name: "Export" }).waitFor();
  for (const name of ["Add tag", "Share", "Delete"])
    assert.equal(await bar.getByRole("button", { name }).count(), 0, name);
  await page.setViewportSize(phone);
  await page.getByRole("navigation", { name: "Main" }).getByRole("button", { name: "More" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New" }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("library: a star shows at once, follows each click, and returns when its request fails", async () => {
  const { member } = await makeWorkspace(app.db);
  await makeRecording(app, member.token, { title: "Alder" });
  const { page } = await visitShared(app, "/", { userId: member.id });
  const star = page.getByRole("button", { name: "Favorite: Alder" });
  const pressed = page.getByRole("button", { name: "Favorite: Alder", pressed: true });
  const notPressed = page.getByRole("button", { name: "Favorite: Alder", pressed: false });
  const methods: string[] = [];
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/favorite", async (route) => {
    methods.push(route.request().method());
    await isReleased;
    await route.continue();
  });
  await star.click();
  await pressed.waitFor();
  await star.click();
  await notPressed.waitFor();
  assert.deepEqual(methods, ["PUT"]);
  release();
  await until("both are sent", () => methods.length === 2);
  assert.deepEqual(methods, ["PUT", "DELETE"]);
  await page.unroute("**/favorite");
  await page.route("**/favorite", (route) => route.abort());
  await star.click();
  await page.getByText("Couldn't change the favorite").waitFor();
  await notPressed.waitFor();
});
