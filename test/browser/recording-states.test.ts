import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { makeWorkspace, unknownId } from "../support/factories.ts";
import { startSpeechServer, transcribe } from "../support/speech-server.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { signInAs, startBrowserApp, visitShared } from "./support.ts";

const speech = await startSpeechServer();
const app = await startBrowserApp({ env: { PARLEY_TRANSCRIPTION_URL: speech.url } });
const { member, admin: colleague } = await makeWorkspace(app.db);

async function open(id: string) {
  const visited = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await visited.page.emulateMedia({ reducedMotion: "reduce" });
  await visited.page.getByRole("button", { name: "Share", exact: true }).waitFor();
  return visited;
}

test("a transcription shows its progress, and the transcript appears without a reload", async () => {
  const mayRespond = Promise.withResolvers<void>();
  speech.otherwise(async (request, response) => {
    await mayRespond.promise;
    await transcribe(request, response);
  });
  const id = await makeMedia(
    app,
    member.token,
    { title: "A call", transcript: undefined, participants: undefined },
    "speech-tones.mp3",
  );
  const { page, complaints } = await open(id);
  await page.getByText(/^(Transcription queued|Transcribing…)/).waitFor();
  await assertAccessibleAtRest(page);
  // The audio is playable meanwhile.
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  mayRespond.resolve();
  await page.getByRole("list", { name: "Transcript" }).getByText("tone").first().waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);
});

test("a transcription is canceled by its recorder, who is named, and starts again on request", async () => {
  speech.otherwise(() => undefined);
  const id = await makeMedia(
    app,
    member.token,
    { title: "Canceled", transcript: undefined, participants: undefined },
    "speech-tones.mp3",
  );
  const { page, complaints } = await open(id);
  await page.getByRole("button", { name: "Cancel transcription" }).click();
  await page.getByText(`Canceled by ${member.name}.`).waitFor();
  await assertAccessibleAtRest(page);
  speech.otherwise(transcribe);
  await page.getByRole("button", { name: "Transcribe again" }).click();
  await page.getByRole("list", { name: "Transcript" }).getByText("tone").first().waitFor();
  assert.deepEqual(complaints, []);
});

test("a failed transcription shows the reason, and can be repeated in another language", async () => {
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
  speech.requests.length = 0;
  speech.otherwise(transcribe);
  await page.getByRole("button", { name: "Change language" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Language" }).fill("Japan");
  await page.getByRole("option", { name: "Japanese" }).click();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Transcribe" }).click();
  await page.getByRole("list", { name: "Transcript" }).getByText("tone").first().waitFor();
  assert.equal(speech.requests.at(-1)?.fields.language, "ja");
  assert.deepEqual(complaints, []);
});

test("a missing file and a lost connection are reported; the rest works, and retrying helps", async () => {
  const id = await makeMedia(app, member.token, { title: "Lost" });
  await app.store.delete(recordingObjectKey(id, "media.mp4"));
  const { page, complaints } = await open(id);
  await page.getByText("Recording file missing").waitFor();
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await assertAccessibleAtRest(page);
  assert.deepEqual(complaints, []);

  const other = await makeMedia(app, member.token, { title: "Broken line" });
  const media = (url: URL) => url.pathname.endsWith("/media") && url.pathname.startsWith("/_/media/");
  await page.route(media, (route) => route.abort());
  await page.goto(`${app.url}/recordings/${other}`);
  await page.getByText("Can't play this right now").waitFor();
  await assertAccessibleAtRest(page);
  await page.unroute(media);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Can't play this right now").waitFor({ state: "detached" });
  await page.getByText("/ 0:12").waitFor();
});

test("access is requested on the page that an unknown recording has too, and granted in the Share dialog", async () => {
  const id = await makeMedia(app, member.token);
  const { page, context } = await visitShared(app, "/icon.svg", { userId: colleague.id });
  const texts: string[] = [];
  for (const requested of [unknownId(), id]) {
    await page.goto(`${app.url}/recordings/${requested}`);
    const main = page.getByRole("main");
    const button = main.getByRole("button", { name: "Request access" });
    await button.waitFor();
    await assertAccessibleAtRest(page);
    await button.click();
    await main.getByRole("status").getByText("Request sent").waitFor();
    texts.push(await main.innerText());
  }
  assert.equal(texts[1], texts[0]);
  await until("the request is stored", async () => {
    const { rowCount } = await app.db.pool.query("select 1 from access_requests where recording_id = $1", [
      id,
    ]);
    return rowCount === 1;
  });
  await signInAs(app, context, member.id);
  await page.goto(`${app.url}/recordings/${id}?share=true`);
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByRole("button", { name: `Grant access to ${colleague.name}` }).waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: `Grant access to ${colleague.name}` }).click();
  await dialog.getByRole("button", { name: `Stop sharing with ${colleague.name}` }).waitFor();
  await dialog.getByRole("region", { name: "Access requests" }).waitFor({ state: "detached" });
  await signInAs(app, context, colleague.id);
  await page.goto(`${app.url}/recordings/${id}`);
  await page.getByRole("button", { name: "Share", exact: true }).waitFor();
});
