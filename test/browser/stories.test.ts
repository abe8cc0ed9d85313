import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { call } from "../support/app.ts";
import { makeHighlight, makeUser, makeWorkspace } from "../support/factories.ts";
import { makeMediaRecording } from "../support/media-recordings.ts";
import { until } from "../support/until.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const { token } = member;
const video = await makeMediaRecording(app, token, { title: "Harbour talks" });

async function createStory(texts: readonly string[]): Promise<string> {
  const ids: string[] = [];
  for (const [index, text] of texts.entries())
    ids.push(await makeHighlight(app, token, video, { text, timestamp: index * 2000, duration: 1000 }));
  const { body } = await call(
    app,
    "POST",
    "/_/api/v1/stories",
    { title: "Our best moments", description: "What to watch first.", tags: ["q4"], highlight_ids: ids },
    { token, version: null },
  );
  return body.id;
}

/** A server with one image. */
async function startImageSite(): Promise<string> {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const site = createServer((_request, response) => void response.end(Buffer.from(png, "base64")));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  after(() => site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

async function orderOf(storyId: string): Promise<string[]> {
  const { body } = await call(app, "GET", `/_/api/v1/stories/${storyId}`, undefined, {
    token,
    version: null,
  });
  return body.highlights.map(({ text }: { text: string }) => text);
}

test("story: its highlights play in sequence to the end", async () => {
  const storyId = await createStory(["First", "Second", "Third"]);
  const { page, complaints } = await visitShared(app, `/stories/${storyId}`, { userId: member.id });
  const player = page.getByRole("region", { name: "Player" });
  await player.getByRole("heading", { name: "First" }).waitFor();
  // A busy machine may miss a clip of a second.
  await page.evaluate(`(() => {
    window.shown = [];
    const player = document.querySelector('section[aria-label="Player"]');
    new MutationObserver(() => {
      const heading = player.querySelector("h2").textContent;
      if (window.shown.at(-1) !== heading) window.shown.push(heading);
    }).observe(player, { childList: true, characterData: true, subtree: true });
  })()`);
  const shown = () => page.evaluate<string[]>("window.shown");
  await assertAccessible(page);
  await player.getByRole("button", { name: "Play", exact: true }).click();
  await player.getByText(/3 of 3 · Harbour talks/).waitFor();
  await until(
    "it ends where its last clip ends",
    async () =>
      (await player
        .locator("video")
        .evaluate(
          (element: { paused: boolean; currentTime: number }) => element.paused && element.currentTime >= 4.9,
        )) || undefined,
  );
  assert.deepEqual(await shown(), ["First", "Second", "Third"]);
  await page.getByRole("button", { name: "Go to 1: First" }).click();
  await until("it plays the first again", async () => (await shown())[3] === "First");
  assert.deepEqual(complaints, []);
});

test("story: reordered by keyboard, and a highlight removed", async () => {
  const storyId = await createStory(["First", "Second", "Third"]);
  const { page, complaints } = await visitShared(app, `/stories/${storyId}`, { userId: member.id });
  await page.locator("video").first().waitFor({ state: "attached" });
  const handle = page.getByRole("button", { name: "Move First", exact: true });
  await handle.press("Space");
  await page.getByText(/You have lifted an item/).waitFor({ state: "attached" });
  // A video that loads its metadata must not end the drag.
  await page.evaluate(`document.querySelector("video").dispatchEvent(new Event("resize"))`);
  await page.keyboard.press("ArrowDown");
  await page.getByText(/You have moved the item/).waitFor({ state: "attached" });
  await page.keyboard.press("Space");
  const order = page.getByRole("region", { name: "Order" });
  await until(
    "it is saved",
    async () => (await orderOf(storyId)).join() === "Second,First,Third" || undefined,
  );
  await page.getByRole("button", { name: "Remove Third from story" }).click();
  await until("it is removed", async () =>
    (await orderOf(storyId)).join() === "Second,First" ? true : undefined,
  );
  const shown = order.getByRole("button", { name: /^Play/ });
  assert.equal(await shown.count(), 2);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("stories: created, edited, listed and deleted (phone, dark)", async () => {
  await createStory(["Only"]);
  const { page, complaints } = await visitShared(app, "/stories", {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("link", { name: "Our best moments" }).first().waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Create story" }).click();
  await page.getByLabel("Title").fill("Onboarding");
  await page.getByRole("dialog").getByRole("button", { name: "Create story" }).click();
  await page.getByRole("heading", { name: "This story is empty" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill("For new colleagues.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("For new colleagues.").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/stories$/);
  await page.getByRole("link", { name: "Onboarding" }).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("story: removed highlights stay removed, even if older responses arrive late", async () => {
  const storyId = await createStory(["First", "Second", "Third", "Fourth"]);
  const { page, complaints } = await visitShared(app, `/stories/${storyId}`, { userId: member.id });
  const shown = page.getByRole("region", { name: "Order" }).getByRole("button", { name: /^Play/ });
  await until("the story is loaded", async () => (await shown.count()) === 4 || undefined);
  // Each change is slow, and the page keeps refetching.
  await page.route(`**/_/api/v1/stories/${storyId}`, async (route) => {
    if (route.request().method() === "PATCH") await new Promise((done) => setTimeout(done, 400));
    await route.continue();
  });
  await page.evaluate(`window.counts = [];
    const list = document.querySelector('section[aria-label="Order"] ol');
    new MutationObserver(() => window.counts.push(list.querySelectorAll("li").length)).observe(list, { childList: true })`);
  await page.getByRole("button", { name: "Remove Fourth from story" }).click();
  await page.getByRole("button", { name: "Remove Third from story" }).click();
  await page.getByRole("button", { name: "Remove First from story" }).click();
  await until("it is saved", async () => (await orderOf(storyId)).join() === "Second" || undefined);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(await page.evaluate("window.counts"), [3, 2, 1]);
  assert.deepEqual(complaints, []);
});

test("story: highlights are searched and added by keyboard; a cover image is shown", async () => {
  const storyId = await createStory(["First"]);
  await makeHighlight(app, token, video, { text: "About the crane", timestamp: 3000, duration: 1000 });
  await makeHighlight(app, token, video, { text: "About the quay", timestamp: 3000, duration: 1000 });
  const { page, complaints } = await visitShared(app, `/stories/${storyId}`, { userId: member.id });
  await page.getByRole("button", { name: "Add highlights" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add highlights" });
  await dialog.getByRole("checkbox", { name: /About the quay/ }).waitFor();
  assert.ok(await dialog.getByRole("checkbox", { name: /First In this story/ }).isDisabled());
  await dialog.getByLabel("Search highlights", { exact: true }).fill("CRANE");
  await dialog.getByRole("checkbox", { name: /About the quay/ }).waitFor({ state: "detached" });
  await dialog.getByRole("checkbox", { name: /About the crane/ }).press("Space");
  await dialog.getByText("1 selected").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Add to story", disabled: false }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Move About the crane", exact: true }).waitFor();
  assert.deepEqual(await orderOf(storyId), ["First", "About the crane"]);

  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Cover image").fill("nowhere");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must be an http or https URL").waitFor();
  complaints.splice(0);
  const site = await startImageSite();
  const picture = `${site}/a.png`;
  await page.getByLabel("Cover image").fill(picture);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const banner = page.locator(`img[src*="/stories/${storyId}/banner"]`);
  await banner.waitFor();
  await until(
    "it is loaded",
    async () => (await banner.evaluate((image: { naturalWidth: number }) => image.naturalWidth)) === 1,
  );
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("story: other users can watch but not edit it", async () => {
  const storyId = await createStory(["First", "Second"]);
  await call(
    app,
    "PATCH",
    `/_/api/v1/recordings/${video}`,
    { share_state: "workspace" },
    { token, version: null },
  );
  const other = await makeUser(app.db, workspace);
  const { page, complaints } = await visitShared(app, `/stories/${storyId}`, { userId: other.id });
  const order = page.getByRole("region", { name: "Order" });
  await order.getByRole("button", { name: /^Play Second/ }).waitFor();
  await assertAccessible(page);
  for (const name of [/^Move /, /^Remove /, "Edit", "Delete", "Add highlights"])
    assert.equal(await page.getByRole("button", { name }).count(), 0, String(name));
  assert.deepEqual(complaints, []);
});
