import assert from "node:assert/strict";
import { after, test } from "node:test";
import { launchChromium } from "../support/chromium.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { makeMedia } from "./recording-support.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

test("library: signed-out users are sent to the sign-in page, which returns here", async () => {
  const { page } = await visit(app, "/?title=budget");
  await page.waitForURL(/\/sign-in\?next=/);
  assert.equal(new URL(page.url()).searchParams.get("next"), "/?title=budget");
});

test("library: recordings are listed, filtered through the URL, and shown as list and grid", async () => {
  const workspace = await makeWorkspace(app.db);
  await makeRecording(app, workspace.member.token, {
    title: "Budget 2027",
    participants: [{ name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" }],
  });
  await makeRecording(app, workspace.member.token, { title: "Weekly" });
  const { page, complaints } = await visit(app, "/", { userId: workspace.member.id });
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
  assert.deepEqual(complaints, []);
});

for (const mode of ["contract", "by-name"])
  test(`library, PARLEY_DATETIME_FILTERS=${mode}: the date filter shows both named days and those between`, async () => {
    const own = await startBrowserApp({ env: { PARLEY_DATETIME_FILTERS: mode } });
    const { member } = await makeWorkspace(own.db);
    for (const time of ["01T23:59:59.999Z", "02T00:00Z", "03T23:59:59.999Z", "04T00:00Z"])
      await makeRecording(own, member.token, { title: `At ${time}`, start_datetime: `2026-03-${time}` });
    const { page } = await visit(own, "/?from=2026-03-02&to=2026-03-03", { userId: member.id });
    await page.getByRole("link", { name: "At 02T00:00Z" }).waitFor();
    await page.getByRole("link", { name: "At 03T23:59:59.999Z" }).waitFor();
    assert.equal(await page.getByRole("list", { name: "Recordings" }).getByRole("listitem").count(), 2);
  });

test("library: the empty state offers an upload (phone, dark)", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/", {
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

test("library: the first admin sees what to set up, with its state; nothing to filter until there is a recording", async () => {
  const own = await startBrowserApp();
  const { admin, member } = await makeWorkspace(own.db);
  const { page, complaints } = await visit(own, "/", { userId: admin.id });
  const steps = page.getByRole("list", { name: "Set up Parley" }).getByRole("listitem");
  await steps.filter({ hasText: "Transcription" }).getByRole("img", { name: "To do" }).waitFor();
  await steps.filter({ hasText: "Invite your team" }).getByRole("img", { name: "Done" }).waitFor();
  await steps.filter({ hasText: "Backups" }).getByText("PARLEY_BACKUP_TO").waitFor();
  assert.equal(await page.getByLabel("Title", { exact: true }).count(), 0);
  await assertAccessible(page);
  await steps.getByRole("button", { name: "Load sample recordings" }).waitFor();
  await steps.filter({ hasText: "Transcription" }).getByRole("link").click();
  await page.waitForURL(/\/settings\/transcription$/);
  await page.goBack();
  await page.getByRole("button", { name: "Hide the checklist" }).click();
  await page.reload();
  await page.getByRole("heading", { name: "No recordings yet" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Set up Parley" }).count(), 0);

  const id = await makeMedia(own, admin.token, { transcript: undefined, participants: [] });
  await page.goto(own.url);
  await page.getByLabel("Title", { exact: true }).waitFor();
  await page.goto(`${own.url}/recordings/${id}`);
  await page.getByText("Transcription is not set up on this server.").waitFor();
  await page.getByRole("link", { name: "Set it up" }).click();
  await page.waitForURL(/\/settings\/transcription$/);
  const { page: second } = await visit(own, "/", { userId: member.id });
  await second.getByRole("heading", { name: "No recordings yet" }).waitFor();
  assert.equal(await second.getByRole("heading", { name: "Set up Parley" }).count(), 0);
  assert.deepEqual(complaints, []);
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
  await page.goto(`${app.url}/stories`);
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
