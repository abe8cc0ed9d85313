import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { transcribe } from "../../../test/support/speech-server.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { startTranscription, tenSeconds } from "./test/transcription.ts";

const { app, speech, workspace, makeRecording, run, segments } = await startTranscription();
const { manage } = dataTools(app);
const { token, admin } = workspace;

beforeEach(() => {
  speech.requests.length = 0;
  speech.otherwise(transcribe);
});

const cancel = (id: string, by = token) => manage("DELETE", `/recordings/${id}/transcription`, by);
const rerun = (id: string) => manage("POST", `/recordings/${id}/transcription`, token, {});
const stateOf = async (id: string) =>
  (await manage("GET", `/recordings/${id}`, token)).body.transcript.transcription;

/** A speech server that never responds, and a promise of the first request. */
function hang() {
  const { promise, resolve } = Promise.withResolvers<{ closed: Promise<void> }>();
  speech.otherwise((_request, response) => {
    resolve({ closed: new Promise((end) => response.once("close", () => end())) });
  });
  return promise;
}

test("a running transcription: the request to the speech server ends, and the state says who canceled it", async () => {
  const id = await makeRecording();
  await manage("PATCH", `/recordings/${id}`, token, { share_state: "workspace" });
  const asked = hang();
  const running = run(id);
  const { closed } = await asked;
  assert.equal((await cancel(id, admin.token)).status, 200);
  await running;
  await closed;
  const { status, canceled, last_error } = await stateOf(id);
  assert.deepEqual(
    [status, canceled.by, last_error],
    ["failed", admin.name, "The transcription was canceled."],
  );
  assert.ok(Date.parse(canceled.datetime) <= Date.now());
  const again = await cancel(id);
  assert.deepEqual([again.status, again.body.error], [409, "wrong_state"]);

  speech.otherwise(transcribe);
  assert.equal((await rerun(id)).status, 200);
  const pending = await stateOf(id);
  assert.deepEqual([pending.status, pending.canceled, pending.last_error], ["pending", null, null]);
  await run(id);
  assert.equal((await segments(id)).length, tenSeconds.length);
  assert.equal((await cancel(id)).status, 409);
});

test("a queued one: its job does nothing; by a workspace token it has no name", async () => {
  const id = await makeRecording();
  assert.equal((await cancel(id)).status, 200);
  await run(id);
  assert.deepEqual([speech.requests.length, (await stateOf(id)).canceled.by], [0, null]);
});

test("canceled and requested again before its job has noticed: the same job begins again", async () => {
  const id = await makeRecording();
  const asked = hang();
  const running = run(id);
  await asked;
  speech.otherwise(transcribe);
  assert.equal((await cancel(id)).status, 200);
  assert.equal((await rerun(id)).status, 200);
  await running;
  assert.deepEqual([(await stateOf(id)).status, (await segments(id)).length], ["done", tenSeconds.length]);
});

test("transcribing again: canceled, the transcript stays as it was", async () => {
  const id = await makeRecording();
  await run(id);
  const before = await segments(id);
  await rerun(id);
  const asked = hang();
  const running = run(id);
  await asked;
  assert.equal((await cancel(id)).status, 200);
  await running;
  assert.deepEqual(await segments(id), before);
  assert.equal((await stateOf(id)).status, "failed");
});
