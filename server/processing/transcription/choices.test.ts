import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { type Behaviour, refuse, reply, textOf, transcribe } from "../../../test/support/speech-server.ts";
import { listen, readWav } from "../../../test/support/wav.ts";
import { openAiTranscriber } from "./server/openai.ts";
import { startTranscription } from "./test/transcription.ts";

const made = await startTranscription({ PARLEY_TRANSCRIPTION_LANGUAGE: "de" });
const { app, db, speech, workspace, deps, makeRecording, run, segments, recording } = made;
const { admin } = workspace;

beforeEach(() => {
  speech.requests.length = 0;
  speech.otherwise(transcribe);
});

/** As an admin in settings, and as an app of the workspace elsewhere. */
const manage = (
  method: string,
  path: string,
  body?: unknown,
  token = /^.(workspace|meeting_types)/.test(path) ? admin.token : workspace.token,
) => call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function meetingTypeOf(recordingId: string): Promise<string> {
  const { rows } = await db.pool.query("select meeting_type_id from recordings where id = $1", [recordingId]);
  return rows[0].meeting_type_id;
}

const languages = () => [...new Set(speech.requests.map(({ fields }) => fields.language))];

test("the language of the recording counts before its meeting type's, the workspace's and the server's", async () => {
  const id = await makeRecording({ tones: [] });
  const type = await meetingTypeOf(id);
  const heard: unknown[] = [];
  for (const change of [
    async () => {},
    () => manage("PATCH", "/workspace", { spoken_language: "fr" }),
    () => manage("PATCH", `/meeting_types/${type}`, { spoken_language: "pt-BR" }),
    () => manage("POST", `/recordings/${id}/transcription`, { spoken_language: "ja" }),
    () => manage("POST", `/recordings/${id}/transcription`, {}),
    () => manage("POST", `/recordings/${id}/transcription`, { spoken_language: "auto" }),
  ]) {
    const changed = await change();
    if (changed !== undefined) assert.equal(changed.status, 200, changed.text);
    await db.pool.query("update transcriptions set status = 'pending' where recording_id = $1", [id]);
    speech.requests.length = 0;
    await run(id);
    heard.push([...languages(), (await recording(id)).transcript_language]);
  }
  assert.deepEqual(heard, [
    ["de", "de"],
    ["fr", "fr"],
    ["pt", "pt-BR"],
    ["ja", "ja"],
    ["ja", "ja"],
    ["pt", "pt-BR"],
  ]);
  const wrong = await manage("PATCH", "/workspace", { spoken_language: "Klingon!" });
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/spoken_language"]);
  await manage("PATCH", "/workspace", { spoken_language: "auto" });
  await manage("PATCH", `/meeting_types/${type}`, { spoken_language: "auto" });
});

test("after a failure, another language repeats the parts that succeeded; the same language keeps them", async () => {
  const id = await makeRecording();
  speech.script(transcribe, refuse(401));
  await run(id);
  const shown = await manage("GET", `/recordings/${id}`);
  assert.equal(shown.body.transcript.transcription.status, "failed");
  await manage("POST", `/recordings/${id}/transcription`, { spoken_language: "auto" });
  speech.requests.length = 0;
  speech.script(refuse(401));
  await run(id);
  assert.equal(speech.requests.length, 1, "the first part was kept");
  await manage("POST", `/recordings/${id}/transcription`, { spoken_language: "nl" });
  speech.requests.length = 0;
  await run(id);
  assert.deepEqual([speech.requests.length, languages()], [3, ["nl"]]);
  const after = await manage("GET", `/recordings/${id}`);
  assert.equal(after.body.transcript.transcription.spoken_language, "nl");
});

test("names of participants and the lists of meeting type and workspace are sent; the history shows them", async () => {
  const id = await makeRecording({ participants: ["Ada Lovelace", "ben@example.com", "+49 30 1", "Parley"] });
  const type = await meetingTypeOf(id);
  await manage("PATCH", "/workspace", { vocabulary: ["Parley", " Zürich "] });
  await manage("PATCH", `/meeting_types/${type}`, { vocabulary: ["stand-up"] });
  await run(id);
  const vocabulary = ["Ada Lovelace", "Parley", "stand-up", "Zürich"];
  assert.equal(speech.requests[0]?.fields.prompt, `${vocabulary.join(", ")}.`);
  const used = { model: "whisper-1", language: "de", vocabulary };
  const history = () => manage("GET", `/recordings/${id}/transcript/edits`);
  assert.deepEqual((await history()).body.transcribed_with, used);
  await manage("PATCH", "/workspace", { vocabulary: [] });
  await manage("POST", `/recordings/${id}/transcription`, { spoken_language: "en" });
  await run(id);
  const [edit] = (await history()).body.edits;
  const again = { ...used, language: "en", vocabulary: ["Ada Lovelace", "Parley", "stand-up"] };
  assert.deepEqual(edit.details, { edits: "keep", used: again });
  await manage("PUT", `/recordings/${id}/transcript`, {
    transcript_version: (await recording(id)).transcript_version,
    segments: [{ speaker: "Ada", start: 0, end: 900, text: "Hello." }],
  });
  assert.equal((await history()).body.transcribed_with, null);
  const wrong = await manage("PATCH", `/meeting_types/${type}`, { vocabulary: ["x".repeat(101)] });
  assert.equal(wrong.status, 400);
  await manage("PATCH", `/meeting_types/${type}`, { vocabulary: [] });
});

test("an upload's language can be set until its recording exists, by its creator", async () => {
  const { member } = workspace;
  const created = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "audio", attributes: { title: "T" } },
    { token: member.token },
  );
  const path = `/uploads/${created.body.id}/language`;
  const set = await manage("PUT", path, { language: "uk" }, member.token);
  assert.deepEqual(set.body, { upload_id: created.body.id, language: "uk" });
  const imported = await manage("POST", "/recordings", {
    media: { format: "mp3" },
    title: "Imported",
    recorder_ids: [admin.id],
    spoken_language: "et",
  });
  const { rows } = await db.pool.query(
    "select spoken_language from uploads where id = any($1) order by created_at",
    [[created.body.id, imported.body.id]],
  );
  assert.deepEqual(
    rows.map((row) => row.spoken_language),
    ["uk", "et"],
  );
  const stranger = await makeWorkspace(db);
  assert.equal((await manage("PUT", path, { language: "fr" }, stranger.admin.token)).status, 404);
  assert.equal((await manage("PUT", path, { language: "not a code" }, member.token)).status, 400);
  await db.pool.query("update uploads set status = 'success' where id = $1", [created.body.id]);
  const late = await manage("PUT", path, { language: "fr" }, member.token);
  assert.deepEqual([late.status, late.body.error], [409, "wrong_state"]);
});

/** A diarizing server: it labels voices from A in each request, and names those whose sample it is given. */
const diarize: Behaviour = ({ tones, lists }, response) => {
  const names = lists["known_speaker_names[]"] ?? [];
  const samples = (lists["known_speaker_references[]"] ?? []).map(
    (url) => listen(readWav(Buffer.from(url.split(",")[1] ?? "", "base64")))[0]?.hz,
  );
  const labels = new Map(samples.map((hz, index) => [hz, names[index]]));
  let next = 0;
  const segments = tones.map((tone) => {
    if (!labels.has(tone.hz)) labels.set(tone.hz, String.fromCharCode(65 + next++));
    const speaker = labels.get(tone.hz);
    return { start: tone.startMs / 1000, end: tone.endMs / 1000, text: textOf(tone), speaker };
  });
  reply(response, 200, { text: segments.map(({ text }) => text).join(" "), segments });
};

test("a diarizing server is given samples of earlier speakers, who then keep one name in all parts", async () => {
  if (deps.config.transcription?.engine !== "server") assert.fail();
  const transcriber = openAiTranscriber({
    ...deps.config.transcription,
    model: "gpt-4o-transcribe-diarize",
  });
  // Three parts; the first voice returns in the last one, and the second voice alone is in the middle.
  const tones = [
    { startMs: 200, endMs: 2600, hz: 300 },
    { startMs: 5300, endMs: 7600, hz: 800 },
    { startMs: 9200, endMs: 9700, hz: 300 },
  ];
  const heard = async (behaviour: Behaviour) => {
    speech.otherwise(behaviour);
    const id = await makeRecording({ tones });
    await run(id, { transcriber });
    return (await segments(id)).map(({ speaker, text }) => [speaker, text]);
  };
  assert.deepEqual(await heard(diarize), [
    ["Unknown Speaker 1", "tone 300"],
    ["Unknown Speaker 2", "tone 800"],
    ["Unknown Speaker 1", "tone 300"],
  ]);
  assert.deepEqual(
    speech.requests.map(({ lists }) => lists["known_speaker_names[]"] ?? []),
    [[], ["Speaker 1"], ["Speaker 1", "Speaker 2"]],
  );
  const refusing: Behaviour = (request, response) =>
    "known_speaker_names[]" in request.lists
      ? reply(response, 400, { error: { message: "Unknown parameter: known_speaker_names" } })
      : diarize(request, response);
  assert.equal((await heard(refusing)).at(-1)?.[0], "Unknown Speaker 3", "as without samples");
  assert.equal(speech.requests.length, 3 + 4);
});
