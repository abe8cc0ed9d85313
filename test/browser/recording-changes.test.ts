import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeTeam, makeUser, makeWorkspace } from "../support/factories.ts";
import { minutes, startModelServer } from "../support/model-server.ts";
import { until } from "../support/until.ts";
import { withoutRefusals } from "./link-support.ts";
import { assertAccessibleAtRest, longTalk, makeMedia, people, talk } from "./recording-support.ts";
import { desktop, phone, resize, signInAs, startBrowserApp, visitShared } from "./support.ts";

const model = await startModelServer();
const app = await startBrowserApp({ env: { PARLEY_LLM_URL: model.url, PARLEY_LLM_MODEL: "small" } });
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

const manage = (method: string, path: string, body?: unknown, token = member.token) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function open(id: string, userId = member.id) {
  const visited = await visitShared(app, `/recordings/${id}`, { userId });
  await visited.page.getByRole("list", { name: "Transcript" }).waitFor();
  return visited;
}

const make = async (attributes: object = {}) =>
  (await makeRecording(app, member.token, { transcript: talk, participants: people, ...attributes }))
    .recordingId;

/** Waits for the summary, which a page shows only if it is there or the page follows the recording. */
const isWritten = (id: string): Promise<unknown> =>
  until("the summary is written", async () => {
    const { body } = await manage("GET", `/recordings/${id}/intelligence`);
    return body.status === "done";
  });

test("find and replace: whole words, case and speaker, with a preview; one undo reverts all; word times stay", async () => {
  const words = [
    ["The", 2600, 2900],
    ["harbour", 2900, 3400],
    ["contract.", 3400, 4000],
  ].map(([text, start, end]) => ({ text, start, end }));
  const id = await make();
  await manage("PUT", `/recordings/${id}/transcript`, {
    transcript_version: 0,
    segments: [
      { speaker: "Ana Lima", start: 0, end: 2500, text: "Good morning, shall we begin?" },
      { speaker: "Bo Okafor", start: 2600, end: 5000, text: "The harbour contract.", words },
      { speaker: "Ana Lima", start: 5000, end: 7500, text: "The harbour master wants it signed." },
    ],
  });
  const { page, complaints } = await open(id);
  await page.getByRole("button", { name: "Find and replace" }).click();
  const dialog = page.getByRole("dialog", { name: "Find and replace" });
  await dialog.getByRole("textbox", { name: /^Find/ }).fill("HARBOUR");
  await dialog.getByLabel("Replace with").fill("Port");
  await dialog.getByText("2 matches in 2 lines").waitFor();
  await dialog.getByRole("region", { name: "Preview" }).getByText("The Port master wants").waitFor();
  await dialog.getByLabel("Match case").check();
  await dialog.getByText("No matches").waitFor();
  await dialog.getByLabel("Match case").uncheck();
  await dialog.getByRole("textbox", { name: /^Find/ }).fill("harb");
  await dialog.getByText("No matches").waitFor();
  await dialog.getByRole("textbox", { name: /^Find/ }).fill("harbour");
  await dialog.getByText("2 matches in 2 lines").waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Replace 2" }).click();
  await dialog.waitFor({ state: "detached" });
  const lines = async () =>
    (await manage("GET", `/recordings/${id}/transcript?words=true`)).body.segments.map(
      // biome-ignore lint/suspicious/noExplicitAny: a segment of the response.
      ({ text, words }: any) => ({ text, words }),
    );
  const [, first, second] = await lines();
  assert.equal(second.text, "The Port master wants it signed.");
  assert.deepEqual(
    first.words.map(({ text, start }: { text: string; start: number }) => [text, start]),
    [
      ["The", 2600],
      ["Port", 2900],
      ["contract.", 3400],
    ],
  );
  await page.getByRole("button", { name: "Undo last edit" }).click();
  await until("both lines are reverted", async () =>
    (await lines()).every(({ text }: { text: string }) => !text.includes("Port")),
  );
  assert.deepEqual(complaints, []);
});

test("find and replace: more lines than one edit may change, each once; after a failure the rest is replaced, and nothing twice", async () => {
  const id = await make();
  const segments = Array.from({ length: 2001 }, (_, index) => ({
    ...{ speaker: "Ana Lima", start: index * 2, end: index * 2 + 2 },
    text: index < 1001 ? "Jon agrees." : "Jon nods.",
  }));
  await manage("PUT", `/recordings/${id}/transcript`, { transcript_version: 0, segments });
  const { page } = await open(id);
  let edits = 0;
  await page.route("**/corrections", async (route) => {
    edits += 1;
    // The second edit arrives and only its response is lost; the third doesn't arrive.
    if (edits === 2) await route.fetch();
    return edits === 2 || edits === 3 ? route.abort() : route.continue();
  });
  await page.getByRole("button", { name: "Find and replace" }).click();
  const dialog = page.getByRole("dialog", { name: "Find and replace" });
  await dialog.getByRole("textbox", { name: /^Find/ }).fill("Jon");
  await dialog.getByLabel("Replace with").fill("Jon Smith");
  await dialog.getByRole("button", { name: "Replace 2,001" }).click();
  await page.getByText(/^1,000 of 2,001 lines were changed\./).waitFor();
  await dialog.getByRole("button", { name: "Replace 1", exact: true }).click();
  await page
    .getByText(/The server can't be reached/)
    .nth(1)
    .waitFor();
  await dialog.getByRole("button", { name: "Replace 1", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  const texts = async () => {
    const { body } = await manage("GET", `/recordings/${id}/transcript`);
    return [...new Set(body.segments.map(({ text }: { text: string }) => text))];
  };
  assert.deepEqual(await texts(), ["Jon Smith agrees.", "Jon Smith nods."]);

  // Now without a failure.
  await page.getByRole("button", { name: "Find and replace" }).click();
  await dialog.getByRole("textbox", { name: /^Find/ }).fill("agrees");
  await dialog.getByLabel("Replace with").fill("agrees not");
  await dialog.getByRole("button", { name: "Replace 1,001" }).click();
  await page.getByText("Undo last edit 2 times to revert all of them.").waitFor();
  assert.deepEqual(await texts(), ["Jon Smith agrees not.", "Jon Smith nods."]);
});

test("text: edited in place, undone, cancelled with Escape; a conflicting edit is shown and nothing is lost", async () => {
  const id = await make();
  const { page, complaints } = await open(id);
  const words = page.getByRole("list", { name: "Transcript" });
  await words.getByText("It is signed.").dblclick();
  const field = page.getByLabel("Line text");
  await field.fill("It is not signed.");
  await assertAccessibleAtRest(page);
  await page.keyboard.press("Enter");
  await field.waitFor({ state: "detached" });
  await words.getByText("It is not signed.").waitFor();
  const textOf = async (index: number) =>
    (await manage("GET", `/recordings/${id}/transcript`)).body.segments[index].text;
  assert.equal(await textOf(3), "It is not signed.");

  await page.getByRole("button", { name: "Undo last edit" }).click();
  await words.getByText("It is signed.").waitFor();
  assert.equal(await textOf(3), talk.segments[3]?.text);

  await words.getByText("Good morning").dblclick();
  await field.fill("Nonsense");
  await page.keyboard.press("Escape");
  await words.getByText("Good morning, shall we begin?").waitFor();

  // Another window edits the same line meanwhile.
  await words.getByText("Good morning").dblclick();
  await field.fill("Good evening, shall we begin?");
  const { body } = await manage("GET", `/recordings/${id}/transcript`);
  await manage("POST", `/recordings/${id}/transcript/corrections`, {
    transcript_version: body.transcript_version,
    segments: [{ index: 0, text: "Good night." }],
  });
  const before = complaints.length;
  await page.keyboard.press("Enter");
  await page.getByText(/Someone else just edited this/).waitFor();
  await page.getByText("Current text: “Good night.”").waitFor();
  assert.equal(await textOf(0), "Good night.");
  // The browser reports the expected 409 response, and nothing else.
  assert.match(complaints.splice(before).join(), /^Failed to load resource[^,]*409[^,]*$/);
  await page.getByRole("button", { name: "Keep my version" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await field.waitFor({ state: "detached" });
  await words.getByText("Good evening, shall we begin?").waitFor();
  assert.equal(await textOf(0), "Good evening, shall we begin?");
  assert.deepEqual(complaints, []);
});

test("speakers: renamed everywhere, lines reassigned, speakers merged; undone", async () => {
  const id = await make();
  const { page, complaints } = await open(id);
  const words = page.getByRole("list", { name: "Transcript" });
  const heads = () => words.locator("button:not([data-cursor])[aria-haspopup=dialog]").allTextContents();
  assert.deepEqual(await heads(), ["Ana Lima", "Bo Okafor", "Ana Lima", "Unknown Speaker 1"]);
  await words.getByRole("button", { name: "Unknown Speaker 1", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Who is speaking?" });
  await assertAccessibleAtRest(page);
  await dialog.getByLabel("Name", { exact: true }).fill("Noa");
  await dialog.getByRole("button", { name: "Change" }).click();
  await words.getByRole("button", { name: "Noa", exact: true }).waitFor();

  await words.getByRole("button", { name: "Bo Okafor", exact: true }).click();
  await dialog.getByLabel("Change speaker for these 2 lines only").check();
  await dialog.getByRole("combobox", { name: "Speaker" }).click();
  await page.getByRole("option", { name: "Noa" }).click();
  await dialog.getByRole("button", { name: "Change" }).click();
  await words.getByRole("button", { name: "Bo Okafor", exact: true }).waitFor({ state: "detached" });
  assert.deepEqual(await heads(), ["Ana Lima", "Noa", "Ana Lima", "Noa"]);
  await page.getByRole("button", { name: "Undo last edit" }).click();
  await words.getByRole("button", { name: "Bo Okafor", exact: true }).waitFor();

  await words.getByRole("button", { name: "Noa", exact: true }).click();
  await dialog.getByLabel("Merge Noa with another speaker").check();
  await dialog.getByRole("combobox", { name: "Speaker" }).click();
  await page.getByRole("option", { name: "Bo Okafor" }).click();
  await dialog.getByRole("button", { name: "Change" }).click();
  await words.getByRole("button", { name: "Noa", exact: true }).waitFor({ state: "detached" });
  assert.deepEqual(await heads(), ["Ana Lima", "Bo Okafor", "Ana Lima", "Bo Okafor"]);
  assert.deepEqual(complaints, []);
});

test("title, tags and notes are edited in place and saved", async () => {
  const id = await make({ title: "Before" });
  const { page, complaints } = await open(id);
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByLabel("Title", { exact: true }).fill("After");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "After", level: 1 }).waitFor();

  await page.getByRole("button", { name: "Add tag" }).click();
  await page.getByLabel("New tag").fill("über!");
  await page.getByText("Letters, numbers and dashes only").waitFor();
  await assertAccessibleAtRest(page);
  await page.getByLabel("New tag").fill("next quarter");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove tag next-quarter" }).waitFor();

  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByLabel("Your notes").fill("Ask about Friday");
  await page.getByText("Saved", { exact: true }).waitFor();
  const { body } = await manage("GET", `/recordings/${id}`);
  assert.deepEqual(
    [body.recording.title, body.recording.tags, body.recording.private_notes],
    ["After", ["next-quarter"], { text: "Ask about Friday" }],
  );
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Remove tag next-quarter" }).click();
  await page.getByRole("button", { name: "Remove tag next-quarter" }).waitFor({ state: "detached" });
  await page.getByLabel("Your notes").fill("");
  await until("the notes are gone", async () => {
    const { body: notes } = await manage("GET", `/recordings/${id}/private_notes`);
    return notes.text === null;
  });
  assert.deepEqual(complaints, []);
});

test("sharing with a user, a team, the workspace and the public; one sentence says who can see it and why", async () => {
  const id = await make();
  const rosa = await makeUser(app.db, workspace, { name: "Rosa Lang" });
  await makeTeam(app.db, workspace, [], "Harbour team");
  const { page, complaints } = await open(id);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  const sentence = () => dialog.getByRole("status").textContent();
  assert.match(
    (await sentence()) ?? "",
    new RegExp(`^Visible to ${member.name} \\(owner\\) and workspace apps`),
  );
  await dialog.getByRole("combobox", { name: "People" }).click();
  await page.getByRole("option", { name: /Rosa Lang/ }).click();
  await dialog.getByRole("button", { name: "Stop sharing with Rosa Lang" }).waitFor();
  await dialog.getByRole("combobox", { name: "Teams" }).click();
  await page.getByRole("option", { name: "Harbour team" }).click();
  await dialog.getByRole("button", { name: "Stop sharing with Harbour team" }).waitFor();
  assert.match(
    (await sentence()) ?? "",
    /Rosa Lang \(shared directly\), the team Harbour team and workspace apps/,
  );
  assert.equal((await manage("GET", `/recordings/${id}`, undefined, rosa.token)).status, 200);
  await assertAccessibleAtRest(page);

  await dialog.getByLabel("Public").check();
  await dialog.getByText(/anyone with a public link, without signing in/).waitFor();
  await dialog.getByRole("textbox", { name: "Link 1" }).waitFor();
  await dialog.getByLabel("Workspace").check();
  await dialog.getByRole("button", { name: "Remove links" }).click();
  await dialog.getByText(/^Visible to everyone in [^,]*\.$/).waitFor();
  await dialog.getByLabel("Restricted").check();
  await dialog.getByRole("button", { name: "Stop sharing with Rosa Lang" }).click();
  await dialog.getByRole("button", { name: "Stop sharing with Rosa Lang" }).waitFor({ state: "detached" });
  assert.equal((await manage("GET", `/recordings/${id}`, undefined, rosa.token)).status, 404);
  assert.deepEqual(complaints, []);
});

test("users with view access can't edit a recording, but can add notes and highlights", async () => {
  const id = await make();
  await manage("PATCH", `/recordings/${id}`, { share_state: "workspace" });
  const other = await makeUser(app.db, workspace);
  const { page, complaints } = await open(id, other.id);
  await page.getByRole("button", { name: "Share", exact: true }).waitFor();
  for (const name of ["Edit title", "Add tag"])
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  await page.getByRole("button", { name: "Recording actions" }).click();
  await page.getByRole("menuitem", { name: "Download as text" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Delete" }).count(), 0);
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: "Highlights" }).click();
  await page.getByRole("button", { name: "Highlight this moment" }).waitFor();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByText("Only owners and admins can change this.").waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("downloads: the media and the transcript in four formats, named after the recording", async () => {
  const id = await makeMedia(app, member.token, { title: "Q3: plan / review" });
  const { page, complaints } = await open(id);
  for (const [item, name, start] of [
    ["Download video", "Q3 plan review.mp4", null],
    ["Download as text", "Q3 plan review.txt", "Ana Lima: Good morning"],
    ["Download as WebVTT", "Q3 plan review.vtt", "WEBVTT"],
    ["Download as SubRip", "Q3 plan review.srt", "1\n00:00:00,000"],
    ["Download as JSON", "Q3 plan review.json", "["],
  ] as const) {
    await page.getByRole("button", { name: "Recording actions" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item }).click(),
    ]);
    assert.equal(download.suggestedFilename().replaceAll(/\s+/g, " "), name);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const content = Buffer.concat(chunks);
    assert.ok(content.length > 0);
    if (start !== null) assert.ok(content.toString().replaceAll("\r", "").startsWith(start), item);
  }
  assert.deepEqual(complaints, []);
});

test("documents: the ticked parts as a Word document or to print, without the frame of the app; the ticks stay", async () => {
  const id = await make({ title: "Printed meeting" });
  await isWritten(id);
  const { page, complaints } = await open(id);
  const dialog = page.getByRole("dialog", { name: "Word document or PDF" });
  const openDialog = async () => {
    await page.getByRole("button", { name: "Recording actions" }).click();
    await page.getByRole("menuitem", { name: "Word document or PDF" }).click();
    await dialog.getByText("This recording has no highlights.").waitFor();
    assert.equal(await dialog.getByRole("checkbox", { name: "Highlights" }).isDisabled(), true);
    await assertAccessibleAtRest(page);
  };
  await openDialog();
  await dialog.getByRole("checkbox", { name: "Action items" }).uncheck();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Download Word document", exact: true }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "Printed meeting.docx");
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString("latin1", 0, 2), "PK");
  await dialog.waitFor({ state: "detached" });

  await resize(page, phone);
  await openDialog();
  assert.equal(await dialog.getByRole("checkbox", { name: "Action items" }).isChecked(), false);
  await page.evaluate("window.print = () => { window.hasPrinted = true; }");
  await dialog.getByRole("button", { name: "Print or save as PDF", exact: true }).click();
  await until("the page is printed", async () => (await page.evaluate("window.hasPrinted")) === true);
  await page.waitForURL(/\/print\?parts=[^&]*$/);
  await page.getByRole("heading", { name: "Printed meeting", level: 1 }).waitFor();
  await page.reload();
  for (const size of [phone, desktop]) {
    await resize(page, size);
    await page.getByText("Spoken of: 5 lines.").waitFor();
    assert.equal(await page.getByRole("heading", { name: "Action items", exact: true }).count(), 0);
    await page.emulateMedia({ media: "screen" });
    await assertAccessibleAtRest(page);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByRole("banner").isVisible(), false);
    assert.equal(
      await page.getByRole("button", { name: "Print or save as PDF", exact: true }).isVisible(),
      false,
    );
    const paper = await page.locator("article").innerText();
    for (const line of talk.segments) assert.ok(paper.includes(line.text), line.text);
  }
  assert.ok((await page.pdf()).length > 5000);
  assert.deepEqual(complaints, []);
});

test("deleting lists what will be deleted, moves it to the trash, and can be undone there and then", async () => {
  const older = await make({ title: "Older meeting" });
  assert.equal((await manage("DELETE", `/recordings/${older}`)).status, 200);
  const id = await make({ title: "Old meeting" });
  const { page, complaints } = await open(id);
  const openDialog = async () => {
    await page.getByRole("button", { name: "Recording actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("5 transcript lines").waitFor();
    await dialog.getByText("from the trash for 30 days").waitFor();
  };
  const confirm = async () => {
    await page.getByRole("dialog").getByRole("button", { name: "Delete recording" }).click();
    // It stays while the mouse is over it.
    await page.getByText("Recording moved to trash").hover();
    await page.getByRole("heading", { name: "Library" }).waitFor();
    assert.equal((await manage("GET", `/recordings/${id}`)).status, 404);
  };
  await openDialog();
  await assertAccessibleAtRest(page);
  await confirm();
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Recording restored").waitFor();
  await page.getByRole("link", { name: "Old meeting" }).click();
  await openDialog();
  await confirm();
  await page.getByRole("link", { name: "Trash" }).click();
  const trash = page.getByRole("list", { name: "Recordings in the trash" });
  await trash.getByText("Old meeting").waitFor();
  await page.getByRole("heading", { name: "Trash" }).hover();
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Restore Old meeting" }).click();
  await trash.getByText("Old meeting").waitFor({ state: "detached" });
  assert.equal((await manage("GET", `/recordings/${id}`)).status, 200);
  await page.getByRole("button", { name: "Delete now: Older meeting" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
  await page.getByRole("heading", { name: "The trash is empty" }).waitFor();
  assert.equal((await manage("POST", `/trash/${older}/restore`)).status, 404);
  // Requests that were in flight when the recording was deleted return 404.
  assert.deepEqual(withoutRefusals(complaints), []);
});

test("summary and action items appear without a reload; checking one is saved", async () => {
  const opened = Promise.withResolvers<void>();
  model.otherwise(async (request, response) => {
    await opened.promise;
    await minutes(request, response);
  });
  const id = await make({
    transcript: {
      language: "en",
      segments: [{ speaker_key: "s1", start: 0, end: 4000, text: "I will send the contract on Friday." }],
    },
  });
  const { page, complaints } = await open(id);
  opened.resolve();
  // The page has the recording as it was before, and doesn't know that this has begun.
  await isWritten(id);
  await page.getByRole("tab", { name: "Summary" }).click();
  await page.getByRole("button", { name: "Write again" }).waitFor();
  await assertAccessibleAtRest(page);
  await page.getByRole("tab", { name: /Action items/ }).click();
  const box = page.getByRole("checkbox", { name: /contract/ });
  // Sooner than the page requests the recording again anyway.
  await box.click({ timeout: 30_000 });
  await page.getByText("All done").waitFor();
  await until("the status is saved", async () => {
    const { body } = await manage("GET", `/recordings/${id}/action-items`);
    return body.action_items[0].status === "completed";
  });
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("a summary is rated with a comment, which can be withdrawn, and written again in another length and language", async () => {
  const id = await make();
  const admin = await makeUser(app.db, workspace, { role: "admin" });
  const { page, context, complaints } = await open(id);
  await page.getByRole("tab", { name: "Summary" }).click();
  const shoot = async (name: string) => {
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
  };
  const feedback = async () => (await manage("GET", `/recordings/${id}/intelligence`)).body.feedback;
  const bad = page.getByRole("button", { name: "Bad summary" });
  await bad.click();
  await page.getByRole("button", { name: "Add a comment" }).click();
  await page.getByLabel("Comment", { exact: true }).fill("It was Tuesday.");
  await shoot("feedback-comment");
  await page.getByRole("button", { name: "Save comment" }).click();
  await page.getByText("It was Tuesday.").waitFor();
  await until("the comment is saved", async () => (await feedback())?.comment === "It was Tuesday.");
  assert.equal((await feedback()).rating, "down");
  await assertAccessibleAtRest(page);
  await shoot("feedback");
  await signInAs(app, context, admin.id);
  await page.goto(`${app.url}/settings/language-model`);
  await page.getByText("It was Tuesday.").waitFor();
  await page.getByRole("cell", { name: "Summaries" }).waitFor();
  await assertAccessibleAtRest(page);
  await shoot("feedback-settings");
  await signInAs(app, context, member.id);
  await resize(page, phone);
  await page.goto(`${app.url}/recordings/${id}?tab=summary`);
  await page.getByText("It was Tuesday.").waitFor();
  assert.equal(await bad.getAttribute("aria-pressed"), "true");
  await bad.scrollIntoViewIfNeeded();
  await shoot("feedback-phone");
  await resize(page, desktop);
  await bad.click();
  await until("the feedback is withdrawn", async () => (await feedback()) === null);

  await page.getByRole("button", { name: "Write again" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Short").click();
  await dialog.getByRole("combobox", { name: "Language" }).fill("German");
  await page.getByRole("option", { name: "German", exact: true }).click();
  await assertAccessibleAtRest(page);
  await shoot("write-again");
  await dialog.getByRole("button", { name: "Write again" }).click();
  await dialog.waitFor({ state: "detached" });
  await until("it was written again", async () => {
    const { body } = await manage("GET", `/recordings/${id}/intelligence`);
    return body.status === "done" && body.length === "short" && body.language === "de";
  });
  assert.match(model.requests.at(-1)?.system ?? "", /in German/);
  await page.getByRole("button", { name: "Good summary" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("five-hour transcript: few lines are rendered, the end is reachable, the last match is found", async () => {
  const { recordingId: id } = await makeRecording(app, member.token, { transcript: longTalk(6000) });
  const { page, complaints } = await open(id);
  const rows = () => page.locator("[data-index]").count();
  assert.ok((await rows()) < 60, `${await rows()} lines`);
  const list = page.getByRole("list", { name: "Transcript" });
  await page.locator('[data-index="0"] [data-cursor]').focus();
  await page.keyboard.press("End");
  await list.getByText("Line 5999:").waitFor();
  assert.ok((await rows()) < 60, `${await rows()} lines`);
  await until("focus is on the last line", async () =>
    /^4:59:57/.test(
      (await page.evaluate<string | null>(`document.activeElement?.getAttribute("aria-label")`)) ?? "",
    ),
  );
  await page.keyboard.press("/");
  await page.keyboard.type("needle");
  await page.getByText("6 of 6").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 6").waitFor();
  await list.getByText("Line 999:").waitFor();
  assert.ok((await rows()) < 60, `${await rows()} lines`);

  // Fast wheel scrolling from end to end: lines appear soon after.
  await list.hover();
  for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 80_000);
  await list.getByText("Line 5999:").waitFor();
  assert.ok((await rows()) < 60, `${await rows()} lines`);
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("the trash: a hold keeps a recording, and emptying deletes the others permanently", async () => {
  const own = await makeWorkspace(app.db);
  const ids: Record<string, string> = {};
  for (const title of ["Kept", "Gone"]) {
    ids[title] = (await makeRecording(app, own.admin.token, { title })).recordingId;
    assert.equal(
      (await manage("DELETE", `/recordings/${ids[title]}`, undefined, own.admin.token)).status,
      200,
    );
  }
  const { page, complaints } = await visitShared(app, "/trash", { userId: own.admin.id });
  await page.getByRole("status").filter({ hasText: "2 recordings" }).waitFor();
  await page.getByRole("button", { name: "Place hold: Kept" }).click();
  const dialog = page.getByRole("dialog", { name: "Place hold" });
  await dialog.getByLabel("Reason").fill("Dispute");
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Place hold" }).click();
  await page.getByText("Legal hold: stays until released").waitFor();
  await page.getByRole("button", { name: "Empty trash" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("1 recording permanently deleted, 1 left in the trash").waitFor();
  const list = page.getByRole("list", { name: "Recordings in the trash" });
  await list.getByText("Gone", { exact: true }).waitFor({ state: "detached" });
  await list.getByText("Kept", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Empty trash" }).count(), 0, "all are on hold");
  const { body } = await manage("GET", "/trash", undefined, own.admin.token);
  assert.deepEqual(
    body.recordings.map(({ id }: { id: string }) => id),
    [ids.Kept],
  );
  assert.deepEqual(complaints, []);
});
