import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { startBrowserApp, visit } from "./support.ts";

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

test("a recording without words gets them from a file; corrected, they are replaced and the correction is kept", async () => {
  const id = await makeMedia(app, member.token, {
    transcript: undefined,
    participants: [{ name: "Ana Lima", email: "ana@other.example" }],
  });
  const { page, complaints } = await visit(app, `/recordings/${id}`, { userId: member.id });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByText("This recording has no transcript.").waitFor();
  await page.getByRole("button", { name: "Add a transcript" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a transcript" });
  const input = dialog.locator("input[type=file]");
  await input.setInputFiles(file("notes.vtt", "WEBVTT\n\nnothing with a time\n"));
  await dialog.getByText("No line of this file says what was said when.").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Add the transcript" }).isDisabled(), true);
  await input.setInputFiles(
    file("other.vtt", vtt.replace("00:02.600 --> 00:05.000", "12:00.000 --> 12:05.000")),
  );
  await dialog.getByRole("button", { name: "Add the transcript" }).click();
  await dialog.getByText(/lies after the end of the recording/).waitFor();
  await input.setInputFiles(file("meeting.vtt", vtt));
  await dialog.getByText("2 lines, 2 speakers").waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Add the transcript" }).click();
  const words = page.getByRole("list", { name: "Transcript" });
  await words.getByText("The harbour contract first.").waitFor();
  const transcript = async () =>
    (await call(app, "GET", `/recordings/${id}/transcript`, undefined, member)).body;
  const entries = await transcript();
  assert.equal(entries[0].speaker, "Ana Lima");
  assert.notEqual(entries[0].participant_id, null);

  await words.getByText("Good morning").dblclick();
  await page.getByLabel("Text of the line").fill("Good morning, all!");
  await page.keyboard.press("Enter");
  await words.getByText("Good morning, all!").waitFor();
  await page.getByRole("button", { name: "More for this recording" }).click();
  await page.getByRole("menuitem", { name: "Replace the transcript" }).click();
  const replacing = page.getByRole("dialog", { name: "Replace the transcript" });
  await replacing.locator("input[type=file]").setInputFiles(file("meeting.srt", srt));
  await replacing.getByRole("radio", { name: /Write it into the new transcript/ }).waitFor();
  await assertAccessibleAtRest(page);
  await replacing.getByRole("button", { name: "Replace the transcript" }).click();
  await replacing.waitFor({ state: "detached" });
  await words.getByText("The harbour contract first.").waitFor({ state: "detached" });
  assert.deepEqual(
    (await transcript()).map(({ text }: { text: string }) => text),
    ["Good morning, all!"],
  );
  assert.deepEqual(
    complaints.filter((one) => !one.includes("400")),
    [],
  );
});

test("an upload in review takes a transcript from a file, and its speakers can be said", async () => {
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
  const { page, complaints } = await visit(app, `/uploads/${body.id}`, { userId: member.id });
  await page.getByRole("heading", { name: "Is there a transcript already?" }).waitFor();
  const input = page.locator("input[type=file]");
  await input.setInputFiles(file("empty.srt", "1\n"));
  await page.getByText(/No line of this file says what was said when/).waitFor();
  await input.setInputFiles(file("meeting.vtt", vtt));
  await page.getByRole("region", { name: "Transcript" }).getByText("The harbour contract first.").waitFor();
  await page.getByRole("combobox", { name: "Speaker of participant 1" }).click();
  await page.getByRole("option", { name: "Ana Lima" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").waitFor();
  await assertAccessibleAtRest(page);
  const saved = await call(app, "POST", `/uploads/${body.id}`, { include: { attributes: true } }, member);
  assert.equal(saved.body.attributes.participants[0].speaker_key, "Ana Lima");
  assert.deepEqual(complaints, []);
});
