import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { call, everyVersion } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { minutes, neverAnswer, refuse } from "../../../test/support/model-server.ts";
import { startSpeechServer } from "../../../test/support/speech-server.ts";
import { until } from "../../../test/support/until.ts";
import { reserve, settle } from "./budget.ts";
import { findDueRuns } from "./queries.ts";
import { harbour, startIntelligence } from "./test/intelligence.ts";

const speech = await startSpeechServer();
const t = await startIntelligence({
  env: { PARLEY_TRANSCRIPTION_URL: speech.url, PARLEY_SWEEP_INTERVAL: "200ms" },
  recurring: ["enqueue_due_analyses", "enqueue_due_transcriptions"],
});
const { model } = t;
const file = readFileSync(new URL("../../../test/fixtures/media/speech-tones.mp3", import.meta.url));

/** A recording of a sound file, through the API. */
async function record(attributes: Record<string, unknown> = {}): Promise<string> {
  const { token } = t.workspace.member;
  const { body } = await call(
    t.app,
    "POST",
    "/uploads/create",
    { media_type: "audio", attributes },
    { token },
  );
  const { url, headers } = body.media.upload;
  const answer = await fetch(url.replace("http://parley.test", t.app.url), {
    method: "PUT",
    body: file,
    headers,
  });
  assert.equal(answer.status, 200);
  return until("the upload is a recording", async () => {
    const upload = (await call(t.app, "POST", `/uploads/${body.id}`, {}, { token })).body;
    assert.notEqual(upload.status, "failure", upload.failure?.reason);
    return upload.recording_id ?? undefined;
  });
}

test("what a speech model heard is understood as soon as it is written", async () => {
  model.reset();
  const id = await record();
  await until("it is understood", async () => (await t.runOf(id)).status === "done");
  assert.deepEqual(await t.events(id), ["recording_added", "recording_updated", "recording_updated"]);
  assert.match((await t.read(id, ["ai_summary"])).ai_summary.text, /^- Spoken of: \d+ lines\.$/);
  assert.equal((await t.read(id, {})).title, "Harbour contract", "it had a default title");
});

test("a transcript that came with a sound file is understood as well", async () => {
  model.reset();
  const id = await record({ title: "Sounds", transcript: harbour });
  await until("it is understood", async () => (await t.runOf(id)).status === "done");
  assert.equal((await t.read(id, ["ai_action_items"])).ai_action_items.length, 2);
});

test("lists carry the fields of each recording, in both versions", async () => {
  const id = await t.make();
  await t.done(id);
  for (const version of everyVersion) {
    const { body } = await call(
      t.app,
      "POST",
      "/recordings",
      { include: { ai_summary: true, ai_action_items: true, ai_template_sections: { format: "text" } } },
      { token: t.workspace.token, version },
    );
    const listed = body.recordings.find((one: { id: string }) => one.id === id);
    assert.deepEqual(listed.ai_summary, { text: "- Spoken of: 4 lines." });
    assert.equal(listed.ai_action_items.length, 2);
    assert.deepEqual(listed.ai_template_sections, []);
  }
});

test("kill -9 during a run: another process continues without repeating requests", async () => {
  const still = await startIntelligence({ worker: false });
  await still.manage("POST", "/templates", { title: "Next", kind: "text", prompt: "What is next" });
  const { promoteUploadJob } = await import("../uploads/promotion/promote.ts");
  const { token } = still.workspace.member;
  const created = await call(
    still.app,
    "POST",
    "/uploads/create",
    { media_type: "transcript", attributes: { title: "Harbour", transcript: harbour } },
    { token },
  );
  await promoteUploadJob({ db: still.db, jobs: still.app.jobs, config: still.app.config }, created.body.id);
  const id = (await call(still.app, "POST", `/uploads/${created.body.id}`, {}, { token })).body.recording_id;
  still.model.script(minutes, neverAnswer);
  const { host, port, user, password, database } = still.db.pool.options;
  const child = spawn(process.execPath, [fileURLToPath(new URL("./test/worker.ts", import.meta.url))], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PARLEY_LLM_URL: still.model.url,
      PARLEY_LLM_MODEL: "small",
      PARLEY_TEST_RECORDING: id,
      PARLEY_TEST_DATABASE: JSON.stringify({ host, port, user, password, database }),
    },
  });
  const ended = once(child, "exit");
  try {
    await until("the section is asked for", () => still.model.requests.length === 2);
  } finally {
    child.kill("SIGKILL");
  }
  assert.deepEqual(await ended, [null, "SIGKILL"]);
  assert.deepEqual(await findDueRuns(still.db.kysely), [], "the sweep leaves what has a job alone");
  await still.app.db.pool.query("delete from jobs where name = 'analyze_recording'");
  assert.deepEqual(await findDueRuns(still.db.kysely), [id], "the sweep finds it");
  await still.run(id);
  assert.deepEqual(
    still.model.requests.map((request) => request.wanted[0]),
    ["summary", "items", "items"],
  );
  assert.deepEqual(await still.events(id), ["recording_added", "recording_updated"]);
});

test("a run whose job is gone, or that has waited long enough, is found by the sweep", async () => {
  model.reset();
  model.script(refuse(503, {}, { "retry-after": "3000" }));
  const id = await t.make();
  await until("it waits", async () => (await t.runOf(id)).status === "waiting");
  await t.db.pool.query(
    "update intelligence_runs set not_before = now() - interval '1 second' where recording_id = $1",
    [id],
  );
  await t.done(id);
});

test("limits hold however many workers ask at once; what was put aside is given back", async () => {
  const { id: workspaceId } = await makeWorkspace(t.db);
  const taken = (
    await Promise.all(Array.from({ length: 30 }, () => reserve(t.db.kysely, workspaceId, 100, 1000)))
  ).filter((one) => one !== null);
  assert.equal(taken.length, 10);
  const recordingId = await t.make();
  for (const one of taken) await settle(t.db.kysely, one, { input: 10, output: 5 }, recordingId);
  const { rows } = await t.db.pool.query(
    "select input_tokens::int, output_tokens::int, requests from intelligence_usage where workspace_id = $1",
    [workspaceId],
  );
  assert.deepEqual(rows, [{ input_tokens: 100, output_tokens: 50, requests: 10 }]);
});

test("the log tells of failures without the key and without a word of the meeting", async () => {
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const silent = await startIntelligence({ worker: false });
  const { promoteUploadJob } = await import("../uploads/promotion/promote.ts");
  for (const behaviour of [
    refuse(401, { error: { message: "wrong key sk-secret-key" } }),
    refuse(500, "sk-secret-key"),
    refuse(200, { choices: [{ message: { content: "harbour contract" }, finish_reason: "stop" }] }),
  ]) {
    const { body } = await call(
      silent.app,
      "POST",
      "/uploads/create",
      { media_type: "transcript", attributes: { title: "T", transcript: harbour } },
      { token: silent.workspace.member.token },
    );
    await promoteUploadJob({ db: silent.db, jobs: silent.app.jobs, config: silent.app.config }, body.id);
    const upload = await call(
      silent.app,
      "POST",
      `/uploads/${body.id}`,
      {},
      { token: silent.workspace.member.token },
    );
    silent.model.script(behaviour, behaviour);
    await silent.run(upload.body.recording_id, { log });
  }
  assert.ok(lines.length >= 3);
  assert.doesNotMatch(lines.join(""), /sk-secret-key|harbour|Friday|Good morning/i);
});
