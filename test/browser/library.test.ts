import assert from "node:assert/strict";
import { after, test } from "node:test";
import { launchChromium } from "../support/chromium.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

test("library: whoever is not signed in is led to the sign-in, and back", async () => {
  const { page } = await visit(app, "/?title=budget");
  await page.waitForURL(/\/sign-in\?next=/);
  assert.equal(new URL(page.url()).searchParams.get("next"), "/?title=budget");
});

test("library: shows recordings, narrows them by the address, as list and as grid, without a fault", async () => {
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
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();

  await page.locator("label", { hasText: "Grid" }).click();
  await page.waitForURL(/view=grid/);
  await page.getByRole("link", { name: "Budget 2027" }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("library: nothing yet, on a phone in the dark, is told and leads on", async () => {
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

test("with a classic scrollbar the header reaches the edge, overlays cover all, and pages don't move sideways", async () => {
  const workspace = await makeWorkspace(app.db);
  await makeRecording(app, workspace.member.token, { title: "Weekly" });
  const browser = await launchChromium({ hasScrollbars: true });
  after(() => browser.close());
  const { page, complaints } = await visit({ ...app, browser }, "/", { userId: workspace.member.id });
  const places = (size: { width: number; height: number }) =>
    page.setViewportSize(size).then(() =>
      page.evaluate<{ bar: number; header: number; title: number; person: number }>(`({
        bar: innerWidth - document.documentElement.clientWidth,
        header: innerWidth - document.querySelector("header").getBoundingClientRect().right,
        title: document.querySelector("h1").getBoundingClientRect().left,
        person: document.querySelector("[aria-label*='account of']").getBoundingClientRect().right,
      })`),
    );
  await page.getByRole("link", { name: "Weekly" }).waitFor();
  const tall = await places({ width: 1600, height: 900 });
  const low = await places({ width: 1600, height: 200 });
  assert.equal(tall.bar, 0, "all of it fits");
  assert.ok(low.bar > 0, "the browser has scrollbars that take room");
  assert.deepEqual([tall.header, low.header], [0, low.bar]);
  assert.deepEqual([low.title, low.person], [tall.title, tall.person]);

  await page.setViewportSize({ width: 1600, height: 900 });
  await page.goto(`${app.url}/stories`);
  await page.getByRole("button", { name: "New story" }).click();
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
