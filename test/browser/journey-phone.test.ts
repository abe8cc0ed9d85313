import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { call } from "../support/app.ts";
import { makeHighlight, makeRecording, makeUser, makeWorkspace, mediaFile } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertFits, misfits } from "./fits.ts";
import { makeMedia } from "./recording-support.ts";
import { animationsEnd, assertAccessible, desktop, phone, startBrowserApp, visit } from "./support.ts";
import { createTour } from "./tour.ts";

const app = await startBrowserApp();

const workspace = await makeWorkspace(app.db);
const { admin } = workspace;
const recordingId = await makeMedia(app, admin.token, {
  title: "Harbour contract, second reading, with everybody who has a say in it",
  tags: ["harbour", "a-rather-long-tag-that-somebody-thought-of"],
});
await makeHighlight(app, admin.token, recordingId, { text: "It is signed" });
const { recordingId: deletedId } = await makeRecording(app, admin.token, {
  title: "An old meeting that nobody needs any longer",
});
await call(app, "DELETE", `/_/api/v1/recordings/${deletedId}`, undefined, {
  version: null,
  token: admin.token,
});

const paths = [
  "/",
  "/?view=grid",
  "/search?q=harbour",
  "/uploads",
  "/highlights",
  "/stories",
  "/trash",
  `/recordings/${recordingId}`,
  "/settings",
  "/settings/tokens",
  "/settings/apps",
  "/settings/users",
  "/settings/teams",
  "/settings/webhooks",
  "/settings/clients",
  "/settings/audit",
  "/settings/meeting-types",
  "/settings/templates",
  "/settings/system",
];

for (const [name, sizes, fontSize] of [
  ["a phone's width and 320 pixels (WCAG 1.4.10)", [phone, { width: 320, height: 640 }], "100%"],
  ["twice the size of text (WCAG 1.4.4)", [desktop], "200%"],
] as const)
  test(`at ${name}: nothing overflows the window and no control is covered, on every page`, async () => {
    const { page, complaints } = await visit(app, "/icon.svg", { userId: admin.id, size: sizes[0] });
    // Like a browser setting: applied before anything is measured.
    await page.addInitScript(
      `document.addEventListener("readystatechange", () => { document.documentElement.style.fontSize = "${fontSize}"; });`,
    );
    await page.goto(`${app.url}/action-items`);
    await page.locator("h1").first().waitFor();
    const goTo = createTour(page);
    const errors: string[] = [];
    for (const [index, path] of paths.entries()) {
      await goTo(path);
      await page.locator("h1").first().waitFor();
      // Every other page opens at the other size.
      for (const size of index % 2 === 0 ? sizes : sizes.toReversed()) {
        await page.setViewportSize(size);
        await animationsEnd(page);
        let found = await page.evaluate<string[]>(misfits);
        // Seen once on a busy machine: right after the change, an empty element of the recording page was too wide.
        for (let tries = 0; found.length > 0 && tries < 20; tries++) {
          await setTimeout(100);
          found = await page.evaluate<string[]>(misfits);
        }
        for (const misfit of found) errors.push(`${path} at ${size.width} pixels: ${misfit}`);
      }
    }
    assert.equal(errors.join("\n"), "");
    assert.deepEqual(complaints, []);
  });

test("filters of Highlights, Search and the audit log are in a sheet, with their number on its button; at 360 pixels the Library's date filter fits, and the closed filters leave no dialog behind", async () => {
  const { page, complaints } = await visit(app, "/highlights", { userId: admin.id, size: phone });
  const goTo = createTour(page);
  const button = page.getByRole("button", { name: /^Filters/ });
  const sheet = page.getByRole("dialog", { name: "Filters" });
  const close = async (filters: string) => {
    await sheet.getByRole("button", { name: "Done" }).tap();
    await sheet.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: filters, exact: true }).waitFor();
  };
  await page.getByRole("link", { name: "It is signed" }).waitFor();
  assert.equal(await page.getByRole("textbox").count(), 0);
  await button.tap();
  await sheet.getByLabel("Search highlights").fill("nothing like this");
  await assertAccessible(page);
  // Applies what was typed right before.
  await close("Filters (1)");
  await page.getByText("No matching highlights").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).tap();
  await page.getByRole("link", { name: "It is signed" }).waitFor();
  assert.equal(new URL(page.url()).search, "");

  await goTo("/search?q=harbour");
  await page.getByRole("list", { name: "Results" }).waitFor();
  await button.tap();
  await sheet.getByPlaceholder("Any type").tap();
  await page.getByRole("option", { name: "Audio" }).tap();
  await close("Filters (1)");
  await page.getByRole("button", { name: "Clear filters" }).tap();
  await page.getByRole("list", { name: "Results" }).waitFor();

  await goTo("/settings/audit");
  const log = page.getByRole("list", { name: "Audit log" });
  await log.waitFor();
  await button.tap();
  await sheet.getByPlaceholder("Any action").tap();
  await page.getByRole("option", { name: "Token revoked", exact: true }).tap();
  await close("Filters (1)");
  await page.getByText("No entries match these filters.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).tap();
  await log.waitFor();

  await page.setViewportSize({ width: 360, height: 640 });
  await goTo("/");
  await button.tap();
  await sheet.getByRole("button", { name: "Any date" }).tap();
  const preset = page.getByRole("button", { name: "Last 30 days" });
  await preset.waitFor();
  const ends = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.mantine-DatePickerInput-day, .mantine-DatePickerInput-calendarHeaderControl, .mantine-DatePickerInput-presetButton')]
      .flatMap((element) => [element.getBoundingClientRect().left, element.getBoundingClientRect().right])`,
  );
  assert.ok(ends.length > 60, `${ends.length} edges`);
  assert.ok(
    Math.min(...ends) >= 0 && Math.max(...ends) <= 360,
    `from ${Math.min(...ends)} to ${Math.max(...ends)}`,
  );
  await preset.tap();
  await page.waitForURL(/from=/);
  await page.getByRole("button", { name: "Done" }).tap();
  await until("the filters are gone", async () => (await page.locator('[role="dialog"]').count()) === 0);
  assert.deepEqual(complaints, []);
});

test("touch: upload, play, search, clip, share and unshare, on a phone", async () => {
  const other = await makeUser(app.db, workspace, { name: "Zoe Last" });
  const { page, complaints } = await visit(app, "/", { userId: admin.id, size: phone });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await button("New").tap();
  await assertAccessible(page);
  await page.getByRole("menuitem", { name: "Upload" }).tap();
  await page.getByRole("heading", { name: "Uploads", exact: true }).waitFor();
  const chooser = page.waitForEvent("filechooser", { timeout: 120_000 });
  await page.getByRole("group", { name: "Files to upload" }).tap();
  await (await chooser).setFiles(mediaFile("good-faststart.mp4"));
  const row = page.getByRole("region", { name: "Your uploads" }).getByRole("listitem");
  await row
    .filter({ hasText: "good-faststart" })
    .getByText("Ready", { exact: true })
    .waitFor({ timeout: 60_000 });
  await assertFits(page, "uploads");

  await page.getByRole("navigation").getByRole("link", { name: "Search" }).tap();
  await page.keyboard.type("harbour");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Results" }).waitFor();
  await assertFits(page, "search results");
  await button("More").tap();
  await page.getByRole("menuitem", { name: "Trash" }).tap();
  await page.getByRole("heading", { name: "Trash", exact: true }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Library" }).tap();
  await page.getByRole("link", { name: /^Harbour contract, second/ }).tap();
  await button("Play").first().waitFor();
  await button("Play").first().tap();
  await until("it plays", () => page.evaluate<boolean>("document.querySelector('video').currentTime > 0"));
  await page.evaluate("document.querySelector('video').pause()");

  await page.getByRole("tab", { name: "Transcript" }).tap();
  await page.getByRole("searchbox", { name: "Search transcript" }).fill("signed by");
  await page.locator("mark[data-current]").waitFor();
  await page.getByRole("button", { name: /^0:05, / }).tap();
  await page.getByRole("button", { name: /^Actions for 0:05/ }).tap();
  await page.getByRole("menuitem", { name: "Create clip" }).tap();
  const clip = page.getByRole("dialog", { name: "New clip" });
  await clip.getByRole("button", { name: "Create clip" }).waitFor();
  await assertFits(page, "the clip dialog");
  await clip.getByRole("button", { name: "Create clip" }).tap();
  await clip.waitFor({ state: "detached" });

  await button("Share").tap();
  const share = page.getByRole("dialog", { name: "Share" });
  await share.getByRole("combobox", { name: "People" }).tap();
  await page.getByRole("option", { name: /Zoe Last/ }).tap();
  await share.getByText(other.email).waitFor();
  await assertFits(page, "sharing");
  await assertAccessible(page);
  await share.getByRole("button", { name: "Stop sharing with Zoe Last" }).tap();
  await share.getByText(other.email).waitFor({ state: "detached" });
  await share.getByRole("button", { name: "Done" }).tap();
  await share.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
