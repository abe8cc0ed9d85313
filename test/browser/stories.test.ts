import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { makeClip, makeVideo } from "./media.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);
const { token } = member;
const video = await makeVideo(app, token, "Harbour talks");

async function makeStory(texts: readonly string[]): Promise<string> {
  const ids: string[] = [];
  for (const [index, text] of texts.entries())
    ids.push(await makeClip(app, token, video, { text, timestamp: index * 2000, duration: 1000 }));
  const { body } = await call(
    app,
    "POST",
    "/_/api/v1/stories",
    { title: "Our best moments", description: "What to watch first.", tags: ["q4"], highlight_ids: ids },
    { token, version: null },
  );
  return body.id;
}

async function orderOf(storyId: string): Promise<string[]> {
  const { body } = await call(app, "GET", `/_/api/v1/stories/${storyId}`, undefined, {
    token,
    version: null,
  });
  return body.highlights.map(({ text }: { text: string }) => text);
}

test("story: its highlights play one after the other to the end", async () => {
  const storyId = await makeStory(["First", "Second", "Third"]);
  const { page, complaints } = await visit(app, `/stories/${storyId}`, { userId: member.id });
  const player = page.getByRole("region", { name: "Player" });
  await player.getByRole("heading", { name: "First" }).waitFor();
  await assertAccessible(page);
  await player.getByRole("button", { name: "Play", exact: true }).click();
  await player.getByRole("heading", { name: "Second" }).waitFor();
  await player.getByRole("heading", { name: "Third" }).waitFor();
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
  await page.getByRole("button", { name: "Go to 1: First" }).click();
  await player.getByRole("heading", { name: "First" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("story: put in order by keys alone, and a highlight taken out", async () => {
  const storyId = await makeStory(["First", "Second", "Third"]);
  const { page, complaints } = await visit(app, `/stories/${storyId}`, { userId: member.id });
  const handle = page.getByRole("button", { name: "Move First", exact: true });
  await page.waitForLoadState("networkidle");
  await until("the new order is saved", async () => {
    await handle.press("Space");
    await page
      .getByText(/You have lifted an item/)
      .waitFor({ state: "attached", timeout: 2000 })
      .catch(() => undefined);
    await page.keyboard.press("ArrowDown");
    const hasMoved = page.getByText(/You have moved the item/).waitFor({ state: "attached", timeout: 2000 });
    // What is loading just then may end a drag: it is begun again, from where it was.
    if (
      !(await hasMoved.then(
        () => true,
        () => false,
      ))
    )
      return void (await page.keyboard.press("Escape"));
    await page.keyboard.press("Space");
    await until(
      "it is saved",
      async () => (await orderOf(storyId)).join() === "Second,First,Third" || undefined,
    );
    return true;
  });
  await page.getByRole("button", { name: "Remove Third from the story" }).click();
  await until("it is out", async () =>
    (await orderOf(storyId)).join() === "Second,First" ? true : undefined,
  );
  const shown = page.getByRole("region", { name: "Order" }).getByRole("button", { name: /^Play/ });
  await until("the page shows it", async () => (await shown.count()) === 2 || undefined);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("stories: made, described, listed and deleted, on a phone in the dark", async () => {
  await makeStory(["Only"]);
  const { page, complaints } = await visit(app, "/stories", {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("link", { name: "Our best moments" }).first().waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "New story" }).click();
  await page.getByLabel("Title").fill("Onboarding");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "Nothing in this story yet" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill("For whoever comes new.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("For whoever comes new.").waitFor();
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
