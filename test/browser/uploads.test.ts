import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { encodeFile } from "../../server/processing/media/test/encode.ts";
import { call } from "../support/app.ts";
import { makeTeam, makeWorkspace } from "../support/factories.ts";
import { writePaddedMedia } from "../support/padded-media.ts";
import { until } from "../support/until.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

const media = (name: string): string => fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));

const choose = (page: Page) => page.getByLabel("Choose files to upload");
const section = (page: Page, name: string) => page.getByRole("region", { name });

test("uploads: a dropped file becomes a recording while the page is open; while paused, nothing is sent until it is resumed", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  await page.getByRole("group", { name: "Files to upload" }).waitFor();
  await assertAccessible(page);
  // As a string: browser types are not available in these tests.
  const base64 = readFileSync(media("good-faststart.mp4")).toString("base64");
  const data = await page.evaluateHandle(`(() => {
    const bytes = Uint8Array.from(atob("${base64}"), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "Harbour talks.mp4", { type: "video/mp4" }));
    return transfer;
  })()`);
  const held = Promise.withResolvers<void>();
  await page.route(/\/_\/uploads?\b|resum|tus/i, async (route) => {
    if (route.request().method() === "PATCH") await held.promise;
    // Aborted by the page meanwhile.
    await route.continue().catch(() => undefined);
  });
  for (const type of ["dragenter", "drop"])
    await page.getByRole("group", { name: "Files to upload" }).dispatchEvent(type, { dataTransfer: data });
  await page.getByRole("button", { name: "Pause Harbour talks.mp4" }).click();
  await section(page, "In progress")
    .getByText(/% · paused/)
    .waitFor();
  held.resolve();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Resume Harbour talks.mp4" }).click();
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "Harbour talks" });
  await row.getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  const url = await row.getByRole("link", { name: "Harbour talks" }).getAttribute("href");
  assert.match(url ?? "", /^\/recordings\/[0-9a-f-]{36}$/);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("uploads: invalid files are rejected before upload; convertible ones are converted", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id, size: phone });
  let started = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && /uploads\/create|api\/v1\/recordings$/.test(request.url()))
      started += 1;
  });
  await choose(page).setInputFiles([
    ...["bad-short.mp3"].map((name) => ({
      name,
      mimeType: "",
      buffer: readFileSync(media(name)),
    })),
    { name: "notes.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("these are no sounds") },
    { name: "empty.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(0) },
  ]);
  const sending = section(page, "In progress");
  await sending.getByText(/The minimum is 10 s\./).waitFor();
  await sending.getByText(/This looks like a text/).waitFor();
  await sending.getByText("This file is empty.").waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.equal(started, 0);
  await choose(page).setInputFiles(media("onestep-aac.m4a"));
  await choose(page).setInputFiles([
    { name: "browser.mp4", mimeType: "video/mp4", buffer: readFileSync(media("other.webm")) },
    {
      name: "leading zeros.mp3",
      mimeType: "audio/mpeg",
      buffer: Buffer.concat([Buffer.alloc(5000), readFileSync(media("good-cbr.mp3"))]),
    },
  ]);
  await sending.getByText("This is a WebM file. We'll convert it.").waitFor();
  for (const name of ["onestep-aac", "browser", "leading zeros"]) {
    const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: name });
    await row.getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  }
  await sending.getByRole("button", { name: "Remove empty.mp4" }).click();
  await sending.getByText("This file is empty.").waitFor({ state: "detached" });
  assert.equal(started, 3);
  assert.deepEqual(complaints, []);
});

test("uploads: a file with two audio tracks waits for the choice, and each track becomes a speaker", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  const folder = mkdtempSync(join(tmpdir(), "parley-tracks-"));
  const path = join(folder, "2026-03-04 10-15-22.mkv");
  const sound = { codec: "aac", sampleRate: 16_000 };
  encodeFile(path, {
    format: "matroska",
    audio: [
      { ...sound, title: "Ada" },
      { ...sound, title: "Ben" },
    ],
  });
  await choose(page).setInputFiles(path);
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "2026-03-04" });
  await row.getByText("Ready for review").waitFor({ timeout: 60_000 });
  rmSync(folder, { recursive: true });
  await row.getByRole("link").click();
  await page.getByText("The start time comes from the file's name.").waitFor();
  const tracks = page.getByRole("radiogroup", { name: "This file has 2 audio tracks" });
  await tracks.getByRole("radio", { name: "One speaker per track" }).check();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Recording ready").waitFor({ timeout: 60_000 });
  const { rows } = await app.db.pool.query(
    "select m.speaker_tracks from recording_media m join uploads u on u.recording_id = m.recording_id where u.created_by = $1",
    [member.id],
  );
  assert.deepEqual(rows, [{ speaker_tracks: ["Ada", "Ben"] }]);
  assert.deepEqual(complaints, []);
});

test("uploads: videos with few keyframes, HEVC or other audio, audio-only, multi-track and fragmented files are converted without asking; fragmented ones can be reviewed", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  const names = [
    ...["bad-keyframe-gap-8s", "bad-video-hevc", "bad-audio-mp3", "bad-height-738"],
    ...["bad-no-video", "bad-two-videos", "good-fragmented"],
  ];
  await choose(page).setInputFiles(names.map((name) => media(`${name}.mp4`)));
  await section(page, "In progress")
    .getByRole("listitem")
    .filter({ hasText: "bad-keyframe-gap-8s" })
    .getByText("This video has few keyframes, so seeking can be slow.")
    .waitFor();
  for (const name of names) {
    const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: name });
    await row.getByText("Ready", { exact: true }).waitFor({ timeout: 180_000 });
  }
  await page.getByRole("switch", { name: /Review uploads before publishing/ }).click();
  const fragmented = readFileSync(media("good-fragmented.mp4"));
  await choose(page).setInputFiles({ name: "reviewed.mp4", mimeType: "video/mp4", buffer: fragmented });
  await until("the upload is staged", async () => {
    const { rows } = await app.db.pool.query(
      "select status from uploads where created_by = $1 and not auto_promote order by created_at desc",
      [member.id],
    );
    return rows[0]?.status === "staged";
  });
  assert.deepEqual(complaints, []);
});

test("uploads: the server's reason is shown for errors only it can detect", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  const whole = readFileSync(media("good-faststart.mp4"));
  const truncated = whole.subarray(0, Math.floor(whole.length * 0.7));
  await choose(page).setInputFiles({ name: "cut-off.mp4", mimeType: "video/mp4", buffer: truncated });
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "cut-off" });
  await row.getByText("Failed").waitFor({ timeout: 60_000 });

  await row.getByText(/Upload the whole file again/).waitFor();
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "Processing failed" }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("uploads: where code of the app can't be loaded, as after an upgrade, a reload is offered", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await visitShared(app, "/uploads", { userId: member.id });
  await page.route(/\/assets\/(?:check-file|texts)-/, (route) => route.abort());
  const inProgress = section(page, "In progress");
  await choose(page).setInputFiles(media("good-faststart.mp4"));
  const row = (name: string) => inProgress.getByRole("listitem").filter({ hasText: name });
  await row("good-faststart")
    .getByText(/You may be offline, or Parley was updated\./)
    .waitFor();
  await choose(page).setInputFiles([media("good-cbr.mp3"), media("good-44100.mp3")]);
  await row("good-cbr").getByRole("button", { name: "Reload" }).waitFor();
  await row("good-44100").getByRole("button", { name: "Reload" }).waitFor();
  await page.unrouteAll();
  await row("good-cbr").getByRole("button", { name: "Reload" }).click();
  await inProgress.waitFor({ state: "detached" });
  await choose(page).setInputFiles(media("bad-short.mp3"));
  await inProgress.getByText(/This file is too short/).waitFor();
});

/** A short video of several mebibytes, each of which is sent as one chunk. */
function makeLong(mebibytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-long-"));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "long.mp4");
  writePaddedMedia(path, "good-faststart.mp4", mebibytes * 1024 * 1024);
  return path;
}

test("uploads: after a reload, an upload resumes when the same file is chosen again", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await visitShared(app, "/uploads", { userId: member.id });
  page.on("dialog", (dialog) => dialog.accept());
  const file = makeLong(3.5);
  const offsets: number[] = [];
  page.on("request", (request) => {
    const offset = request.headers()["upload-offset"];
    if (request.method() === "PATCH" && offset !== undefined) offsets.push(Number(offset));
  });
  // The connection fails after two chunks.
  await page.route("**/*", (route) =>
    Number(route.request().headers()["upload-offset"]) >= 2 * 1024 * 1024
      ? new Promise(() => {})
      : route.continue(),
  );
  await choose(page).setInputFiles(file);
  await until("two chunks are sent", async () => offsets.includes(2 * 1024 * 1024) || undefined);
  await page.reload();
  await page.unrouteAll({ behavior: "ignoreErrors" });

  const unfinished = section(page, "Unfinished");
  await unfinished.getByText(/2\.1 MB of 3\.7 MB uploaded/).waitFor();
  await assertAccessible(page);
  offsets.length = 0;
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    unfinished.getByRole("button", { name: "Choose file long.mp4" }).click(),
  ]);
  await chooser.setFiles(file);
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "long" });
  await row.getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  assert.equal(offsets[0], 2 * 1024 * 1024);
  assert.equal(await unfinished.count(), 0);
});

const subtitles = `WEBVTT

00:00.000 --> 00:04.000
<v Ana Lima>Shall we begin?

00:04.200 --> 00:09.000
<v Ben>Yes. The harbour &amp; the quay.
`;

test("upload: a transcript is reviewed and edited, errors are shown at the field, and it is published", async () => {
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const team = await makeTeam(app.db, workspace, [member], "Harbour team");
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  await page.getByRole("switch", { name: /Review uploads before publishing/ }).click();
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
  await page.getByRole("button", { name: "Add participant" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/Enter a name, an email or a phone number/).waitFor();
  await page.getByRole("button", { name: "Remove participant 3" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Board of October" }).waitFor();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("heading", { name: "Recording ready" }).waitFor({ timeout: 60_000 });
  const url = await page.getByRole("link", { name: "Open recording" }).getAttribute("href");
  const { body } = await call(
    app,
    "POST",
    `/recordings/${url?.split("/").pop()}`,
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

test("uploads: cancelling removes the uploaded data from the server, and the page confirms it", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  // The second chunk never arrives.
  await page.route("**/*", (route) =>
    Number(route.request().headers()["upload-offset"]) > 0 ? new Promise(() => {}) : route.continue(),
  );
  const second = page.waitForRequest((request) => Number(request.headers()["upload-offset"]) > 0);
  await choose(page).setInputFiles(makeLong(2.5));
  const url = (await second).url();
  const offset = async () => {
    const response = await fetch(url, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } });
    return response.ok ? response.headers.get("upload-offset") : String(response.status);
  };
  assert.equal(await offset(), String(1024 * 1024));
  await page.getByRole("button", { name: "Cancel long.mp4" }).click();
  await page.getByText("long.mp4: upload canceled").waitFor();
  await page.getByText(/The uploaded data was removed from the server.*expires/).waitFor();
  assert.notEqual(await offset(), String(1024 * 1024));
  await assertAccessible(page);
  await page.reload();
  await page.getByText("Your uploads and their status appear here").waitFor();
  assert.deepEqual(complaints, []);
});

test("uploads: text and JSON transcripts become recordings; errors name the line before upload", async () => {
  const { id: workspaceId, member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  const send = (name: string, text: string) =>
    choose(page).setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await send("wrong.txt", "Ana Lima: Shall we?\nYes.\n");
  await page.getByText(/Line 2 has no speaker/).waitFor();
  await send("wrong.json", '[{"speaker": "Ana", "start": 0, "end": 1}]');
  await page.getByText(/This JSON file is no transcript/).waitFor();
  await assertAccessible(page);
  await send("talk.txt", "Ana Lima: Shall we?\nBen: Yes.\n");
  await send("2026-03-04 10-15-22.json", '[{"speaker": "Ana", "start": 0, "end": 1000, "text": "Hello"}]');
  for (const name of ["talk", "2026-03-04 10-15-22"])
    await section(page, "Your uploads")
      .getByRole("listitem")
      .filter({ has: page.getByRole("link", { name, exact: true }) })
      .getByText("Ready", { exact: true })
      .waitFor();
  await section(page, "Your uploads").getByRole("link", { name: "talk", exact: true }).click();
  await page.getByRole("list", { name: "Transcript" }).getByText("Shall we?").waitFor();
  const { rows } = await app.db.pool.query(
    "select start_ground, start_datetime from recordings where workspace_id = $1 order by title",
    [workspaceId],
  );
  assert.deepEqual(
    [rows[0].start_ground, rows[0].start_datetime.getTime()],
    [null, await page.evaluate(() => new Date(2026, 2, 4, 10, 15, 22).getTime())],
    "the name of a file states its start",
  );
  assert.equal(rows[1].start_ground, "upload");
  assert.deepEqual(complaints, []);
});

/** Real files with the dates that files on a disk have. */
function makeFiles(...files: readonly { readonly name: string; readonly content: Buffer | string }[]) {
  const folder = mkdtempSync(join(tmpdir(), "parley-chosen-"));
  after(() => rmSync(folder, { recursive: true }));
  return files.map(({ name, content }) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  });
}

/** A wav file of seconds of silence, about 170 kB each. */
function wav(seconds: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "parley-wav-"));
  const path = join(folder, "part.wav");
  encodeFile(path, { format: "wav", seconds, audio: [{ codec: "pcm_s16le", sampleRate: 48_000 }] });
  const content = readFileSync(path);
  rmSync(folder, { recursive: true });
  return content;
}

test("uploads: parts are joined in the chosen order, and after a reload the rest is sent", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  page.on("dialog", (dialog) => dialog.accept());
  const offsets: number[] = [];
  page.on("request", (request) => {
    const offset = request.headers()["upload-offset"];
    if (request.method() === "PATCH" && offset !== undefined) offsets.push(Number(offset));
  });
  // The connection fails after the first chunk.
  await page.route("**/*", (route) =>
    Number(route.request().headers()["upload-offset"]) > 0 ? new Promise(() => {}) : route.continue(),
  );
  const contents = [wav(5), wav(4), wav(3)] as const;
  const [late = "", early = "", other = ""] = makeFiles(
    { name: "A 2026-03-04 11-30-00.wav", content: contents[0] },
    { name: "B 2026-03-04 10-15-22.wav", content: contents[1] },
    { name: "C 2026-03-04 10-40-00.wav", content: contents[2] },
  );
  await page.getByRole("button", { name: "Join files into one recording" }).click();
  const dialog = page.getByRole("dialog", { name: "Join files into one recording" });
  const chooseIn = async (scope: Locator, name: string, ...paths: readonly string[]) => {
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      scope.getByRole("button", { name, exact: true }).click(),
    ]);
    await chooser.setFiles([...paths]);
  };
  await chooseIn(dialog, "Choose files", late, other);
  await chooseIn(dialog, "Add files", early);
  const names = () => dialog.getByRole("listitem").allInnerTexts();
  const initials = async () => (await names()).map((text) => text.charAt(0)).join("");
  assert.equal(await initials(), "ACB");
  await dialog.getByRole("button", { name: "Sort by name" }).click();
  assert.equal(await initials(), "ABC");
  await dialog.getByRole("button", { name: "Sort by time" }).click();
  assert.equal(await initials(), "BCA");
  assert.match((await names())[0] ?? "", /started/);
  await dialog.getByRole("button", { name: /Move C .* down/ }).click();
  assert.equal(await initials(), "BAC");
  await assertAccessible(page);
  await dialog.getByLabel("Title").fill("Board meeting");
  const second = page.waitForRequest((request) => Number(request.headers()["upload-offset"]) > 0);
  await dialog.getByRole("button", { name: "Upload 3 files as one recording" }).click();
  await section(page, "In progress").getByText("Board meeting (3 files)", { exact: true }).waitFor();
  await second;
  await page.reload();
  await page.unrouteAll({ behavior: "ignoreErrors" });

  const unfinished = section(page, "Unfinished");
  await unfinished.getByText("Board meeting (3 files)", { exact: true }).waitFor();
  await chooseIn(unfinished, "Choose files of Board meeting (3 files)", late, other);
  await unfinished.getByText(/These aren't all of the files/).waitFor();
  offsets.length = 0;
  await chooseIn(unfinished, "Choose files of Board meeting (3 files)", late, other, early);
  const row = section(page, "Your uploads").getByRole("listitem").filter({ hasText: "Board meeting" });
  await row.getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  assert.ok((offsets[0] ?? 0) >= 1024 * 1024, `resumes at ${offsets[0]}`);
  assert.equal(await unfinished.count(), 0);
  const { rows } = await app.db.pool.query(
    `select r.title, r.start_datetime, r.duration_ms, u.import_data -> 'parts' as parts
     from recordings r join uploads u on u.recording_id = r.id where u.created_by = $1`,
    [member.id],
  );
  const [recording] = rows;
  assert.equal(rows.length, 1);
  assert.equal(recording.title, "Board meeting");
  assert.equal(recording.start_datetime.toISOString(), "2026-03-04T10:15:22.000Z");
  assert.ok(Math.abs(recording.duration_ms - 12_000) < 500, recording.duration_ms);
  assert.deepEqual(
    recording.parts.map(({ bytes }: { bytes: number }) => bytes),
    [contents[1], contents[0], contents[2]].map(({ length }) => length),
  );
  assert.deepEqual(complaints, []);
});

test("uploads: captions and chat beside a recording belong to it, and the review can leave them out", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/uploads", { userId: member.id });
  const video = readFileSync(media("good-faststart.mp4"));
  const chat = "10:15:22 From Ada: https://acme.example/agenda";
  const call = (name: string) =>
    makeFiles(
      { name: `${name}.mp4`, content: video },
      { name: `${name}.vtt`, content: subtitles },
      { name: `${name} chat.txt`, content: chat },
    );
  await choose(page).setInputFiles(call("Call"));
  const row = (name: string) => section(page, "Your uploads").getByRole("listitem").filter({ hasText: name });
  await row("Call").getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByRole("switch", { name: /Review uploads before publishing/ }).click();
  await choose(page).setInputFiles([
    ...call("GMT20260304-101522_Recording"),
    ...makeFiles({ name: "Talk.mp3", content: readFileSync(media("good-cbr.mp3")) }),
    ...makeFiles({ name: "Talk.srt", content: "no subtitles" }),
  ]);
  await section(page, "In progress")
    .getByText(/no subtitles with times and text/)
    .waitFor();
  await row("Talk").getByText("Ready for review").waitFor({ timeout: 60_000 });
  await row("GMT2026").getByText("Ready for review").waitFor({ timeout: 60_000 });
  await row("GMT2026").getByRole("link").click();
  await page.getByText("The start time comes from the file's name.").waitFor();
  await page.getByRole("button", { name: "Start time" }).getByText("4 Mar 2026, 10:15").waitFor();
  await page.getByRole("region", { name: "Chat from file" }).getByText("acme.example/agenda").waitFor();
  await page.getByRole("heading", { name: "Transcript from file" }).waitFor();
  assert.equal(await page.getByLabel("Name of participant 1").inputValue(), "Ana Lima");
  // Off the button that is below it since the page has changed.
  await page.mouse.move(0, 0);
  await assertAccessible(page);
  await page.getByRole("button", { name: "Remove chat" }).click();
  await page.getByRole("button", { name: "Remove transcript" }).click();
  await page.getByRole("heading", { name: "Already have a transcript?" }).waitFor();
  await page.getByRole("region", { name: "Chat from file" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Recording ready").waitFor({ timeout: 60_000 });
  const { rows } = await app.db.pool.query(
    `select r.title, n.text as notes, r.transcript_language is not null as has_transcript,
       u.import_data ? 'notes' as has_copy
     from recordings r join uploads u on u.recording_id = r.id
       left join private_notes n on n.recording_id = r.id and n.user_id = $1
     where u.created_by = $1 order by r.title`,
    [member.id],
  );
  assert.deepEqual(rows, [
    { title: "Call", notes: chat, has_transcript: true, has_copy: false },
    { title: "GMT20260304-101522_Recording", notes: null, has_transcript: false, has_copy: false },
  ]);
  assert.deepEqual(complaints, []);
});
