import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { transcribe } from "../../../test/support/speech-server.ts";
import { startTranscription } from "../../processing/transcription/test/transcription.ts";
import { dataTools } from "../recordings/test/recordings.ts";

const made = await startTranscription();
const { app, speech, workspace, makeRecording, run, segments, recording } = made;
const { manage, eventsOf } = dataTools(app);
const { token } = workspace;

beforeEach(() => {
  speech.requests.length = 0;
  speech.otherwise(transcribe);
});

const said = [
  { speaker: "ada lovelace", start: 2000, end: 3000, text: "Second." },
  { speaker: "Somebody", start: 0, end: 1500, text: "First." },
];
const supply = (id: string, version: number, body: object = {}, by = token) =>
  manage("PUT", `/recordings/${id}/transcript`, by, { transcript_version: version, segments: said, ...body });
const lines = async (id: string) =>
  (await segments(id)).map(({ speaker, text, participant_id }) => [speaker, text, participant_id !== null]);
const expected = [
  ["Somebody", "First.", false],
  ["Ada Lovelace", "Second.", true],
];
const historyOf = async (id: string) =>
  (await manage("GET", `/recordings/${id}/transcript/edits`, token)).body.edits.map(
    (edit: { kind: string; user: unknown; details: object }) => [edit.kind, edit.user, edit.details],
  );

test("a recording without a transcript gets one, sorted by time, with participants matched by name, events and search", async () => {
  const id = await makeRecording({ participants: ["Ada Lovelace"] });
  const highlight = await manage("POST", `/recordings/${id}/highlights`, token, {
    text: "H",
    timestamp: 0,
    duration: 1000,
  });
  const { status, body } = await supply(id, 0, { language: "en" });
  assert.deepEqual(
    [status, body],
    [200, { transcript_version: 1, edit: null, segments_changed: 2, unread: { count: 0, first: [] } }],
  );
  assert.deepEqual(await lines(id), expected);
  const view = (await manage("GET", `/recordings/${id}`, token)).body;
  assert.equal(view.transcript.language, "en");
  assert.equal(view.participants[0].confirmed_attendee, true);
  assert.deepEqual(await historyOf(id), []);
  assert.deepEqual(await eventsOf(id), ["recording_updated"]);
  assert.deepEqual(await eventsOf(highlight.body.id), ["highlight_added", "highlight_updated"]);
});

test("a waiting or running transcription ends, and never overwrites the supplied transcript", async () => {
  const id = await makeRecording();
  assert.equal((await supply(id, 0)).status, 200);
  await run(id);
  assert.deepEqual(
    (await lines(id)).map(([, text]) => text),
    ["First.", "Second."],
  );
  assert.equal(speech.requests.length, 0);
  const { transcription } = (await manage("GET", `/recordings/${id}`, token)).body.transcript;
  assert.deepEqual([transcription?.status, transcription?.last_error], ["done", null]);
  // Re-transcribing requires `edits` for the supplied transcript.
  assert.equal((await manage("POST", `/recordings/${id}/transcription`, token, {})).status, 409);
});

test("an edited transcript is replaced only with `edits` set; the history lists both and goes back no further", async () => {
  const id = await makeRecording({ participants: ["Ada Lovelace"] });
  await run(id);
  const before = (await recording(id)).transcript_version;
  await manage("POST", `/recordings/${id}/transcript/corrections`, token, {
    transcript_version: before,
    segments: [{ index: 0, text: "Corrected." }],
  });
  const refused = await supply(id, before + 1);
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  assert.match(refused.body.detail, /keep|discard/);
  const { status, body } = await supply(id, before + 1, { edits: "discard" });
  assert.deepEqual([status, body.transcript_version, body.edit], [200, before + 2, 2]);
  assert.deepEqual(await lines(id), expected);
  assert.deepEqual(await historyOf(id), [
    ["supplied", null, { edits: "discard" }],
    ["text", null, {}],
  ]);
  const undo = await manage("POST", `/recordings/${id}/transcript/undo`, token, {
    transcript_version: before + 2,
  });
  assert.equal(undo.status, 409);
});

test("keep: a correction is applied to the new text at the same time", async () => {
  const id = await makeRecording();
  await supply(id, 0);
  await manage("POST", `/recordings/${id}/transcript/corrections`, token, {
    transcript_version: 1,
    segments: [{ index: 0, text: "First, corrected." }],
  });
  assert.equal((await supply(id, 2, { edits: "keep" })).status, 200);
  assert.deepEqual(
    (await lines(id)).map(([, text]) => text),
    ["First, corrected.", "Second."],
  );
});

test("refused without any change: another version, segments after the end of the file, none at all, times backwards", async () => {
  const id = await makeRecording();
  await supply(id, 0);
  const old = await supply(id, 0);
  assert.deepEqual([old.status, old.body.transcript_version], [409, 1]);
  const [one] = said;
  for (const [faulty, pointer] of [
    [[one, { ...one, start: 86_400_000, end: 86_400_001 }], "/segments/1/start"],
    [[], "/segments"],
    [[{ ...one, end: 1 }], "/segments/0/end"],
    [[{ ...one, speaker: " " }], "/segments/0/speaker"],
  ] as const) {
    const { status, body } = await supply(id, 1, { segments: faulty });
    assert.deepEqual([status, body.violations?.[0]?.pointer], [400, pointer]);
  }
  assert.equal((await recording(id)).transcript_version, 1);
});

test("a cue after the end of the file is left out and reported; a file of such cues alone is refused", async () => {
  const id = await makeRecording();
  const late = "\n\n24:00:00.000 --> 24:00:01.000\nLate.\n";
  const cues = `WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ada Lovelace>In time.${late}`;
  const { status, body } = await supply(id, 0, { segments: undefined, webvtt: cues });
  assert.deepEqual(
    [status, body.segments_changed, body.unread],
    [200, 1, { count: 1, first: [{ line: null, reason: "“Late.” is after the end of the recording" }] }],
  );
  assert.deepEqual(
    (await lines(id)).map(([, text]) => text),
    ["In time."],
  );
  const refused = await supply(id, 1, { segments: undefined, webvtt: `WEBVTT${late}` });
  assert.deepEqual([refused.status, refused.body.violations?.[0]?.pointer], [400, "/webvtt"]);
});

test("only users who may change the recording may; for others it exists or not as before", async () => {
  const id = await makeRecording();
  const stranger = await makeUser(app.db, workspace);
  assert.equal((await supply(id, 0, {}, stranger.token)).status, 404);
  await manage("PATCH", `/recordings/${id}`, token, { share_state: "workspace" });
  assert.equal((await supply(id, 0, {}, stranger.token)).status, 403);
  const elsewhere = await makeWorkspace(app.db);
  assert.equal((await supply(id, 0, {}, elsewhere.token)).status, 404);
});

test("50,000 segments are accepted", async () => {
  const id = await makeRecording();
  const many = Array.from({ length: 50_000 }, (_, n) => ({
    speaker: `Speaker ${n % 7}`,
    start: n % 9000,
    end: (n % 9000) + 100,
    text: `What was said at place ${n} of the meeting.`,
  }));
  const { status, body } = await supply(id, 0, { segments: many });
  assert.deepEqual([status, body.segments_changed], [200, 50_000]);
});
