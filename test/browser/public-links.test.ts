import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { makeHighlight, makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertFits, linkTools, pathOf, untilMedia, withoutRefusals } from "./link-support.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { desktop, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);
const { manage, publish } = linkTools(app, member.token);
const shared = await makeMedia(app, member.token, { title: "Harbour contract" });

/** Creates another link to the recording used by all tests. */
const anotherLink = async (body: object = {}) => {
  await manage("PATCH", `/recordings/${shared}`, { share_state: "public" });
  return manage("POST", `/recordings/${shared}/links`, body);
};

/** Shows an open page as on a phone, with dark colors. */
async function showOnPhoneInTheDark(page: Page): Promise<void> {
  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark" });
}

test("recording link: signed-out viewers play, read, search and copy links", async () => {
  const link = await anotherLink();
  const { page, context, complaints } = await visitShared(app, pathOf(link.url));
  await page.getByRole("heading", { level: 1, name: "Harbour contract" }).waitFor();
  assert.equal(await page.title(), "Harbour contract · Parley");
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await untilMedia(page, "it plays", ({ paused, currentTime }) => !paused && currentTime > 0.2);
  await page.keyboard.press("k");
  await untilMedia(page, "it is paused", ({ paused }) => paused);

  await page.keyboard.press("/");
  await page.keyboard.type("signed");
  await page.getByText("1 of 2").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("2 of 2").waitFor();
  await page.getByText("The harbour master wants it").click();
  await untilMedia(page, "it is at the line", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);

  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link to this moment" }).click();
  await page.getByText("Link to 0:05 copied").waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), `${link.url}?t=5`);
  assert.equal(await page.getByRole("link", { name: "Download" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /Create clip|Edit/ }).count(), 0);

  // The seek bar's preview uses the link's own storyboard.
  await page.getByRole("slider", { name: "Seek" }).focus();
  await page.locator('section[aria-label="Player"] img').waitFor();
  const hosts = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/api/'))",
  );
  assert.ok(hosts.length > 0);
  for (const name of hosts)
    assert.match(name, /\/_\/api\/v1\/shared\//, "requests only the link's own resources");
  assert.deepEqual(complaints, []);
});

test("recording link that includes the summary: it is shown with chapters, which stand on the seek bar and in the transcript", async () => {
  const id = await makeMedia(app, member.token, { title: "Harbour plan" });
  await app.db.pool.query("update recordings set ai_summary = $2, ai_chapters = $3 where id = $1", [
    id,
    "## Decisions\n\n- The contract is **signed by Friday**.\n- The harbour master gets a copy.",
    JSON.stringify([
      { title: "Welcome", start: 0, quote: "" },
      { title: "The contract", start: 5000, quote: "" },
    ]),
  ]);
  await manage("PATCH", `/recordings/${id}`, { share_state: "public" });
  const link = await manage("POST", `/recordings/${id}/links`, { include_summary: true });
  const shot = async (page: Page, name: string): Promise<void> => {
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/link-${name}.png` });
  };
  const { page, leave, complaints } = await visitShared(app, pathOf(link.url));
  const summary = page.getByRole("region", { name: "Summary" });
  await summary.getByText("The contract is signed by Friday.").waitFor();
  const transcript = page.getByRole("list", { name: "Transcript" });
  await transcript.getByText("The contract", { exact: true }).waitFor();
  await page.locator('[data-marker="chapter"]').first().waitFor();
  await assertAccessibleAtRest(page);
  await shot(page, "summary");
  await summary.getByRole("button", { name: /^0:05\s*The contract$/ }).click();
  await untilMedia(page, "it is at the chapter", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);
  await showOnPhoneInTheDark(page);
  await summary.waitFor();
  await assertFits(page);
  await shot(page, "summary-phone");
  await leave();
  const plain = await visitShared(app, pathOf((await manage("POST", `/recordings/${id}/links`, {})).url));
  await plain.page.getByRole("list", { name: "Transcript" }).waitFor();
  assert.equal(
    await plain.page.getByText(/signed by Friday\.$|Welcome/).count(),
    1,
    "the line that was said",
  );
  assert.deepEqual([...complaints, ...plain.complaints], []);
});

test("recording link: starts at the link's position, or at the URL's if it has one", async () => {
  const link = await anotherLink({ start: 4000, allow_download: true });
  const path = pathOf(link.url);
  for (const [search, second] of [
    ["", 4],
    ["?t=7", 7],
  ] as const) {
    const { page, leave, complaints } = await visitShared(app, path + search);
    await untilMedia(
      page,
      // A whole second opens the line that starts within it.
      `it starts within second ${second}`,
      ({ currentTime }) => currentTime > second - 0.3 && currentTime < second + 1,
    );
    const download = page.getByRole("link", { name: "Download" });
    const url = (await download.getAttribute("href")) ?? "";
    const response = await fetch(url);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-disposition") ?? "", /^attachment/);
    await response.body?.cancel();
    assert.deepEqual(complaints, []);
    await leave();
  }
});

test("a link deleted while playing: the page shows it, and the media URL returns 404", async () => {
  const link = await anotherLink();
  const { page, complaints } = await visitShared(app, pathOf(link.url));
  await page.getByRole("button", { name: "Play", exact: true }).click();
  const { src } = await untilMedia(
    page,
    "it plays",
    ({ paused, currentTime }) => !paused && currentTime > 0.2,
  );
  assert.equal((await fetch(src, { method: "HEAD" })).status, 200);
  await manage("DELETE", `/links/${link.id}`);
  assert.equal((await fetch(src, { method: "HEAD" })).status, 404);
  // The file is small and fully buffered: reload it so that the server is asked again.
  await page.evaluate("document.querySelector('video').src += '?again'");
  await page.getByRole("heading", { name: "This link was removed" }).waitFor();
  assert.equal(await page.locator("video").count(), 0);
  await assertAccessibleAtRest(page);
  await page.reload();
  await page.getByRole("heading", { name: "Link not found" }).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(withoutRefusals(complaints), []);
});

test("a link deleted while a fully buffered video plays: detected at the next seek, and within seconds while playing", async () => {
  for (const isPlaying of [false, true]) {
    const link = await anotherLink();
    const { page, leave, complaints } = await visitShared(app, pathOf(link.url));
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await untilMedia(page, "it plays", ({ paused, currentTime }) => !paused && currentTime > 0.2);
    await until("all of it is buffered", () =>
      page.evaluate<boolean>(
        "(({ buffered, duration }) => buffered.length > 0 && buffered.end(0) > duration - 0.2)(document.querySelector('video'))",
      ),
    );
    if (isPlaying)
      // Without sound, out of sight, and so slowly that it plays until the end of the test: showing it takes processor time.
      await page.evaluate(`{
        const video = document.querySelector("video");
        Object.assign(video, { muted: true, playbackRate: 0.1 });
        video.style.display = "none";
        window.requestAnimationFrame = (run) => setTimeout(run, 500);
      }`);
    else await page.keyboard.press("k");
    await manage("DELETE", `/links/${link.id}`);
    if (!isPlaying) await page.getByText("It is signed. Café Blå gets a copy.").click();
    const isRemoved = page.getByRole("heading", { name: "This link was removed" });
    await isRemoved.waitFor({ timeout: isPlaying ? 25_000 : 5000 });
    assert.equal(await page.locator("video").count(), 0);
    assert.deepEqual(withoutRefusals(complaints), []);
    await leave();
  }
});

test("an expired and an unknown link are explained", async () => {
  const link = await anotherLink({ expires_datetime: new Date(Date.now() + 3_600_000).toISOString() });
  const path = pathOf(link.url);
  assert.equal((await fetch(app.url + path)).status, 200);
  await app.db.pool.query("update public_links set expires_at = now() - interval '1 second' where id = $1", [
    link.id,
  ]);
  assert.equal((await fetch(app.url + path)).status, 410);
  const { page, leave, complaints } = await visitShared(app, path, { size: phone, colorScheme: "dark" });
  await page.getByRole("heading", { name: "This link has expired" }).waitFor();
  await assertAccessibleAtRest(page);
  await leave();
  const unknown = await visitShared(app, `/s/${"0".repeat(64)}`);
  await unknown.page.getByRole("heading", { name: "Link not found" }).waitFor();
  await assertAccessibleAtRest(unknown.page);
  assert.deepEqual(withoutRefusals([...complaints, ...unknown.complaints]), []);
});

test("a link with a password: rejects a wrong one, opens by keyboard, and stays unlocked in its tab until the password changes", async () => {
  const link = await anotherLink({ password: "harbour" });
  const { page, complaints } = await visitShared(app, pathOf(link.url));
  await page.getByRole("heading", { name: "Password required" }).waitFor();
  assert.doesNotMatch(await page.content(), /Harbour contract/);
  await assertAccessibleAtRest(page);
  await page.keyboard.type("tide");
  await page.keyboard.press("Enter");
  await page.getByText("Incorrect password.").waitFor();
  await assertAccessibleAtRest(page);
  await page.getByLabel("Password", { exact: true }).fill("harbour");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await untilMedia(page, "it plays", ({ paused, currentTime }) => !paused && currentTime > 0.2);
  await page.reload();
  await page.getByRole("list", { name: "Transcript" }).waitFor();

  await manage("PATCH", `/links/${link.id}`, { password: "another" });
  await page.reload();
  await page.getByText(/Enter the password again/).waitFor();
  for (let i = 0; i < 8; i++) {
    await page.getByLabel("Password", { exact: true }).fill(`guess ${i}`);
    const response = page.waitForResponse(/unlock/);
    // Enter would do nothing until the page has dealt with the response before.
    await page.getByRole("button", { name: "Open", exact: true }).click();
    if ((await response).status() === 429) break;
  }
  await page.getByText(/Too many attempts/).waitFor();
  assert.deepEqual(withoutRefusals(complaints), []);
});

test("links on a phone in the dark: nothing overflows, with media and with a transcript only", async () => {
  const link = await anotherLink({ allow_download: true });
  const { page, leave, complaints } = await visitShared(app, pathOf(link.url), {
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await assertFits(page);
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
  await leave();

  const { recordingId } = await makeRecording(app, member.token, { title: "Board" });
  const transcriptOnly = await publish(recordingId);
  const read = await visitShared(app, pathOf(transcriptOnly.url), { size: phone });
  await read.page.getByRole("list", { name: "Transcript" }).waitFor();
  assert.equal(await read.page.getByRole("button", { name: "Play", exact: true }).count(), 0);
  for (const size of [phone, desktop]) {
    await read.page.setViewportSize(size);
    await assertFits(read.page);
    await assertAccessibleAtRest(read.page);
  }
  assert.deepEqual(read.complaints, []);
});

test("highlight link: waits until the clip is rendered, plays it, and shows nothing else", async () => {
  const clip = await makeHighlight(app, member.token, shared, {
    text: "Signed by Friday",
    timestamp: 5000,
    duration: 2500,
  });
  const link = await manage("POST", `/highlights/${clip}/links`, {});
  const { page, complaints } = await visitShared(app, pathOf(link.url));
  await page.getByRole("heading", { level: 1, name: "Signed by Friday" }).waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click({ timeout: 60_000 });
  await untilMedia(page, "it plays to its end", ({ paused, currentTime }) => paused && currentTime > 2);
  const lines = page.getByRole("list", { name: "Transcript" });
  await lines.getByText("The harbour master wants it signed by Friday.").waitFor();
  assert.equal(await lines.getByRole("listitem").count(), 1);
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

let highlights: string[] | undefined;
/** Three highlights, the same each time, so that their clips are rendered once. */
async function threeHighlights(): Promise<string[]> {
  if (highlights !== undefined) return highlights;
  highlights = [];
  for (const [index, text] of ["First", "Second", "Third"].entries())
    highlights.push(
      await makeHighlight(app, member.token, shared, { text, timestamp: index * 3000, duration: 1200 }),
    );
  return highlights;
}

test("story link: plays in sequence, and jumps to any item", async () => {
  const story = await manage("POST", "/stories", {
    title: "Our best moments",
    description: `What to watch first. ${"And why. ".repeat(200)}`,
    highlight_ids: await threeHighlights(),
  });
  const link = await manage("POST", `/stories/${story.id}/links`, {});
  assert.equal(link.left_out, 0);
  const { page, complaints } = await visitShared(app, pathOf(link.url));
  await page.getByRole("heading", { level: 1, name: "Our best moments" }).waitFor();
  await page.getByText(/What to watch first\./).waitFor();
  await page.getByRole("button", { name: "Show more" }).waitFor();
  const items = page.getByRole("list", { name: "In this story" });
  await until(
    "all clips are rendered",
    async () => {
      if ((await items.getByRole("listitem").count()) !== 3) return undefined;
      return (await items.getByText("Preparing").count()) === 0 || undefined;
    },
    60_000,
  );
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.getByRole("heading", { level: 2, name: "Second" }).waitFor();
  await page.getByRole("heading", { level: 2, name: "Third" }).waitFor();
  await untilMedia(page, "the last plays to its end", ({ paused, currentTime }) => paused && currentTime > 1);
  await items.getByRole("button", { name: /First/ }).click();
  await page.getByRole("heading", { level: 2, name: "First" }).waitFor();
  await untilMedia(page, "it plays from the start", ({ paused }) => !paused);
  await showOnPhoneInTheDark(page);
  await items.waitFor();
  await assertFits(page);
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("story link: waits for a clip that is being rendered, and skips a failed one", async () => {
  const ids = await threeHighlights();
  const story = await manage("POST", "/stories", { title: "With gaps", highlight_ids: ids });
  const link = await manage("POST", `/stories/${story.id}/links`, {});
  const view = () => fetch(`${app.url}/_/api/v1/shared/${pathOf(link.url).slice(3)}`).then((it) => it.json());
  await until(
    "all clips are rendered",
    async () => {
      const { items } = (await view()) as { items: { state: string }[] };
      return items.every(({ state }) => state === "ready") || undefined;
    },
    60_000,
  );
  const setState = (state: string, start: number) =>
    app.db.pool.query("update clips set state = $1 where recording_id = $2 and start_ms = $3", [
      state,
      shared,
      start,
    ]);
  await setState("failed", 3000);
  await setState("preparing", 6000);
  const { page, complaints } = await visitShared(app, pathOf(link.url));
  const items = page.getByRole("list", { name: "In this story" });
  await items.getByText("Can't play").waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.getByRole("heading", { level: 2, name: "Third" }).waitFor();
  await page.getByText("This clip is being prepared").waitFor();
  await assertAccessibleAtRest(page);
  await setState("ready", 6000);
  await untilMedia(
    page,
    "it continues automatically",
    ({ src, currentTime }) => src !== "" && currentTime > 0.2,
  );
  await items.getByRole("button", { name: /Second/ }).click();
  await page.getByText("Can't play this", { exact: true }).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("recording link: a lost connection is reported, and playback resumes at its position", async () => {
  const link = await anotherLink({ start: 3000 });
  const { page, context } = await visitShared(app, "/icon.svg");
  await context.route(/media\.mp4/, (route) => route.abort());
  await page.goto(app.url + pathOf(link.url));
  await page.getByText("Can't play this right now").waitFor();
  await assertAccessibleAtRest(page);
  await context.unroute(/media\.mp4/);
  await page.getByRole("button", { name: "Try again" }).click();
  await untilMedia(page, "it is at its position", ({ currentTime }) => Math.abs(currentTime - 3) < 0.3);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await untilMedia(page, "it plays", ({ paused, currentTime }) => !paused && currentTime > 3.2);
});

test("embed: plays in a cross-origin frame without storage, toggles the transcript, links to the page", async () => {
  const link = await anotherLink();
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><title>Elsewhere</title><h1>Elsewhere</h1>
      <iframe src="${link.embed_url}?transcript=0" title="A recording" width="640" height="360"
        allow="autoplay; fullscreen"></iframe>`);
  }).listen(0, "127.0.0.1");
  after(() => server.close());
  await once(server, "listening");
  const context = await app.browser.newContext({ reducedMotion: "reduce" });
  after(() => context.close());
  // Like browsers that block storage in cross-origin frames.
  await context.addInitScript(`if (window !== window.top) for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });`);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
  const frame = page.frames()[1];
  assert.ok(frame !== undefined);
  await frame.getByRole("button", { name: "Play", exact: true }).click();
  await untilMedia(frame, "it plays", ({ paused, currentTime }) => !paused && currentTime > 0.2);
  assert.equal(await frame.getByRole("list", { name: "Transcript" }).count(), 0);
  await frame.getByRole("button", { name: "Transcript" }).click();
  await frame.getByRole("list", { name: "Transcript" }).waitFor();
  await frame.getByRole("button", { name: "Transcript" }).click();
  await frame.getByRole("list", { name: "Transcript" }).waitFor({ state: "detached" });
  const opened = context.waitForEvent("page");
  await frame.getByRole("link", { name: /Harbour contract/ }).click();
  const other = await opened;
  await other.getByRole("heading", { level: 1, name: "Harbour contract" }).waitFor();
  assert.equal(other.url(), link.url);
  assert.deepEqual(complaints, []);
});

test("embed: accessible in wide, narrow and tiny frames", async () => {
  const link = await anotherLink();
  const { page, complaints } = await visitShared(app, `${pathOf(link.embed_url)}?transcript=1`);
  for (const size of [
    { width: 960, height: 480 },
    { width: 400, height: 640 },
    { width: 320, height: 180 },
  ]) {
    await page.setViewportSize(size);
    await page.getByRole("list", { name: "Transcript" }).waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await assertFits(page);
    await assertAccessibleAtRest(page);
  }
  assert.deepEqual(complaints, []);
});
