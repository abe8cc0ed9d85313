import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { call } from "../../../test/support/app.ts";
import {
  jsonOnly,
  neverAnswer,
  refuse,
  reply,
  textOf,
  transcribe,
} from "../../../test/support/speech-server.ts";
import { until } from "../../../test/support/until.ts";
import { insertSegments } from "../../recordings/recordings/create.ts";
import { MediaFailedError } from "../media/render/index.ts";
import {
  findDueTranscriptions,
  readTranscriptionProgress,
  requestTranscription,
  retryTranscription,
} from "./index.ts";
import { openAiTranscriber } from "./server/openai.ts";
import { cutEvery, quickRetry, startTranscription, tenSeconds } from "./test/transcription.ts";

const { app, db, jobs, speech, workspace, makeRecording, run, segments, recording, events } =
  await startTranscription();

beforeEach(() => {
  speech.requests.length = 0;
  speech.otherwise(transcribe);
});

const wholeTranscript = tenSeconds.map(textOf);
const progress = async (id: string) =>
  (await readTranscriptionProgress(db.kysely, id)) ?? assert.fail("it is gone");
const texts = async (id: string) => (await segments(id)).map((segment) => segment.text);
/** The chunks that were requested, by their first tone: 200, 400 and 600 in the order of the recording. */
const asked = () => speech.requests.map((request) => request.tones[0]?.hz);
/** Whether the sweep gives the recording a job; it skips those with a job, so the waiting job is removed first. */
const due = async (id: string) => {
  await db.pool.query("delete from jobs where name = 'transcribe_recording'");
  return (await findDueTranscriptions(db.kysely)).includes(id);
};
/** Ends a wait. */
const passTime = (id: string) =>
  sql`update transcriptions set not_before = now() - interval '1 second' where recording_id = ${id}`.execute(
    db.kysely,
  );

test("transcribed: every sentence once and at its time, language, version and one event", async () => {
  const id = await makeRecording();
  assert.deepEqual(await progress(id), {
    ...(await progress(id)),
    status: "pending",
    progress: 0,
    chunks_done: 0,
    chunks_total: null,
  });
  await run(id);
  const made = await segments(id);
  assert.deepEqual(
    made.map(({ text, speaker, participant_id }) => [text, speaker, participant_id]),
    wholeTranscript.map((text) => [text, "Unknown Speaker", null]),
  );
  made.forEach((segment, index) => {
    const startMs = tenSeconds[index]?.startMs ?? 0;
    assert.ok(Math.abs(segment.start_ms - startMs) <= 5, `${segment.text} at ${segment.start_ms}`);
  });
  assert.deepEqual(await recording(id), { transcript_version: 1, transcript_language: "en" });
  assert.deepEqual(await events(id), ["recording_updated"]);
  assert.deepEqual(asked(), [200, 400, 600]);
  const { status, progress: percent, last_error } = await progress(id);
  assert.deepEqual([status, percent, last_error], ["done", 100, null]);
  const shown = await call(app, "GET", `/recordings/${id}/transcript.txt`, undefined, {
    token: workspace.token,
  });
  assert.match(shown.text, /^Unknown Speaker: tone 200\n/);
});

test("transcribed: a second run sends no request and changes nothing; no files are left", async () => {
  const id = await makeRecording();
  await run(id);
  await run(id);
  assert.equal(speech.requests.length, 3);
  assert.deepEqual(await events(id), ["recording_updated"]);
  assert.deepEqual(await readdir(join(app.config.dataDir, "scratch")), []);
  const { rows } = await sql`select 1 from transcription_chunks where recording_id = ${id}`.execute(
    db.kysely,
  );
  assert.equal(rows.length, 0);
});

test("request: exists exactly when its transaction commits, and once", async () => {
  const id = await makeRecording();
  await db.kysely.transaction().execute((tx) => requestTranscription(tx, jobs, id));
  const { rows } = await db.pool.query("select key from jobs where key = $1", [id]);
  assert.deepEqual(rows, [{ key: id }]);
  assert.deepEqual(await findDueTranscriptions(db.kysely), [], "the sweep skips transcriptions with a job");
  assert.ok(await due(id));
  await db.kysely.deleteFrom("transcriptions").where("recording_id", "=", id).execute();
  await assert.rejects(
    db.kysely.transaction().execute(async (tx) => {
      await requestTranscription(tx, jobs, id);
      throw new Error("rolled back");
    }),
  );
  assert.equal(await readTranscriptionProgress(db.kysely, id), null);
  await run(id);
  assert.equal(speech.requests.length, 0);
});

test("transient failures: the same chunk is requested again, and no trace of them is left", async () => {
  const id = await makeRecording();
  speech.script(
    transcribe,
    refuse(500),
    (_request, response) => reply(response, 200, "<html>"),
    transcribe,
    refuse(429),
  );
  await run(id);
  assert.deepEqual(asked(), [200, 400, 400, 400, 600, 600]);
  assert.deepEqual(await texts(id), wholeTranscript);
  const { attempts, last_error } = await progress(id);
  assert.deepEqual([attempts, last_error], [0, null]);
});

test("a long wait: the job ends, the sweep finds it when due, finished chunks are not requested again", async () => {
  const id = await makeRecording();
  speech.script(transcribe, refuse(503, { error: "loading" }, { "retry-after": "600" }));
  await run(id);
  const waiting = await progress(id);
  assert.deepEqual(
    [waiting.status, waiting.attempts, waiting.chunks_done, waiting.chunks_total],
    ["running", 1, 1, 3],
  );
  assert.ok(waiting.progress > 5 && waiting.progress < 50, `${waiting.progress} %`);
  assert.match(waiting.last_error ?? "", /status 503: loading/);
  const waitMs = (waiting.next_attempt_at?.getTime() ?? 0) - Date.now();
  assert.ok(waitMs > 590_000 && waitMs <= 600_000, `${waitMs} ms`);
  assert.equal(await due(id), false);
  await run(id);
  assert.deepEqual(asked(), [200, 400]);
  await passTime(id);
  assert.ok(await due(id));
  await run(id);
  assert.deepEqual(asked(), [200, 400, 400, 600]);
  assert.deepEqual(await texts(id), wholeTranscript);
});

test("cut differently after a restart: only results for exactly the same audio are kept", async () => {
  const id = await makeRecording();
  speech.script(transcribe, transcribe, refuse(503, {}, { "retry-after": "600" }));
  await run(id);
  await passTime(id);
  // The first chunk ends at 5 s in both plans, the others do not.
  const otherwise = cutEvery(4000);
  await run(id, {
    extractSpeech: async (input, options) => {
      const { chunks, durationMs } = await otherwise(input, options);
      return {
        durationMs,
        chunks: chunks.map((chunk, index) => (index === 1 ? { ...chunk, endMs: 8999 } : chunk)),
      };
    },
  });
  assert.deepEqual(asked(), [200, 400, 600, 400, 600]);
  assert.deepEqual(await texts(id), wholeTranscript);
});

test("a permanent failure: failed with a clear reason, the recording stays as it is; retried on request", async () => {
  const id = await makeRecording();
  speech.script(transcribe, refuse(401));
  await run(id);
  await run(id);
  assert.deepEqual(asked(), [200, 400]);
  const { status, last_error } = await progress(id);
  assert.equal(status, "failed");
  assert.match(last_error ?? "", /does not accept the key \(401\)\. Check PARLEY_TRANSCRIPTION_API_KEY/);
  assert.deepEqual(await recording(id), { transcript_version: 0, transcript_language: null });
  assert.deepEqual(await events(id), []);
  assert.equal(await due(id), false);
  assert.ok(await db.kysely.transaction().execute((tx) => retryTranscription(tx, jobs, id)));
  await run(id);
  assert.deepEqual(asked(), [200, 400, 400, 600]);
  assert.deepEqual(await texts(id), wholeTranscript);
  assert.equal(await db.kysely.transaction().execute((tx) => retryTranscription(tx, jobs, id)), false);
});

test("a server that fails for a day: the transcription fails", async () => {
  const id = await makeRecording();
  speech.otherwise(refuse(500));
  await run(id, { retry: { ...quickRetry, maxWaitInJobMs: 0 } });
  assert.equal((await progress(id)).status, "running");
  await sql`update transcriptions set failing_since = now() - interval '23 hours 59 minutes' where recording_id = ${id}`.execute(
    db.kysely,
  );
  await passTime(id);
  await run(id, { retry: { ...quickRetry, maxWaitInJobMs: 0 } });
  assert.equal((await progress(id)).status, "running");
  await sql`update transcriptions set failing_since = now() - interval '24 hours' where recording_id = ${id}`.execute(
    db.kysely,
  );
  await passTime(id);
  await run(id, { retry: { ...quickRetry, maxWaitInJobMs: 0 } });
  assert.equal((await progress(id)).status, "failed");
});

test("kill -9 in the middle: another process continues without requesting finished chunks", async () => {
  const id = await makeRecording();
  speech.script(transcribe, neverAnswer);
  const { host, port, user, password, database } = db.pool.options;
  const child = spawn(process.execPath, [fileURLToPath(new URL("./test/worker.ts", import.meta.url))], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PARLEY_DATA_DIR: app.config.dataDir,
      PARLEY_TRANSCRIPTION_URL: speech.url,
      PARLEY_TEST_RECORDING: id,
      PARLEY_TEST_DATABASE: JSON.stringify({ host, port, user, password, database }),
    },
  });
  const ended = once(child, "exit");
  try {
    await until("the second chunk is asked for", () => speech.requests.length === 2);
  } finally {
    child.kill("SIGKILL");
  }
  assert.deepEqual(await ended, [null, "SIGKILL"]);
  assert.ok(await due(id));
  await run(id);
  assert.deepEqual(asked(), [200, 400, 400, 600]);
  assert.deepEqual(await texts(id), wholeTranscript);
  assert.deepEqual(await events(id), ["recording_updated"]);
});

test("two workers at once, as when one was taken for dead: one transcript, one event", async () => {
  const id = await makeRecording();
  const asleep = Promise.withResolvers<void>();
  speech.script(async (request, response) => {
    await asleep.promise;
    await transcribe(request, response);
  });
  const first = run(id);
  await until("the first worker asks", () => speech.requests.length === 1);
  await run(id);
  asleep.resolve();
  await first;
  assert.deepEqual(await texts(id), wholeTranscript);
  assert.deepEqual(await recording(id), { transcript_version: 1, transcript_language: "en" });
  assert.deepEqual(await events(id), ["recording_updated"]);
});

test("the recording is deleted meanwhile: the job ends silently, nothing is left", async () => {
  const id = await makeRecording();
  speech.script(async (request, response) => {
    await db.kysely.deleteFrom("recordings").where("id", "=", id).execute();
    await transcribe(request, response);
  });
  await run(id);
  assert.equal(speech.requests.length, 1);
  assert.equal(await readTranscriptionProgress(db.kysely, id), null);
  assert.deepEqual(await events(id), []);
});

test("a transcript that a client supplied stays, and no model is called", async () => {
  const id = await makeRecording();
  await db.kysely
    .transaction()
    .execute((tx) =>
      insertSegments(tx, id, [
        { participant_id: null, speaker: "Ida", start_ms: 0, end_ms: 1, text: "By hand." },
      ]),
    );
  await run(id);
  assert.equal(speech.requests.length, 0);
  assert.deepEqual(await texts(id), ["By hand."]);
  assert.deepEqual([(await progress(id)).status, await events(id)], ["done", []]);
});

test("silence: done with an empty transcript, which is reported all the same", async () => {
  const id = await makeRecording({ tones: [] });
  await run(id);
  assert.deepEqual(await texts(id), []);
  assert.equal((await recording(id)).transcript_version, 1);
  assert.deepEqual([(await progress(id)).status, await events(id)], ["done", ["recording_updated"]]);
});

test("no audio track: done without a request", async () => {
  const id = await makeRecording();
  await run(id, { extractSpeech: async () => ({ durationMs: 10_000, chunks: [] }) });
  assert.equal(speech.requests.length, 0);
  assert.deepEqual([(await progress(id)).status, await events(id)], ["done", ["recording_updated"]]);
});

test("a last chunk too short for any word is not sent", async () => {
  const id = await makeRecording();
  await run(id, { extractSpeech: cutEvery(9900, 0) });
  assert.equal(speech.requests.length, 1);
  assert.deepEqual(await texts(id), wholeTranscript);
});

test("speakers: a single participant is assumed to have spoken, with several nobody is", async () => {
  const alone = await makeRecording({ participants: ["Ida"] });
  await run(alone);
  const [first] = await segments(alone);
  assert.equal(first?.speaker, "Ida");
  assert.ok(first.participant_id !== null);
  const several = await makeRecording({ participants: ["Ida", "Ole"] });
  await run(several);
  const [second] = await segments(several);
  assert.deepEqual([second?.speaker, second?.participant_id], ["Unknown Speaker", null]);
});

test("speakers: two voices are two unknown speakers, even with one participant", async () => {
  const id = await makeRecording({
    participants: ["Ida"],
    tones: [
      { startMs: 500, endMs: 1500, hz: 800 },
      { startMs: 2000, endMs: 3000, hz: 300 },
    ],
  });
  speech.otherwise((request, response) =>
    transcribe({ ...request, fields: { response_format: "diarized_json" } }, response),
  );
  await run(id);
  assert.deepEqual(
    (await segments(id)).map(({ speaker, text, participant_id }) => [speaker, text, participant_id]),
    [
      ["Unknown Speaker 1", "tone 800", null],
      ["Unknown Speaker 2", "tone 300", null],
    ],
  );
});

test("the words of a speech server keep their times, also where two chunks repeat them", async () => {
  const id = await makeRecording();
  await run(id);
  const { rows } = await app.db.pool.query(
    `select start_ms, end_ms, text, word_times from transcript_segments where recording_id = $1 order by position`,
    [id],
  );
  assert.deepEqual(
    rows.map(({ text }) => text),
    wholeTranscript,
  );
  for (const { start_ms, end_ms, word_times: times } of rows) {
    assert.equal(times.length, 4);
    assert.deepEqual([times[0], times[3]], [0, end_ms - start_ms]);
    assert.equal(times[1], times[2]);
  }
});

test("a server without timestamps: a segment per chunk, words repeated by two chunks are kept once", async () => {
  const id = await makeRecording();
  speech.otherwise(jsonOnly);
  // One of its own, because it remembers what was refused.
  const { transcription: settings } = app.config;
  assert.ok(settings?.engine === "server");
  await run(id, { transcriber: openAiTranscriber(settings) });
  assert.equal((await texts(id)).join(" "), wholeTranscript.join(" "));
  // The third chunk holds nothing that the second does not.
  assert.equal((await segments(id)).length, 2);
  assert.equal((await recording(id)).transcript_language, null);
});

test("the file is missing or broken: failed, naming which", async () => {
  const missing = await makeRecording({ hasFile: false });
  await run(missing);
  assert.deepEqual(
    [(await progress(missing)).status, (await progress(missing)).last_error],
    ["failed", "The recording's file is missing from the file store."],
  );
  const broken = await makeRecording();
  await run(broken, {
    extractSpeech: () => Promise.reject(new MediaFailedError("The sound can't be decoded.")),
  });
  assert.equal(
    (await progress(broken)).last_error,
    "The recording's audio can't be read. The sound can't be decoded.",
  );
});

test("the machine is the cause: retried at growing intervals, found by the sweep, and failed after a day", async () => {
  const id = await makeRecording();
  const fails = {
    extractSpeech: () => Promise.reject(new Error("no space left")),
    retry: { ...quickRetry, firstDelayMs: 60_000, maxDelayMs: 600_000 },
  };
  for (const waitSec of [60, 120, 240]) {
    await run(id, fails);
    const { status, last_error, next_attempt_at } = await progress(id);
    assert.equal(status, "running");
    assert.match(last_error ?? "", /could not read the recording's audio\. The file may not be the cause/);
    const waits = (next_attempt_at?.getTime() ?? 0) - Date.now();
    assert.ok(Math.abs(waits - waitSec * 1000) < 10_000, `${waits} ms`);
    assert.equal(await due(id), false);
    await passTime(id);
    assert.ok(await due(id));
  }
  const lost = await makeRecording();
  await run(lost, fails);
  await sql`update transcriptions set failing_since = now() - interval '24 hours' where recording_id = ${lost}`.execute(
    db.kysely,
  );
  await passTime(lost);
  await run(lost, fails);
  assert.equal((await progress(lost)).status, "failed");
  await run(id);
  assert.deepEqual(await texts(id), wholeTranscript);
});

test("aborted by its signal: no failure is recorded, and a later run continues", async () => {
  const id = await makeRecording();
  speech.script(transcribe, neverAnswer);
  const abort = new AbortController();
  const work = run(id, {}, abort.signal);
  await until("the second chunk is asked for", () => speech.requests.length === 2);
  abort.abort(new Error("stopping"));
  await assert.rejects(work, { message: "stopping" });
  const { attempts, chunks_done } = await progress(id);
  assert.deepEqual([attempts, chunks_done], [0, 1]);
  await run(id);
  assert.deepEqual(asked(), [200, 400, 400, 600]);
});
