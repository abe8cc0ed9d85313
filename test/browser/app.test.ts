import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessible, startBrowserApp, visit, visitShared } from "./support.ts";

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
  const { page, complaints } = await visitShared(app, "/highlights", { userId: admin.id });
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
  const { page } = await visitShared(app, "/stories", { userId: admin.id });
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

test("a file dropped beside a dialog changes nothing, and dropped parts aren't lost by a click", async () => {
  const { page } = await visitShared(app, "/stories", { userId: admin.id });
  await hasLateParts(page);
  const drop = (selector: string) =>
    page.evaluate<boolean>(`(() => {
      const dataTransfer = new DataTransfer();
      // The first box of an mp4: the content says what a file is.
      const bytes = Uint8Array.of(0, 0, 0, 16, 102, 116, 121, 112, 105, 115, 111, 109, 0, 0, 2, 0);
      dataTransfer.items.add(new File([bytes], "Part 1.mp4", { type: "video/mp4" }));
      const event = (type) =>
        document.querySelector(${JSON.stringify(selector)}).dispatchEvent(
          new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
        );
      // False: the app has taken it, and the browser doesn't open the file.
      return !event("dragover") && !event("drop");
    })()`);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages, recordings, people and actions" }).waitFor();
  assert.ok(await drop("main"), "beside a dialog");
  assert.ok(page.url().endsWith("/stories"));
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Uploads", exact: true }).click();
  await page.getByRole("button", { name: "Join files into one recording" }).click();
  const dialog = page.getByRole("dialog", { name: "Join files into one recording" });
  await dialog.getByRole("button", { name: "Choose files" }).waitFor();
  assert.ok(await drop("[role=dialog] form"), "on the form");
  await dialog.getByText("Part 1.mp4").waitFor();
  await page.mouse.click(5, 5);
  await page.keyboard.press("Escape");
  await dialog.getByRole("alertdialog", { name: "Discard changes?" }).waitFor();
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  await dialog.getByText("Part 1.mp4").waitFor();
});

test("signing out leaves the page also where the browser's storage fails", async () => {
  const { page } = await visitShared(app, "/stories", { userId: admin.id });
  await page.getByRole("heading", { level: 1, name: "Stories" }).waitFor();
  await page.evaluate("indexedDB.databases = () => Promise.reject(new DOMException('disk error'))");
  await page.getByRole("button", { name: /account menu of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
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

test("files that a form of another site sends to the share target are refused, and none is stored; those shared by other apps are uploaded when the user agrees, and removed from the browser when they are", async (t) => {
  const form = `<form method="post" enctype="multipart/form-data" action="${app.url}/share-target">
    <input type="file" name="files"></form><script>
    const transfer = new DataTransfer();
    transfer.items.add(new File(["x"], "Planted.mp4"));
    document.querySelector("input").files = transfer.files;
    document.querySelector("form").submit();
  </script>`;
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(form);
  }).listen(0, "127.0.0.1");
  t.after(() => site.close());
  await once(site, "listening");
  const { page } = await visit(app, "/stories", { userId: admin.id, hasServiceWorker: true });
  await controlled(page);
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`).catch(() => undefined);
  await page.getByText("Another website tried to send files to Parley.").waitFor();
  assert.equal(await page.evaluate<number>("indexedDB.databases().then((all) => all.length)"), 0);

  await page.goto(`${app.url}/stories`);
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
  await notice.getByText("Another app or a website sent them.").waitFor();
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

test("shared files: captions stay until their recording has arrived, and another window shows what is shared later", async () => {
  const { page, context } = await visitShared(app, "/icon.svg", { userId: admin.id });
  page.on("dialog", (dialog) => dialog.accept());
  const base64 = readFileSync(new URL("../fixtures/media/good-faststart.mp4", import.meta.url)).toString(
    "base64",
  );
  // As the service worker stores them.
  const inStore = <T>(page: Page, action: string) =>
    page.evaluate<T>(`new Promise((resolve, reject) => {
      const opening = indexedDB.open("parley-shared", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("files", { autoIncrement: true });
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const store = opening.result.transaction("files", "readwrite").objectStore("files");
        const share = (bytes, name) => store.add({ file: new File([bytes], name), at: Date.now() });
        const bytes = Uint8Array.from(atob("${base64}"), (letter) => letter.charCodeAt(0));
        const request = ${action};
        request.onsuccess = () => {
          opening.result.close();
          resolve(request.result);
        };
      };
    })`);
  const names = (page: Page) =>
    inStore<{ file: unknown }[]>(page, "store.getAll()").then((files) => files.length);
  await inStore(
    page,
    `(share(bytes, "Sync.mp4"), share("WEBVTT\\n\\n00:00.000 --> 00:02.000\\nHello", "Sync.vtt"))`,
  );
  await page.route("**/_/media/resumable/**", () => new Promise(() => {}));
  await page.goto(`${app.url}/uploads`);
  const notice = (page: Page, count: string) =>
    page.getByRole("alert").filter({ hasText: `${count} shared with Parley` });
  await notice(page, "2 files").getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByText("With Sync.vtt").waitFor();
  await page.getByText(/0% · uploading/).waitFor();
  assert.equal(await names(page), 2, "the captions are still stored");

  const other = await context.newPage();
  await other.goto(`${app.url}/icon.svg`);
  await inStore(other, `share("Ada: Hello.", "Later.txt")`);
  await other.goto(`${app.url}/uploads`);
  await notice(other, "1 file").getByText("Later.txt").waitFor();
  await notice(other, "1 file").getByRole("button", { name: "Discard" }).click();
  await until("it is removed", async () => (await names(other)) === 2);

  // Where the service worker sends the browser if it couldn't store what was shared.
  await page.goto(`${app.url}/uploads?share=failed`);
  await notice(page, "2 files").getByText("Sync.vtt").waitFor();
  await page.getByText("Couldn't take the shared files").waitFor();
  await page.waitForURL(/\/uploads$/);
});
