import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);

const file = (name: string, text: string) => ({ name, mimeType: "", buffer: Buffer.from(text) });

const vtt = `WEBVTT

00:00.000 --> 00:02.500
<v Ana Lima>Good morning, shall we begin?

00:02.600 --> 00:05.000
<v Bo Okafor>Yes. The harbour contract first.
`;

const srt = `1
00:00:00,000 --> 00:00:02,500
Ana Lima: Good evening, then.
`;

test("a transcript file is added to a recording, edited and replaced, and the edit is kept", async () => {
  const id = await makeMedia(app, member.token, {
    transcript: undefined,
    participants: [{ name: "Ana Lima", email: "ana@other.example" }],
  });
  const { page, complaints } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByText("This recording has no transcript.").waitFor();
  await page.getByRole("button", { name: "Add transcript" }).click();
  const dialog = page.getByRole("dialog", { name: "Add transcript" });
  const input = dialog.locator("input[type=file]");
  await input.setInputFiles(file("notes.vtt", "WEBVTT\n\nnothing with a time\n"));
  await dialog.getByText("This file has no subtitles with times and text.").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Add transcript" }).isDisabled(), true);
  await input.setInputFiles(
    file("other.vtt", vtt.replace("00:02.600 --> 00:05.000", "12:00.000 --> 12:05.000")),
  );
  await dialog.getByText("1 line, 1 speaker").waitFor();
  await dialog.getByText("1 line after the end of the recording will be left out.").waitFor();
  await input.setInputFiles(file("other.vtt", vtt.replaceAll("00:0", "12:0")));
  await dialog.getByText(/^All of this transcript is after the end of the recording/).waitFor();
  await input.setInputFiles(file("meeting.vtt", vtt));
  await dialog.getByText("2 lines, 2 speakers").waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Add transcript" }).click();
  const words = page.getByRole("list", { name: "Transcript" });
  await words.getByText("The harbour contract first.").waitFor();
  const transcript = async () =>
    (await call(app, "GET", `/recordings/${id}/transcript`, undefined, member)).body;
  const entries = await transcript();
  assert.equal(entries[0].speaker, "Ana Lima");
  assert.notEqual(entries[0].participant_id, null);

  await words.getByText("Good morning").dblclick();
  await page.getByLabel("Line text").fill("Good morning, all!");
  await page.keyboard.press("Enter");
  await words.getByText("Good morning, all!").waitFor();
  await page.getByRole("button", { name: "Recording actions" }).click();
  await page.getByRole("menuitem", { name: "Replace transcript" }).click();
  const replacing = page.getByRole("dialog", { name: "Replace transcript" });
  await replacing.locator("input[type=file]").setInputFiles(file("meeting.srt", srt));
  await replacing.getByRole("radio", { name: /Reapply edits/ }).waitFor();
  await assertAccessibleAtRest(page);
  await replacing.getByRole("button", { name: "Replace transcript" }).click();
  await replacing.waitFor({ state: "detached" });
  await words.getByText("The harbour contract first.").waitFor({ state: "detached" });
  assert.deepEqual(
    (await transcript()).map(({ text }: { text: string }) => text),
    ["Good morning, all!"],
  );
  assert.deepEqual(complaints, []);
});

test("an upload in review gets a transcript from a file, and its speakers can be assigned", async () => {
  const { body } = await call(
    app,
    "POST",
    "/uploads/create",
    {
      media_type: "video",
      auto_promote: false,
      attributes: { title: "Harbour", participants: [{ name: "Ana" }] },
    },
    member,
  );
  const { page, complaints } = await visitShared(app, `/uploads/${body.id}`, { userId: member.id });
  await page.getByRole("heading", { name: "Already have a transcript?" }).waitFor();
  const input = page.locator("input[type=file]");
  await input.setInputFiles(file("empty.srt", "1\n"));
  await page.getByText(/This file has no subtitles with times and text/).waitFor();
  await input.setInputFiles(file("meeting.vtt", vtt));
  await page.getByRole("region", { name: "Transcript" }).getByText("The harbour contract first.").waitFor();
  await page.getByRole("combobox", { name: "Speaker of participant 1" }).click();
  await page.getByRole("option", { name: "Ana Lima" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").waitFor();
  await assertAccessibleAtRest(page);
  const saved = await call(app, "POST", `/uploads/${body.id}`, { include: { attributes: true } }, member);
  assert.equal(saved.body.attributes.participants[0].speaker_key, "Ana Lima");
  // What an import has beyond it is asked for; an upload through the versioned API is none.
  assert.deepEqual(
    complaints.filter((text) => !/status of 404/.test(text)),
    [],
  );
});
