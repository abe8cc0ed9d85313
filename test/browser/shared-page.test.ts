import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { makeWorkspace } from "../support/factories.ts";
import { phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { admin } = await makeWorkspace(app.db);

/** What a page and its context keep, as a page without scripts of its own sees it. */
async function stateOf(page: Page): Promise<Record<string, unknown>> {
  const inPage = await page.evaluate<Record<string, unknown>>(`(async () => ({
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
    cookies: document.cookie,
    name,
    history: history.length,
    hash: location.hash,
    global: "left" in globalThis,
    hovered: document.querySelectorAll("a:hover").length,
    isDark: matchMedia("(prefers-color-scheme: dark)").matches,
    isPrint: matchMedia("print").matches,
    mayRead: (await navigator.permissions.query({ name: "clipboard-read" })).state,
    isOnline: navigator.onLine,
    moves: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    width: innerWidth,
    hasTouch: "ontouchstart" in window && matchMedia("(pointer: coarse)").matches,
  }))()`);
  return {
    ...inPage,
    signedIn: (await page.context().cookies()).map(({ name }) => name),
    pages: page
      .context()
      .pages()
      .map((one) => one.url()),
  };
}

test("a shared page keeps nothing of a visit", async () => {
  const first = await visitShared(app, "/sign-in");
  const clean = await stateOf(first.page);
  await first.leave();

  const second = await visitShared(app, "/settings", { userId: admin.id, size: phone });
  const { page } = second;
  // Not assert.equal, which compares two different pages with everything they refer to: 20 GB of memory.
  assert.ok(page === first.page);
  const heard: string[] = [];
  page.on("request", (request) => heard.push(request.url()));
  page.on("dialog", (dialog) => void dialog.dismiss().catch(() => heard.push("dialog")));
  await page.route("**/sign-in", (route) => route.fulfill({ body: "replaced" }));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.evaluate(`(async () => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
    await (await caches.open("left")).put("/left", new Response("1"));
    document.cookie = "left=1; path=/";
    name = "left";
    left = 1;
    history.pushState(null, "", "#left");
    addEventListener("beforeunload", (event) => event.preventDefault());
    addEventListener("pagehide", () => localStorage.setItem("late", "1"));
    setInterval(() => localStorage.setItem("late", "1"), 1);
    document.body.innerHTML = "<a href='/icon.svg' target='_blank' rel='opener'>Another page</a>";
  })()`);
  const opened = page.waitForEvent("popup");
  // Without a click, a browser ignores that the page asks to stay.
  await page.getByRole("link", { name: "Another page" }).click();
  await opened;
  await page.setViewportSize({ width: 500, height: 500 });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "no-preference", media: "print" });
  await second.context.route("**/sign-in", (route) => route.fulfill({ body: "replaced" }));
  await second.context.grantPermissions(["clipboard-read"]);
  await second.context.setOffline(true);
  await page.mouse.move(20, 20);
  await page.keyboard.down("Shift");
  await page.mouse.down();
  const left = await stateOf(page);
  for (const name of Object.keys(clean)) assert.notDeepEqual([name, left[name]], [name, clean[name]]);
  await second.leave();

  const third = await visitShared(app, "/sign-in");
  assert.ok(third.page === page);
  const count = heard.length;
  assert.deepEqual(await stateOf(page), clean);
  assert.deepEqual(third.complaints, []);
  await page.getByLabel("Email").focus();
  await page.keyboard.type("a");
  await page.keyboard.press("a");
  assert.equal(await page.getByLabel("Email").inputValue(), "aa");
  await page.evaluate("console.error('of the third')");
  assert.deepEqual([heard.length, second.complaints, third.complaints], [count, [], ["of the third"]]);
});

test("visits at the same time, and those in another language, have pages of their own", async () => {
  const [one, other] = [await visitShared(app, "/icon.svg"), await visitShared(app, "/icon.svg")];
  const german = await visitShared(app, "/icon.svg", { locale: "de" });
  assert.equal(new Set([one.page, other.page, german.page]).size, 3);
  assert.equal(await german.page.evaluate("navigator.language"), "de");
});

test("a page that another origin was loaded into is not used again", async () => {
  const server = createServer((_request, response) => void response.end("elsewhere"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  for (const where of ["the page", "another page"]) {
    const { page, context, leave } = await visitShared(app, "/icon.svg");
    const opened = where === "the page" ? page : await context.newPage();
    await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await leave();
    assert.equal(page.isClosed(), true, where);
  }
});

test("a shared page refuses what would outlast a visit", async () => {
  const { page, context } = await visitShared(app, "/icon.svg");
  const refusal = /would outlast the visit of a shared page/;
  assert.throws(() => page.addInitScript("1"), refusal);
  assert.throws(() => page.clock.install(), refusal);
  assert.throws(() => page.close(), refusal);
  assert.throws(() => context.close(), refusal);
  assert.throws(() => context.newCDPSession(page), refusal);
  assert.throws(() => context.on("request", () => {}), refusal);
});
