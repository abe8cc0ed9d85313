import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { mediaFile } from "./media.ts";
import { makeMedia } from "./recording-support.ts";
import { startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

/** A telephone far from everything: 400 kbit/s, each answer 400 ms late. */
async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  });
}

/** Notes at each change of the document whether the page says that it loads. */
const watchLoading = `
  globalThis.seen = new Set();
  new MutationObserver(() => {
    const main = document.querySelector("main");
    if (main?.querySelector("[role=status], [aria-busy=true], [aria-label=Loading]")) seen.add("loading");
    if (main !== null && main.textContent.trim() === "" && main.children.length > 0 && !main.querySelector("[aria-label=Loading], [class*=Skeleton]")) seen.add("blank");
  }).observe(document, { childList: true, subtree: true });
`;

test("slow line: library and recording say that they load, are never blank, and ask for nothing twice", async () => {
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
  const twice = (): string[] => asked.filter((one, place) => asked.indexOf(one) !== place);
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

test("slow line: what is typed meanwhile is kept, and the answer shown is that to the last words", async () => {
  const { member } = await makeWorkspace(app.db);
  await makeRecording(app, member.token, { title: "Harbour" });
  await makeRecording(app, member.token, { title: "Harvest" });
  const { page, complaints } = await visit(app, "/", { userId: member.id });
  await page.getByRole("link", { name: "Harvest" }).waitFor();
  const late = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await page.route("**/v2/recordings", async (route) => {
    if (route.request().postData()?.includes('"har"') === true) {
      begun.resolve();
      await late.promise;
    }
    // Given up by the page meanwhile.
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

test("offline gap: an upload goes on by itself once the line is back", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, context } = await visit(app, "/uploads", { userId: member.id });
  await page.getByRole("heading", { name: "Your uploads" }).waitFor();
  const film = readFileSync(mediaFile("good-faststart.mp4"));
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
    .setInputFiles({ name: "Harbour talks.mp4", mimeType: "video/mp4", buffer: film });
  const sending = page.getByRole("region", { name: "On their way" });
  await sending.getByText(/goes on by itself when it is back/).waitFor({ timeout: 60_000 });
  await context.setOffline(false);
  const row = page.getByRole("region", { name: "Your uploads" }).getByRole("listitem");
  await row
    .filter({ hasText: "Harbour talks" })
    .getByText("Recording", { exact: true })
    .waitFor({ timeout: 60_000 });
  assert.equal(await row.count(), 1);
  assert.ok(offsets.length >= 2);
});

test("offline gap: changes say that they were not made, and keep what was typed; back on, they are made once", async () => {
  const { member } = await makeWorkspace(app.db);
  const id = await makeMedia(app, member.token);
  const { page, context } = await visit(app, `/recordings/${id}`, { userId: member.id });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  // The code of the dialog is there already, as it is for whoever has opened it before.
  await button("Share").click();
  const share = page.getByRole("dialog", { name: "Share" });
  await share.getByRole("combobox", { name: "People" }).waitFor();
  await page.waitForLoadState("networkidle");
  await context.setOffline(true);
  const before = await share.getByRole("radio", { checked: true }).getAttribute("value");
  await share.getByLabel("Workspace").click();
  await share.getByText("The server can't be reached.", { exact: false }).waitFor();
  await until("what was chosen falls back", async () =>
    (await share.getByRole("radio", { checked: true }).getAttribute("value")) === before ? true : undefined,
  );
  await share.getByRole("button", { name: "Done" }).click();

  await button("Add tag").click();
  await page.getByRole("textbox", { name: "New tag" }).fill("harbour");
  await page.keyboard.press("Enter");
  await page.getByText("The tag was not added").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "New tag" }).inputValue(), "harbour");
  await page.keyboard.press("Escape");

  await button("Change the title").click();
  const title = page.getByRole("textbox", { name: "Title" });
  await title.fill("A better title");
  await page.keyboard.press("Enter");
  await page.getByText("The title was not changed").first().waitFor();
  assert.equal(await title.inputValue(), "A better title");

  await context.setOffline(false);
  await title.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "A better title" }).waitFor();
});
