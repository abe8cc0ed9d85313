import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { makeRecording, makeWorkspace, mediaFile } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { makeMedia } from "./recording-support.ts";
import { startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

/** A slow mobile connection: 400 kbit/s and 400 ms latency. */
async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  });
}

/** Records on each DOM change whether the page shows a loading state or is blank. */
const watchLoading = `
  globalThis.seen = new Set();
  new MutationObserver(() => {
    const main = document.querySelector("main");
    if (main?.querySelector("[role=status], [aria-busy=true], [aria-label=Loading]")) seen.add("loading");
    if (main !== null && main.textContent.trim() === "" && main.children.length > 0 && !main.querySelector("[aria-label=Loading], [class*=Skeleton]")) seen.add("blank");
  }).observe(document, { childList: true, subtree: true });
`;

test("slow connection: library and recording show a loading state, are never blank, and request nothing twice", async () => {
  const { member } = await makeWorkspace(app.db);
  const id = await makeMedia(app, member.token);
  const { page, context, complaints } = await visit(app, "/uploads", { userId: member.id });
  await slowDown(context, page);
  await page.addInitScript(watchLoading);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/_/")) asked.push(`${request.method()} ${pathname}`);
  });
  const twice = (): string[] => asked.filter((one, index) => asked.indexOf(one) !== index);
  for (const [path, whole] of [
    ["/", page.getByRole("link", { name: "Harbour contract" })],
    [`/recordings/${id}`, page.getByRole("list", { name: "Transcript" })],
  ] as const) {
    asked.length = 0;
    await page.goto(app.url + path, { waitUntil: "commit" });
    await whole.waitFor({ timeout: 60_000 });
    assert.deepEqual(await page.evaluate("[...seen]"), ["loading"], path);
    assert.deepEqual(twice(), [], path);
  }
  assert.deepEqual(complaints, []);
});

test("slow connection: typed text is kept, and the results match the last query", async () => {
  const { member } = await makeWorkspace(app.db);
  await makeRecording(app, member.token, { title: "Harbour" });
  await makeRecording(app, member.token, { title: "Harvest" });
  const { page, complaints } = await visit(app, "/", { userId: member.id });
  await page.getByRole("link", { name: "Harvest" }).waitFor();
  const late = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await page.route("**/api/v1/library", async (route) => {
    if (route.request().postData()?.includes('"har"') === true) {
      begun.resolve();
      await late.promise;
    }
    // Aborted by the page meanwhile.
    await route.continue().catch(() => undefined);
  });
  const field = page.getByLabel("Title", { exact: true });
  await field.pressSequentially("har");
  await begun.promise;
  await field.pressSequentially("bour");
  await page.waitForURL(/title=harbour/);
  assert.equal(await field.inputValue(), "harbour");
  await page.getByRole("link", { name: "Harvest" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Harbour" }).waitFor();
  late.resolve();
  await page.unrouteAll({ behavior: "wait" });
  assert.equal(await page.getByRole("link", { name: "Harvest" }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("offline: an upload resumes automatically once back online", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, context } = await visit(app, "/uploads", { userId: member.id });
  await page.getByRole("heading", { name: "Your uploads" }).waitFor();
  const source = readFileSync(mediaFile("good-faststart.mp4"));
  const offsets: number[] = [];
  let isCut = false;
  page.on("request", (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
  });
  await page.route("**/*", async (route) => {
    if (route.request().method() === "PATCH" && !isCut) {
      isCut = true;
      await context.setOffline(true);
      await route.abort("internetdisconnected");
    } else await route.continue();
  });
  await page
    .getByLabel("Choose files to upload")
    .setInputFiles({ name: "Harbour talks.mp4", mimeType: "video/mp4", buffer: source });
  const sending = page.getByRole("region", { name: "In progress" });
  await sending.getByText(/resumes automatically/).waitFor({ timeout: 60_000 });
  await context.setOffline(false);
  const row = page.getByRole("region", { name: "Your uploads" }).getByRole("listitem");
  await row
    .filter({ hasText: "Harbour talks" })
    .getByText("Ready", { exact: true })
    .waitFor({ timeout: 60_000 });
  assert.equal(await row.count(), 1);
  assert.ok(offsets.length >= 2);
});

test("offline: failed changes are reported and keep the text; back online they are saved once", async () => {
  const { member } = await makeWorkspace(app.db);
  const id = await makeMedia(app, member.token);
  const { page, context } = await visit(app, `/recordings/${id}`, { userId: member.id });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  // Loads the dialog's code, as for users who have opened it before.
  await button("Share").click();
  const share = page.getByRole("dialog", { name: "Share" });
  await share.getByRole("combobox", { name: "People" }).waitFor();
  await page.waitForLoadState("networkidle");
  await context.setOffline(true);
  const before = await share.getByRole("radio", { checked: true }).getAttribute("value");
  await share.getByLabel("Workspace").click();
  await share.getByText("The server can't be reached.", { exact: false }).waitFor();
  await until("the choice is reverted", async () =>
    (await share.getByRole("radio", { checked: true }).getAttribute("value")) === before ? true : undefined,
  );
  await share.getByRole("button", { name: "Done" }).click();

  await button("Add tag").click();
  await page.getByRole("textbox", { name: "New tag" }).fill("harbour");
  await page.keyboard.press("Enter");
  await page.getByText("Couldn't add tag").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "New tag" }).inputValue(), "harbour");
  await page.keyboard.press("Escape");

  await button("Edit title").click();
  const title = page.getByRole("textbox", { name: "Title" });
  await title.fill("A better title");
  await page.keyboard.press("Enter");
  await page.getByText("Couldn't rename: The server can't be reached.", { exact: false }).waitFor();
  assert.equal(await title.inputValue(), "A better title");

  await context.setOffline(false);
  await title.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "A better title" }).waitFor();
});
