import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingObjectKey } from "../../server/storage/layout.ts";
import { makeWorkspace } from "../support/factories.ts";
import { startSpeechServer, transcribe } from "../support/speech-server.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { startBrowserApp, visit } from "./support.ts";

const speech = await startSpeechServer();
const app = await startBrowserApp({ env: { PARLEY_TRANSCRIPTION_URL: speech.url } });
const { member } = await makeWorkspace(app.db);

async function open(id: string) {
  const visited = await visit(app, `/recordings/${id}`, { userId: member.id });
  await visited.page.emulateMedia({ reducedMotion: "reduce" });
  await visited.page.getByRole("button", { name: "Share", exact: true }).waitFor();
  return visited;
}

test("a transcript that is being written says so, and is there without a reload", async () => {
  const mayAnswer = Promise.withResolvers<void>();
  speech.otherwise(async (request, response) => {
    await mayAnswer.promise;
    await transcribe(request, response);
  });
  const id = await makeMedia(
    app,
    member.token,
    { title: "A call", transcript: undefined, participants: undefined },
    "speech-tones.mp3",
  );
  const { page, complaints } = await open(id);
  await page.getByText(/^(The transcript comes soon|Writing the transcript)/).waitFor();
  await assertAccessibleAtRest(page);
  // It can be heard meanwhile.
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  mayAnswer.resolve();
  await page.getByRole("list", { name: "Transcript" }).getByText("tone").first().waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("a transcript that can't be written says why", async () => {
  speech.otherwise((_request, response) => {
    response.statusCode = 401;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ error: { message: "no such key" } }));
  });
  const id = await makeMedia(
    app,
    member.token,
    { title: "Refused", transcript: undefined, participants: undefined },
    "speech-tones.mp3",
  );
  const { page, complaints } = await open(id);
  await page.getByText(/does not accept the key/).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("a file that is missing, and a line that breaks, are told; the rest is there, and trying again helps", async () => {
  const id = await makeMedia(app, member.token, { title: "Lost" });
  await app.store.delete(recordingObjectKey(id, "media.mp4"));
  const { page, complaints } = await open(id);
  await page.getByText("The file of this recording is missing").waitFor();
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);

  const other = await makeMedia(app, member.token, { title: "Broken line" });
  const media = (url: URL) => url.pathname.endsWith("/media") && url.pathname.startsWith("/_/media/");
  await page.route(media, (route) => route.abort());
  await page.goto(`${app.url}/recordings/${other}`);
  await page.getByText("This can't be played just now").waitFor();
  await assertAccessibleAtRest(page);
  await page.unroute(media);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("This can't be played just now").waitFor({ state: "detached" });
  await page.getByText("/ 0:12").waitFor();
});
