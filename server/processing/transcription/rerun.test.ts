import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording as makeSupplied, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { refuse, textOf, transcribe } from "../../../test/support/speech-server.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { startTranscription, tenSeconds } from "./test/transcription.ts";

const made = await startTranscription();
const { app, speech, workspace, makeRecording, run, segments, recording } = made;
const { manage, eventsOf } = dataTools(app);
const { token } = workspace;

beforeEach(() => {
  speech.requests.length = 0;
  speech.otherwise(transcribe);
});

const heard = tenSeconds.map(textOf);
const used = { model: "whisper-1", language: null, vocabulary: [] };
const rerun = (id: string, body: object = {}, by = token) =>
  manage("POST", `/recordings/${id}/transcription`, by, body);
const edit = async (id: string, what: string, body: object) => {
  const { transcript_version } = await recording(id);
  return manage("POST", `/recordings/${id}/transcript/${what}`, token, { transcript_version, ...body });
};
const historyOf = async (id: string) =>
  (await manage("GET", `/recordings/${id}/transcript/edits`, token)).body.edits;
const texts = async (id: string) => (await segments(id)).map(({ text }) => text);

/** A recording with a generated transcript. */
async function transcribed(participants: readonly string[] = []): Promise<string> {
  const id = await makeRecording({ participants });
  await run(id);
  return id;
}

test("not edited: re-transcribed at once; the history begins with it, and highlights are updated", async () => {
  const id = await transcribed();
  const highlight = await manage("POST", `/recordings/${id}/highlights`, token, {
    text: "H",
    timestamp: 0,
    duration: 1000,
  });
  const answer = await rerun(id);
  assert.deepEqual([answer.status, answer.body], [200, { status: "pending" }]);
  assert.equal(
    (await manage("GET", `/recordings/${id}`, token)).body.transcript.transcription.status,
    "pending",
  );
  const busy = await rerun(id);
  assert.deepEqual([busy.status, busy.body.error], [409, "wrong_state"]);
  await run(id);
  assert.deepEqual(await texts(id), heard);
  assert.equal((await recording(id)).transcript_version, 2);
  assert.deepEqual(
    (await historyOf(id)).map((one: { kind: string; details: object }) => [one.kind, one.details]),
    [["transcribed", { edits: "keep", used }]],
  );
  assert.deepEqual(await eventsOf(highlight.body.id), ["highlight_added", "highlight_updated"]);
  assert.deepEqual(await eventsOf(id), ["recording_updated", "recording_updated"]);
});

test("the first transcript: highlights made before it are updated", async () => {
  const id = await makeRecording();
  const { body } = await manage("POST", `/recordings/${id}/highlights`, token, {
    text: "H",
    timestamp: 0,
    duration: 1000,
  });
  await run(id);
  assert.deepEqual(await eventsOf(body.id), ["highlight_added", "highlight_updated"]);
  assert.deepEqual(await historyOf(id), []);
});

test("edited: returns 409 without `edits`, and nothing is started", async () => {
  const id = await transcribed();
  await edit(id, "corrections", { segments: [{ index: 0, text: "right" }] });
  const asked = await rerun(id);
  assert.deepEqual([asked.status, asked.body.error], [409, "wrong_state"]);
  assert.match(asked.body.detail, /edited.*keep.*discard/);
  assert.equal((await rerun(id, { edits: "perhaps" })).status, 400);
  assert.equal(
    (await manage("GET", `/recordings/${id}`, token)).body.transcript.transcription.status,
    "done",
  );
});

test("keep: corrections and speakers are in the new transcript, including those made meanwhile; it can be undone", async () => {
  const id = await transcribed(["Ada", "Bo"]);
  await edit(id, "corrections", { segments: [{ index: 0, text: "right" }] });
  await edit(id, "speakers/rename", { speaker: { name: "Unknown Speaker" }, name: "Grace" });
  assert.equal((await rerun(id, { edits: "keep" })).status, 200);
  const meanwhile = await edit(id, "corrections", { segments: [{ index: 1, text: "right, too" }] });
  assert.equal(meanwhile.status, 200, meanwhile.text);
  await run(id);
  assert.deepEqual(await texts(id), ["right", "right, too", ...heard.slice(2)]);
  assert.deepEqual(new Set((await segments(id)).map(({ speaker }) => speaker)), new Set(["Grace"]));
  const [latest, barrier] = await historyOf(id);
  assert.deepEqual(
    [latest.kind, latest.segments_changed, latest.details, barrier.kind, latest.user],
    ["reapplied", 9, { not_reapplied: [], not_reapplied_count: 0 }, "transcribed", null],
  );
  const older = await edit(id, "undo", { edit: 1 });
  assert.equal(older.status, 409);
  assert.match(older.body.detail, /belongs to a transcript that has since been replaced/);
  assert.equal((await edit(id, "undo", {})).status, 200);
  assert.deepEqual(await texts(id), heard);
  assert.equal((await edit(id, "undo", {})).status, 409);
  // It has no edits any more, so `edits` is not required.
  assert.equal((await rerun(id)).status, 200);
});

test("keep: edits that could not be applied are listed in the history", async () => {
  const id = await transcribed();
  await edit(id, "corrections", { segments: [{ index: 8, text: "lost" }] });
  await rerun(id, { edits: "keep" });
  await app.db.pool.query(
    "update transcript_segments set start_ms = 99000, end_ms = 99500 where recording_id = $1 and position = 8",
    [id],
  );
  await run(id);
  assert.deepEqual(await texts(id), heard);
  const [latest] = await historyOf(id);
  assert.deepEqual(latest.details, {
    not_reapplied: [{ start: 99_000, end: 99_500, text: "lost" }],
    not_reapplied_count: 1,
  });
});

test("discard: the new transcript is the model's alone, and edits meanwhile are refused rather than lost", async () => {
  const id = await transcribed();
  await edit(id, "corrections", { segments: [{ index: 0, text: "right" }] });
  assert.equal((await rerun(id, { edits: "discard" })).status, 200);
  const refused = await edit(id, "corrections", { segments: [{ index: 1, text: "x" }] });
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  await run(id);
  assert.deepEqual(await texts(id), heard);
  assert.deepEqual(
    (await historyOf(id)).map((one: { kind: string; details: object }) => [one.kind, one.details]),
    [
      ["transcribed", { edits: "discard", used }],
      ["text", {}],
    ],
  );
  assert.equal((await edit(id, "corrections", { segments: [{ index: 1, text: "x" }] })).status, 200);
});

test("failed: retried with the finished chunks; the existing transcript stays until then", async () => {
  const id = await transcribed();
  await edit(id, "corrections", { segments: [{ index: 0, text: "right" }] });
  await rerun(id, { edits: "keep" });
  speech.otherwise(refuse(401));
  await run(id);
  assert.equal(
    (await manage("GET", `/recordings/${id}`, token)).body.transcript.transcription.status,
    "failed",
  );
  assert.equal((await texts(id))[0], "right");
  speech.otherwise(transcribe);
  assert.equal((await rerun(id)).status, 409);
  assert.equal((await rerun(id, { edits: "keep" })).status, 200);
  await run(id);
  assert.deepEqual(await texts(id), ["right", ...heard.slice(1)]);
});

test("refused: without a file, without a model, for a supplied transcript, and without permission", async () => {
  const id = await transcribed();
  const other = await makeUser(app.db, workspace);
  assert.equal((await rerun(id, {}, other.token)).status, 404);
  await manage("PATCH", `/recordings/${id}`, token, { share_state: "workspace" });
  assert.equal((await rerun(id, {}, other.token)).status, 403);

  const bare = await makeRecording({ hasFile: false });
  await app.db.pool.query("delete from recording_media where recording_id = $1", [bare]);
  const noFile = await rerun(bare);
  assert.deepEqual([noFile.status, noFile.body.error], [409, "wrong_state"]);
  assert.match(noFile.body.detail, /no file/);

  await app.db.pool.query("update transcriptions set written_version = null where recording_id = $1", [id]);
  const supplied = await rerun(id);
  assert.equal(supplied.status, 409);
  assert.match(supplied.body.detail, /supplied/);
  assert.equal((await rerun(id, { edits: "discard" })).status, 200);

  const plain = await startTestApp();
  const its = await makeWorkspace(plain.db);
  const { recordingId } = await makeSupplied(plain, its.token, { recorder_ids: [its.member.id] });
  const none = await dataTools(plain).manage(
    "POST",
    `/recordings/${recordingId}/transcription`,
    its.token,
    {},
  );
  assert.deepEqual([none.status, none.body.error], [409, "wrong_state"]);
  assert.match(none.body.detail, /no speech model/);
});
