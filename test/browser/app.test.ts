import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessible, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const { admin } = await makeWorkspace(app.db);
const { recordingId } = await makeRecording(app, admin.token, { title: "Harbour contract" });

const controlled = (page: Page) =>
  until("the service worker controls the page", () =>
    page.evaluate<boolean>("navigator.serviceWorker.controller !== null"),
  );

/** Until the parts that are loaded after the page are there. */
const hasLateParts = (page: Page) =>
  until("the late parts are loaded", () =>
    page.evaluate<boolean>("performance.getEntriesByType('resource').some(({ name }) => /late-/.test(name))"),
  );

test("command palette: Ctrl+K opens it; recordings, pages and actions are chosen with the keyboard", async () => {
  const { page, complaints } = await visit(app, "/highlights", { userId: admin.id });
  await page.getByRole("heading", { level: 1, name: "Highlights" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search pages, recordings, people and actions" });
  await field.waitFor();
  const selected = page.getByRole("option", { selected: true });
  await page.getByRole("option", { name: "Harbour contract" }).waitFor();
  await assertAccessible(page);
  await field.fill("harb");
  await selected.getByText("Search all transcripts for “harb”").waitFor();
  await page.keyboard.press("ArrowDown");
  await selected.getByText("Harbour contract").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/recordings/${recordingId}`));
  await page.keyboard.press("Control+k");
  await field.fill("legal");
  await page.getByRole("option", { name: "Legal holds" }).click();
  await page.waitForURL(/\/settings\/holds$/);
  await page.keyboard.press("Control+k");
  await field.waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("files dropped on any page are uploaded", async () => {
  const { page } = await visit(app, "/stories", { userId: admin.id });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await hasLateParts(page);
  const data = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["Ada: Hello.\\nBo: Good morning."], "Short talk.txt", { type: "text/plain" }));
    return transfer;
  })()`);
  await page.getByRole("main").dispatchEvent("dragenter", { dataTransfer: data });
  await page.getByText("Drop files to upload").waitFor();
  await page.getByRole("main").dispatchEvent("drop", { dataTransfer: data });
  await page.waitForURL(/\/uploads$/);
  await page.getByText("Short talk").first().waitFor();
});

test("service worker: caches no pages and no data, shows a page without a network, and offers to reload for a new version", async () => {
  const { page, context } = await visit(app, `/recordings/${recordingId}`, {
    userId: admin.id,
    hasServiceWorker: true,
  });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await controlled(page);
  await page.goto(`${app.url}/stories`);
  await page.getByRole("heading", { level: 1, name: "Stories" }).waitFor();
  const cached = await page.evaluate<string[]>(`(async () => {
    const stored = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) stored.push(new URL(url).pathname);
    return stored;
  })()`);
  assert.ok(cached.includes("/offline") && cached.some((path) => /^\/assets\/.*\.js$/.test(path)));
  for (const path of cached) assert.match(path, /^\/(?:offline|icon\.svg|assets\/.+)$/);

  await context.setOffline(true);
  await page.goto(`${app.url}/highlights`);
  await page.getByRole("heading", { name: "You're offline" }).waitFor();
  await assertAccessible(page);
  await context.setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Highlights" }).waitFor();

  // A worker at another URL replaces the first one, as one with other content would.
  await hasLateParts(page);
  await page.evaluate(`navigator.serviceWorker.register("/service-worker.js?next").then(() => undefined)`);
  await page.getByText("New version").waitFor();
  await assertAccessible(page);
  const reloaded = page.waitForEvent("load");
  await page.getByRole("button", { name: "Reload" }).click();
  await reloaded;
  await page.getByRole("heading", { level: 1, name: "Highlights" }).waitFor();
});

test("files shared by other apps are uploaded when the user agrees, and removed from the browser when they are", async () => {
  const { page } = await visit(app, "/stories", { userId: admin.id, hasServiceWorker: true });
  await controlled(page);
  await page.evaluate(`(() => {
    const form = document.createElement("form");
    form.method = "post";
    form.enctype = "multipart/form-data";
    form.action = "/share-target";
    const field = document.createElement("input");
    field.type = "file";
    field.name = "files";
    const transfer = new DataTransfer();
    transfer.items.add(new File(["Ada: Hello.\\nBo: Good morning."], "Shared talk.txt", { type: "text/plain" }));
    field.files = transfer.files;
    form.append(field);
    document.body.append(form);
    form.submit();
  })()`);
  await page.waitForURL(/\/uploads$/);
  const notice = page.getByRole("alert").filter({ hasText: "1 file shared with Parley" });
  await notice.getByText("Shared talk.txt").waitFor();
  // Nothing is uploaded before the user decides: any web site can share files.
  await page.reload();
  assert.equal(await page.getByRole("link", { name: "Shared talk" }).count(), 0);
  await notice.getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByText("Shared talk").first().waitFor();
  const isEmpty = `new Promise((resolve, reject) => {
    const opening = indexedDB.open("parley-shared", 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const count = opening.result.transaction("files").objectStore("files").count();
      count.onsuccess = () => {
        opening.result.close();
        resolve(count.result === 0);
      };
    };
  })`;
  await until("the file is removed", () => page.evaluate<boolean>(isEmpty));
});
