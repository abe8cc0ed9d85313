import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { makeTeam, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

const media = (name: string): string => fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));

const choose = (page: Page) => page.getByLabel("Choose files to upload");
const section = (page: Page, name: string) => page.getByRole("region", { name });

test("uploads: a dropped file becomes a recording before one's eyes", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  await page.getByRole("group", { name: "Files to upload" }).waitFor();
  await assertAccessible(page);
  // In words of the browser, whose types are not these tests'.
  const base64 = readFileSync(media("good-faststart.mp4")).toString("base64");
  const data = await page.evaluateHandle(`(() => {
    const bytes = Uint8Array.from(atob("${base64}"), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "Harbour talks.mp4", { type: "video/mp4" }));
    return transfer;
  })()`);
  for (const type of ["dragenter", "drop"])
    await page.getByRole("group", { name: "Files to upload" }).dispatchEvent(type, { dataTransfer: data });
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "Harbour talks" });
  await row.getByText("Recording", { exact: true }).waitFor({ timeout: 60_000 });
  const address = await row.getByRole("link", { name: "Harbour talks" }).getAttribute("href");
  assert.match(address ?? "", /^\/recordings\/[0-9a-f-]{36}$/);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("uploads: what breaks a rule is told before a byte is sent; what can be converted is sent for that", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id, size: phone });
  let begun = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && /uploads\/create|api\/v1\/recordings$/.test(request.url())) begun += 1;
  });
  await choose(page).setInputFiles([
    ...["other.mkv", "bad-short.mp3", "onestep-aac.m4a"].map((name) => ({
      name,
      mimeType: "",
      buffer: readFileSync(media(name)),
    })),
    { name: "notes.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("these are no sounds") },
    { name: "empty.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(0) },
  ]);
  const sending = section(page, "On their way");
  await sending.getByText("Files of the type .mkv are not taken.").waitFor();
  await sending.getByText(/recordings have at least 10/).waitFor();
  await sending.getByText(/what is in the file is something else/).waitFor();
  await sending.getByText("This file is empty.").waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.equal(begun, 0);
  await sending.getByRole("button", { name: "Send and convert onestep-aac.m4a" }).click();
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "onestep-aac" });
  await row.getByText("Recording", { exact: true }).waitFor({ timeout: 60_000 });
  await sending.getByRole("button", { name: "Remove empty.mp4" }).click();
  await sending.getByText("This file is empty.").waitFor({ state: "detached" });
  assert.equal(begun, 1);
  assert.deepEqual(complaints, []);
});

test("uploads: a video as most recorders write it, with few keyframes, in HEVC or silent, is converted instead of failing", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  const names = ["bad-keyframe-gap-8s", "bad-video-hevc", "bad-no-audio"];
  await choose(page).setInputFiles(names.map((name) => media(`${name}.mp4`)));
  const sending = section(page, "On their way");
  await sending.getByText(/up to 8 seconds between two keyframes/).waitFor();
  await sending.getByText("The picture is not in H.264.").waitFor();
  await sending.getByText("It has no sound.").waitFor();
  await assertAccessible(page);
  for (const name of names) {
    await sending.getByRole("button", { name: `Send and convert ${name}.mp4` }).click();
    const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: name });
    await row.getByText("Recording", { exact: true }).waitFor({ timeout: 90_000 });
  }
  // What is written in fragments says nothing in its index, and is sent as it is.
  await choose(page).setInputFiles(media("good-fragmented.mp4"));
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "good-fragmented" });
  await row.getByText("Recording", { exact: true }).waitFor({ timeout: 60_000 });
  assert.deepEqual(complaints, []);
});

test("uploads: the server's reason is shown where only the server could tell", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  await choose(page).setInputFiles(media("bad-audio-mp3.mp4"));
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "bad-audio-mp3" });
  await row.getByText("Failed").waitFor({ timeout: 60_000 });
  await row.getByText(/aac/i).first().waitFor();
  await row.getByText(/send it again/i).waitFor();
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "It did not become a recording" }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("uploads: cut by a reload, a file goes on where it was once the same file is chosen again", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await visit(app, "/uploads", { userId: member.id });
  page.on("dialog", (dialog) => dialog.accept());
  // Four pieces of one mebibyte.
  const sound = readFileSync(media("good-cbr.mp3"));
  const whole = Buffer.concat(
    Array.from({ length: Math.ceil((3.5 * 1024 * 1024) / sound.length) }, () => sound),
  );
  const file = { name: "long.mp3", mimeType: "audio/mpeg", buffer: whole };
  const offsets: number[] = [];
  page.on("request", (request) => {
    const offset = request.headers()["upload-offset"];
    if (request.method() === "PATCH" && offset !== undefined) offsets.push(Number(offset));
  });
  // The line is dead once two pieces have passed.
  await page.route("**/*", (route) =>
    Number(route.request().headers()["upload-offset"]) >= 2 * 1024 * 1024
      ? new Promise(() => {})
      : route.continue(),
  );
  // The date of a file made here is the moment; a real one keeps its own.
  await page.addInitScript(() => {
    Object.defineProperty(File.prototype, "lastModified", { get: () => 1_700_000_000_000 });
  });
  await page.reload();
  await choose(page).setInputFiles(file);
  await until("two pieces are there", async () => offsets.includes(2 * 1024 * 1024) || undefined);
  await page.reload();
  await page.unrouteAll({ behavior: "ignoreErrors" });

  const unfinished = section(page, "Unfinished");
  await unfinished.getByText(/2\.1 MB of 3\.7 MB have arrived/).waitFor();
  await assertAccessible(page);
  offsets.length = 0;
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    unfinished.getByRole("button", { name: "Choose the file long.mp3" }).click(),
  ]);
  await chooser.setFiles(file);
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "long" });
  await row.getByText("Recording", { exact: true }).waitFor({ timeout: 60_000 });
  assert.equal(offsets[0], 2 * 1024 * 1024);
  assert.equal(await unfinished.count(), 0);
});

test("uploads: paused, nothing more is sent until it goes on", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  const held = Promise.withResolvers<void>();
  await page.route(/\/_\/uploads?\b|resum|tus/i, async (route) => {
    if (route.request().method() === "PATCH") await held.promise;
    // Given up by the page meanwhile.
    await route.continue().catch(() => undefined);
  });
  await choose(page).setInputFiles(media("good-exactly-10s.mp4"));
  await page.getByRole("button", { name: "Pause good-exactly-10s.mp4" }).click();
  await section(page, "On their way")
    .getByText(/paused/)
    .waitFor();
  held.resolve();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Go on with good-exactly-10s.mp4" }).click();
  await section(page, "Your uploads").getByText("Recording", { exact: true }).waitFor({ timeout: 60_000 });
  assert.deepEqual(complaints, []);
});

const subtitles = `WEBVTT

00:00.000 --> 00:04.000
<v Ana Lima>Shall we begin?

00:04.200 --> 00:09.000
<v Ben>Yes. The harbour &amp; the quay.
`;

test("upload: a transcript is reviewed, edited, refused with the fault at its field, and made a recording", async () => {
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const team = await makeTeam(app.db, workspace, [member], "Harbour team");
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  await page.getByRole("switch", { name: /Let me review each upload/ }).click();
  await choose(page).setInputFiles({
    name: "Board.vtt",
    mimeType: "text/vtt",
    buffer: Buffer.from(subtitles),
  });
  await section(page, "Your uploads").getByRole("link", { name: "Board" }).click();
  await page.getByRole("region", { name: "Transcript" }).getByText("Yes. The harbour & the quay.").waitFor();
  await assertAccessible(page);

  await page.getByLabel("Title").fill("Board of October");
  await page.getByRole("combobox", { name: "Team" }).click();
  await page.getByRole("option", { name: "Harbour team" }).click();
  await page.getByLabel("Email of participant 1").fill("ana@other.example");
  await page.getByRole("button", { name: "Add a participant" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/must have at least one of name, email or phone/).waitFor();
  await page.getByRole("button", { name: "Remove participant 3" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Board of October" }).waitFor();
  await page.getByRole("button", { name: "Make it a recording" }).click();
  await page.getByRole("heading", { name: "It is a recording" }).waitFor({ timeout: 60_000 });
  const address = await page.getByRole("link", { name: "Open the recording" }).getAttribute("href");
  const { body } = await call(
    app,
    "POST",
    `/recordings/${address?.split("/").pop()}`,
    { include: { participants: true } },
    { token: member.token },
  );
  assert.equal(body.title, "Board of October");
  assert.deepEqual(
    body.teams.map(({ id }: { id: string }) => id),
    [team.id],
  );
  assert.deepEqual(
    body.participants.map(({ name, email }: { name: string; email: string }) => [name, email]),
    [
      ["Ana Lima", "ana@other.example"],
      ["Ben", null],
    ],
  );
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes("400")),
    [],
  );
});

test("uploads: cancelled, what had arrived leaves the server, and the page says so", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  const sound = readFileSync(media("good-cbr.mp3"));
  const whole = Buffer.concat(
    Array.from({ length: Math.ceil((2.5 * 1024 * 1024) / sound.length) }, () => sound),
  );
  // The second piece never gets through.
  await page.route("**/*", (route) =>
    Number(route.request().headers()["upload-offset"]) > 0 ? new Promise(() => {}) : route.continue(),
  );
  const second = page.waitForRequest((request) => Number(request.headers()["upload-offset"]) > 0);
  await choose(page).setInputFiles({ name: "long.mp3", mimeType: "audio/mpeg", buffer: whole });
  const address = (await second).url();
  const offset = async () => {
    const answer = await fetch(address, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } });
    return answer.ok ? answer.headers.get("upload-offset") : String(answer.status);
  };
  assert.equal(await offset(), String(1024 * 1024));
  await page.getByRole("button", { name: "Cancel long.mp3" }).click();
  await page.getByText("long.mp3 was given up").waitFor();
  await page.getByText(/Nothing more is sent, and what had arrived was removed.*its time is up/).waitFor();
  assert.notEqual(await offset(), String(1024 * 1024));
  await assertAccessible(page);
  await page.reload();
  await page.getByText("Files you have sent are listed here").waitFor();
  assert.deepEqual(complaints, []);
});

test("uploads: a transcript as text or JSON becomes a recording; a fault names its line before anything is sent", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/uploads", { userId: member.id });
  const send = (name: string, text: string) =>
    choose(page).setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await send("wrong.txt", "Ana Lima: Shall we?\nYes.\n");
  await page.getByText(/Line 2 names no speaker/).waitFor();
  await send("wrong.json", '[{"speaker": "Ana", "start": 0, "end": 1}]');
  await page.getByText(/Entry 1 \(line 1\) needs a “text”/).waitFor();
  await assertAccessible(page);
  await send("talk.txt", "Ana Lima: Shall we?\nBen: Yes.\n");
  await send("notes.json", '[{"speaker": "Ana", "start": 0, "end": 1000, "text": "Hello"}]');
  for (const name of ["talk", "notes"])
    await section(page, "Your uploads")
      .getByRole("listitem")
      .filter({ has: page.getByRole("link", { name, exact: true }) })
      .getByText("Recording", { exact: true })
      .waitFor();
  await section(page, "Your uploads").getByRole("link", { name: "talk", exact: true }).click();
  await page.getByRole("list", { name: "Transcript" }).getByText("Shall we?").waitFor();
  assert.deepEqual(complaints, []);
});
