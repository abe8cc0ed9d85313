import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import {
  animationsEnd,
  phone,
  signInAs,
  startBrowserApp,
  type VisitOptions,
  visitShared,
} from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const videoId = await makeMedia(app, member.token);

/** Opens a recording's page and waits for its transcript. */
async function open(id: string, search = "", options: VisitOptions = {}) {
  const visited = await visitShared(app, `/recordings/${id}${search}`, { userId: member.id, ...options });
  // Half-faded elements have too little contrast.
  await visited.page.emulateMedia({ reducedMotion: "reduce" });
  await visited.page.getByRole("list", { name: "Transcript" }).waitFor();
  return visited;
}

interface MediaState {
  readonly currentTime: number;
  readonly paused: boolean;
  readonly playbackRate: number;
  readonly muted: boolean;
}

/** The state of the media element. */
const media = (page: Page) =>
  page.evaluate<MediaState>(
    `(({ currentTime, paused, playbackRate, muted }) => ({ currentTime, paused, playbackRate, muted }))(
      document.querySelector("video, audio"))`,
  );

/** Waits until the media element matches. */
const untilMedia = (page: Page, what: string, matches: (state: MediaState) => boolean) =>
  until(what, async () => matches(await media(page)) || undefined);

const manage = (method: string, path: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token: member.token, version: null });

test("player: plays, seeks on a click in the transcript, follows until the user scrolls, and again on request", async () => {
  const { page, complaints } = await open(videoId);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await untilMedia(page, "it plays", ({ paused, currentTime }) => !paused && currentTime > 0.2);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await untilMedia(page, "it is paused", ({ paused }) => paused);

  await page.getByText("The harbour master wants it signed").click();
  await untilMedia(page, "it is at the line", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);
  const line = page.locator('button[aria-current="true"]');
  assert.equal(await line.getAttribute("aria-label"), "0:05, Bo Okafor");

  const follow = page.getByRole("button", { name: "Follow", exact: true });
  assert.equal(await follow.count(), 0);
  await page.getByRole("list", { name: "Transcript" }).hover();
  await page.mouse.wheel(0, 200);
  // While paused there is nothing to follow.
  assert.equal(await follow.count(), 0);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await follow.click();
  await follow.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Pause", exact: true }).click();

  // A speaker's name seeks to their next line.
  await page
    .getByRole("region", { name: "Speaker timeline" })
    .getByRole("button", { name: "Ana Lima" })
    .click();
  await untilMedia(page, "it is at Ana's next line", ({ currentTime }) => Math.abs(currentTime - 7.6) < 0.3);
  assert.match(
    (await page.getByRole("region", { name: "Speaker timeline" }).textContent()) ?? "",
    /43%.*41%.*17%/,
  );
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("player: a preview on the seek bar, and the start position of the URL", async () => {
  const { page, complaints } = await open(videoId, "?t=6");
  await untilMedia(page, "it starts at the position", ({ currentTime }) => Math.abs(currentTime - 6) < 0.3);
  await until("the frame of the position is loaded before it plays", () =>
    page.evaluate<boolean>(`(({ readyState, seeking, paused, poster }) =>
      readyState >= 2 && !seeking && paused && poster === "")(document.querySelector("video"))`),
  );
  const slider = page.getByRole("slider", { name: "Seek" });
  await slider.focus();
  await page.locator('section[aria-label="Player"] img').waitFor();
  assert.match((await slider.getAttribute("aria-valuetext")) ?? "", /^0:06 of 0:12$/);
  await page.keyboard.press("ArrowLeft");
  await untilMedia(page, "five seconds back", ({ currentTime }) => Math.abs(currentTime - 1) < 0.3);
  await page.keyboard.press("End");
  await untilMedia(page, "at the end", ({ currentTime }) => currentTime > 11.5);
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("player: keyboard only; speed and captions are kept for the next recording", async () => {
  const { page, leave, complaints } = await open(videoId);
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await animationsEnd(page);
  await page.keyboard.press("Space");
  await untilMedia(page, "it plays", ({ paused }) => !paused);
  await page.keyboard.press("k");
  await untilMedia(page, "it is paused", ({ paused }) => paused);
  await page.keyboard.press("l");
  await untilMedia(page, "ten seconds forward", ({ currentTime }) => currentTime >= 10);
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowRight");
  await untilMedia(page, "back, and five forward", ({ currentTime }) => currentTime >= 5 && currentTime < 7);
  for (const key of [">", ">", ">", "m", "c"]) await page.keyboard.press(key);
  await untilMedia(page, "faster and mute", ({ playbackRate, muted }) => playbackRate === 1.75 && muted);
  const showing = () =>
    page.evaluate<string[] | null>(`(() => {
      const track = document.querySelector("video").textTracks[0];
      return track?.mode === "showing" ? [...(track.cues ?? [])].map((cue) => cue.text) : null;
    })()`);
  const cues = await until("captions are there", async () => {
    const texts = await showing();
    return texts !== null && texts.length > 0 && texts;
  });
  assert.equal(cues[1], "Bo Okafor: Yes. The harbour contract first.");

  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.waitFor();
  await assertAccessibleAtRest(page);
  // Shortcuts are off in a dialog.
  await page.keyboard.press("m");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  assert.equal((await media(page)).muted, true);

  const other = await makeMedia(app, member.token, { title: "A call" }, "good-cbr.mp3");
  await page.goto(`${app.url}/recordings/${other}`);
  await page.getByRole("button", { name: "1.75× speed" }).waitFor();
  await untilMedia(
    page,
    "the settings are kept",
    ({ playbackRate, muted }) => playbackRate === 1.75 && muted,
  );
  await page.locator('section[aria-label="Player"] svg path').first().waitFor({ state: "attached" });
  await assertAccessibleAtRest(page);
  // When off, shortcuts do nothing, except ? which opens the switch.
  await page.keyboard.press("?");
  await page.getByLabel("Enable shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("m");
  assert.equal((await media(page)).muted, true);
  assert.deepEqual(complaints, []);
  await leave();
});

test("transcript: arrow keys move between lines, Enter plays, a menu has other actions", async () => {
  const { page, complaints } = await open(videoId);
  await page.locator('[data-index="0"] [data-cursor]').focus();
  const focused = () => page.evaluate<string | null>(`document.activeElement?.getAttribute("aria-label")`);
  // Two keys in a row: both count.
  await page.evaluate(`for (let i = 0; i < 2; i++)
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }))`);
  assert.equal(await focused(), "0:05, Bo Okafor");
  await page.keyboard.press("Enter");
  await untilMedia(page, "it is at the line", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Actions for 0:05");
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Create clip" }).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("transcript: search counts matches, wraps around, ignores accents, and / focuses it", async () => {
  const { page, complaints } = await open(videoId);
  await page.keyboard.press("/");
  await page.keyboard.type("harbour");
  await page.getByText("1 of 2").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("2 of 2").waitFor();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByText("1 of 2").waitFor();
  assert.equal(await page.locator("mark").count(), 2);
  await assertAccessibleAtRest(page);
  await page.getByLabel("Search transcript").fill("cafe bla");
  await page.getByText("1 of 1").waitFor();
  assert.equal(await page.locator("mark").textContent(), "Café Blå");
  await page.getByLabel("Search transcript").fill("zeppelin");
  await page.getByText("No results", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("transcript: selected words become a clip, a link or copied text, without seeking", async () => {
  const { page, context, complaints } = await open(videoId);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const select = async () => {
    const box = await page.getByText("The harbour master wants it signed").boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 40, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 12, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("toolbar", { name: "Selected words" }).waitFor();
  };
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await select();
  assert.equal((await media(page)).currentTime, 0);
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Copy link" }).click();
  await until("the link is copied", async () => /\?t=5\.\d+$/.test(await copied()));
  assert.ok((await copied()).startsWith(`${app.url}/recordings/${videoId}?t=5.`));
  await select();
  await page.getByRole("button", { name: "Copy text" }).click();
  await until("the text is copied", async () => /^Bo Okafor \(0:05\): .*harbour master/.test(await copied()));

  await select();
  await page.getByRole("button", { name: "Clip", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  assert.match(await dialog.getByLabel("Title").inputValue(), /^harbour master/);
  await assertAccessibleAtRest(page);
  await dialog.getByLabel("Title").fill("The harbour master waits");
  await page.getByRole("button", { name: "Create clip" }).click();
  await dialog.waitFor({ state: "detached" });
  const { body } = await manage("GET", `/recordings/${videoId}/highlights`);
  assert.equal(body.highlights[0].text, "The harbour master waits");
  assert.ok(body.highlights[0].timestamp >= 4500 && body.highlights[0].timestamp < 6000);

  // It is shown on the seek bar and in the list.
  await page.locator("[data-marker=highlight]").waitFor();
  await page.getByRole("tab", { name: /Highlights/ }).click();
  await page.getByRole("tabpanel").getByText("The harbour master waits").waitFor();
  await page.getByRole("button", { name: /Actions for highlight/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No highlights yet" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("on a phone in the dark: the player stays visible while the transcript scrolls, and nothing overflows", async () => {
  const name = "Wolfeschlegelsteinhausenbergerdorff-Montgomery-Featherstonehaugh";
  const id = await makeMedia(app, member.token, {
    title: `اجتماع ${"x".repeat(120)}`,
    participants: [{ name, email: `${"w".repeat(60)}@port.example`, speaker_key: "s2" }],
  });
  await call(app, "PUT", `/recordings/${id}/tags`, { tag: "t".repeat(100) }, { token: member.token });
  await manage("POST", `/recordings/${id}/highlights`, {
    text: "y".repeat(200),
    timestamp: 0,
    duration: 900,
  });
  const { page, complaints } = await open(id, "", { size: phone, colorScheme: "dark" });
  await assertAccessibleAtRest(page);
  await page.evaluate("window.scrollTo(0, 9999)");
  await until("the page has scrolled", () => page.evaluate<boolean>("window.scrollY > 50"));
  const { y = -1 } = (await page.locator("video").boundingBox()) ?? {};
  assert.ok(y >= 59 && y < 62, `the video is below the header: ${y}`);
  for (const name of ["Summary", "Action items", "Highlights", "Notes", "People", "Details"]) {
    await page.getByRole("tab", { name }).click();
    await assertAccessibleAtRest(page);
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      name,
    );
  }
  // The search shortcut opens the transcript from another panel.
  await page.keyboard.press("/");
  await page.keyboard.type("signed");
  await page.getByText("1 of 2").waitFor();
  assert.deepEqual(complaints, []);
});

test("a missing or inaccessible recording is reported, also one deleted while it is open", async () => {
  const stranger = await makeUser(app.db, workspace);
  const { page, context } = await visitShared(app, "/icon.svg");
  for (const [id, userId] of [
    [unknownId(), member.id],
    ["nonsense", member.id],
    [videoId, stranger.id],
  ] as const) {
    await signInAs(app, context, userId);
    await page.goto(`${app.url}/recordings/${id}`);
    await page.getByRole("heading", { name: "Recording not found" }).waitFor();
    await assertAccessibleAtRest(page);
  }
  const { recordingId } = await makeRecording(app, member.token);
  await signInAs(app, context, member.id);
  await page.goto(`${app.url}/recordings/${recordingId}`);
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await manage("DELETE", `/recordings/${recordingId}`);
  await page.getByRole("button", { name: "Add tag" }).click();
  await page.getByLabel("New tag").fill("late");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Recording in the trash" }).waitFor();
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Add tag" }).waitFor();
});
