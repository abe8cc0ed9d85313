import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeHighlight, makeRecording, makeWorkspace } from "../support/factories.ts";
import { makeMediaRecording } from "../support/media-recordings.ts";
import { until } from "../support/until.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

test("highlights of all recordings are listed, filtered, played, edited, added to a story and deleted", async () => {
  const { member } = await makeWorkspace(app.db);
  const { token } = member;
  const video = await makeMediaRecording(app, token, { title: "Harbour talks" });
  const transcriptOnly = (await makeRecording(app, token, { title: "Board" })).recordingId;
  const clip = await makeHighlight(app, token, video, { text: "The price is agreed", tags: ["deal"] });
  await makeHighlight(app, token, transcriptOnly, { text: "It is signed", timestamp: 9000 });
  const { page, complaints } = await visitShared(app, "/highlights", { userId: member.id });
  const list = page.getByRole("list", { name: "Highlights" });
  await list.getByRole("link", { name: "The price is agreed" }).waitFor();
  assert.equal(await list.getByRole("listitem").count(), 2);
  await assertAccessible(page);

  await page.getByLabel("Tag", { exact: true }).fill("deal");
  await list.getByRole("link", { name: "It is signed" }).waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).searchParams.get("tag"), "deal");
  await page.getByRole("button", { name: "Clear Tag" }).click();
  await list.getByRole("link", { name: "It is signed" }).waitFor();

  await list.getByRole("link", { name: "The price is agreed" }).click();
  const dialog = page.getByRole("dialog", { name: "The price is agreed" });
  await dialog.locator("video").waitFor();
  await until("the clip stops at its end", async () => {
    const [at, isPaused] = await dialog
      .locator("video")
      .evaluate(
        (video: { currentTime: number; paused: boolean }) => [video.currentTime, video.paused] as const,
      );
    // It stops at the next frame, which a busy browser renders late.
    assert.ok(at < 4.5, `continued to ${at}`);
    return (isPaused && at >= 2.9) || undefined;
  });
  await assertAccessible(page);
  // Speed and volume are those of all players on this device.
  await dialog.getByRole("button", { name: "1× speed" }).click();
  await page.getByRole("menuitem", { name: "2×", exact: true }).click();
  await dialog.getByRole("button", { name: "Volume" }).click();
  await page.getByRole("button", { name: "Mute" }).click();
  await page.keyboard.press("Escape");
  await page.reload();
  await dialog.getByRole("button", { name: "2× speed" }).waitFor();
  await until("speed and volume are kept", () =>
    dialog
      .locator("video")
      .evaluate((video: { playbackRate: number; muted: boolean }) => video.playbackRate === 2 && video.muted),
  );
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download clip" }).click();
  assert.equal((await saved).suggestedFilename(), "The price is agreed.mp4");
  await dialog.getByRole("button", { name: "Full screen" }).click();
  await page.getByRole("button", { name: "Exit full screen" }).click();
  assert.equal(
    await dialog.getByRole("link", { name: "Open in recording" }).getAttribute("href"),
    `/recordings/${video}?t=1`,
  );
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Actions for The price is agreed" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Length (seconds)").fill("9999");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/end after the recording, which is/).waitFor();
  await assertAccessible(page);
  await page.getByLabel("Length (seconds)").fill("3");
  await page.getByRole("textbox", { name: /^Text/ }).fill("The price is fixed");
  await page.getByRole("button", { name: "Save" }).click();
  await list.getByRole("link", { name: "The price is fixed" }).waitFor();

  await page.getByRole("button", { name: "Actions for The price is fixed" }).click();
  await page.getByRole("menuitem", { name: "Add to story" }).click();
  await page.getByLabel("Title").fill("Our best moments");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("Added to Our best moments").waitFor();
  const { body } = await call(app, "GET", "/_/api/v1/stories", undefined, { token, version: null });
  assert.deepEqual(
    body.stories[0].highlights.map(({ id, duration }: { id: string; duration: number }) => [id, duration]),
    [[clip, 3000]],
  );

  await page.getByRole("button", { name: "Actions for It is signed" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await list.getByRole("link", { name: "It is signed" }).waitFor({ state: "detached" });
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes("400")),
    [],
  );
});

test("a link to a highlight opens it; without media it shows the transcript (phone, dark)", async () => {
  const { member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token, { title: "Board" });
  const clip = await makeHighlight(app, member.token, recordingId, { text: "It is signed", timestamp: 9000 });
  const { page, complaints } = await visitShared(app, `/highlights/${clip}`, {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  const dialog = page.getByRole("dialog", { name: "It is signed" });
  await dialog.getByText(/It is signed\./).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("list", { name: "Highlights" }).waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});
