import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { sampleTranscript } from "../../../../test/support/factories.ts";
import { startSpeechServer } from "../../../../test/support/speech-server.ts";
import { until } from "../../../../test/support/until.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const speech = await startSpeechServer();
const { app, member, create } = await startUploads({
  env: { PARLEY_TRANSCRIPTION_URL: speech.url, PARLEY_TRANSCRIPTION_API_KEY: "key-of-the-model" },
});
const token = member.token;
const file = readFileSync(new URL("../../../../test/fixtures/media/speech-tones.mp3", import.meta.url));

/** Sends the file and waits for its recording. */
async function record(input: Input = {}): Promise<string> {
  const { body } = await create({ media_type: "audio", ...input });
  const { url, headers } = body.media.upload;
  const answer = await fetch(url.replace("http://parley.test", app.url), {
    method: "PUT",
    body: file,
    headers,
  });
  assert.equal(answer.status, 200);
  return until("the upload is a recording", async () => {
    const upload = (await call(app, "POST", `/uploads/${body.id}`, {}, { token })).body;
    assert.notEqual(upload.status, "failure", upload.failure?.reason);
    return upload.recording_id ?? undefined;
  });
}

async function transcriptOf(recordingId: string) {
  return (await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, { token })).body;
}

async function eventsOf(recordingId: string): Promise<string[]> {
  const { rows } = await app.db.pool.query(
    "select type from events where subject_id = $1 and type like 'recording%' order by id",
    [recordingId],
  );
  return rows.map((row) => row.type);
}

test("the transcript is added to an existing recording, with an event", async () => {
  const asked = Promise.withResolvers<void>();
  const answerNow = Promise.withResolvers<void>();
  speech.script(async (_request, response) => {
    asked.resolve();
    await answerNow.promise;
    response.writeHead(503).end();
  });
  const recordingId = await record();
  await asked.promise;
  assert.deepEqual(await transcriptOf(recordingId), []);
  assert.deepEqual(await eventsOf(recordingId), [], "announced with its transcript");
  answerNow.resolve();

  await until("the events follow", async () => (await eventsOf(recordingId)).length === 2);
  assert.deepEqual(await eventsOf(recordingId), ["recording_added", "recording_updated"]);
  const transcript = await transcriptOf(recordingId);
  assert.deepEqual(
    transcript.map((entry: { text: string }) => entry.text),
    ["tone 450", "tone 900", "tone 450", "tone 900", "tone 450", "tone 900"],
  );
  transcript.forEach((entry: { start: number; end: number }, index: number) => {
    assert.ok(Math.abs(entry.start - index * 4000) < 150, `${index} starts at ${entry.start}`);
    assert.ok(Math.abs(entry.end - index * 4000 - 2500) < 150, `${index} ends at ${entry.end}`);
  });
  assert.equal(speech.requests.at(-1)?.authorization, "Bearer key-of-the-model");
});

test("a transcript that came with the upload is kept, and no model is called", async () => {
  const before = speech.requests.length;
  const recordingId = await record({ attributes: { transcript: sampleTranscript } });
  assert.equal((await transcriptOf(recordingId)).length, sampleTranscript.segments.length);
  const { rows } = await app.db.pool.query("select 1 from transcriptions where recording_id = $1", [
    recordingId,
  ]);
  assert.deepEqual([rows.length, speech.requests.length], [0, before]);
});
