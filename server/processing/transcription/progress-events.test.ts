import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { hookData } from "../../../contract/webhooks/hook-payloads.ts";
import { call } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { refuse, transcribe } from "../../../test/support/speech-server.ts";
import { fanOut } from "../../connections/webhooks/deliveries/fan-out.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { startTranscription } from "./test/transcription.ts";

const { app, db, speech, workspace, makeRecording, run } = await startTranscription();
const { manage } = dataTools(app);
const stranger = await makeWorkspace(db);

beforeEach(() => speech.otherwise(transcribe));

/** The reported states of a recording's transcription, in order. */
async function reported(id: string) {
  const { rows } = await db.pool.query(
    "select data from events where type = 'transcription_updated' and recording_id = $1 order by id",
    [id],
  );
  return rows.map(({ data }) => {
    hookData("transcription_updated").parse(data);
    assert.equal(data.recording_id, id);
    return [data.status, data.stage, data.progress, data.error];
  });
}

test("each stage, each ten percent and the end are reported once", async () => {
  const id = await makeRecording();
  await run(id);
  await run(id);
  assert.deepEqual(await reported(id), [
    ["running", "audio", 0, null],
    ["running", "words", 0, null],
    ["running", "words", 35, null],
    ["running", "words", 65, null],
    ["running", "words", 95, null],
    ["done", "words", 100, null],
  ]);
});

test("a failure and a cancellation are reported with the reason, and a new run from its beginning", async () => {
  const id = await makeRecording();
  speech.otherwise(refuse(400));
  await run(id);
  const failed = (await reported(id)).at(-1);
  assert.equal(failed?.[0], "failed");
  assert.match(failed?.[3], /400/);
  speech.otherwise(transcribe);
  assert.equal((await manage("POST", `/recordings/${id}/transcription`, workspace.token, {})).status, 200);
  assert.equal((await manage("DELETE", `/recordings/${id}/transcription`, workspace.token)).status, 200);
  const canceled = await reported(id);
  assert.equal(canceled.at(-1)?.[3], "The transcription was canceled.");
  assert.equal((await manage("POST", `/recordings/${id}/transcription`, workspace.token, {})).status, 200);
  await run(id);
  const rest = (await reported(id)).slice(canceled.length);
  assert.deepEqual(
    [rest[0]?.slice(0, 2), rest.at(-1)?.slice(0, 3)],
    [
      ["running", "audio"],
      ["done", "words", 100],
    ],
  );
});

test("the event feed has them for those who see the recording; hooks of the newer version alone", async () => {
  const id = await makeRecording();
  await run(id);
  const read = async (token: string) => {
    const { body } = await manage("GET", "/events?types=transcription_updated&limit=500", token);
    const events: { data: { recording_id: string } }[] = body.events;
    return events.filter(({ data }) => data.recording_id === id);
  };
  await fanOut(db);
  assert.equal((await read(workspace.token)).length, 6);
  assert.deepEqual(await read(stranger.token), []);
  assert.deepEqual(await read(workspace.admin.token), [], "an admin who does not see the recording");
  const hook = { hook_url: "http://127.0.0.1:1/", hook_type: "transcription_updated" };
  const older = await call(app, "POST", "/hooks/create", hook, {
    token: workspace.token,
    version: "2025-10-31",
  });
  assert.equal(older.status, 400, older.text);
  assert.match(older.text, /hook_type/);
});
