import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { call, startTestApp } from "../../../test/support/app.ts";
import { insertRecording, makeUpload, makeWorkspace } from "../../../test/support/factories.ts";
import { startModelServer } from "../../../test/support/model-server.ts";
import { refuse, startSpeechServer } from "../../../test/support/speech-server.ts";
import { startMailServer } from "../../people/accounts/test/mail.ts";
import { readConfig } from "../../platform/config/config.ts";
import { takeMachine } from "../../processing/models/engine/machine-lock.ts";
import { insertTranscription, markFailed } from "../../processing/transcription/queries.ts";
import { failPromotion } from "../../processing/uploads/promotion/promote.ts";
import { markTranscriptionDone } from "../../recordings/transcripts/end-transcription.ts";
import { readChecklist } from "./checklist.ts";
import { languageModelOff, testSpeech } from "./health/test-component.ts";
import { findProcesses, startHeartbeat } from "./processes.ts";
import { insertFailedJob } from "./test/failed-job.ts";

const mail = await startMailServer();
after(() => mail.close());
const [speech, model] = [await startSpeechServer(), await startModelServer()];
const app = await startTestApp({
  worker: false,
  env: {
    PARLEY_SMTP_URL: mail.url,
    PARLEY_SMTP_FROM: "parley@w.example",
    PARLEY_TRANSCRIPTION_URL: speech.url,
    PARLEY_TRANSCRIPTION_API_KEY: "sk-speech",
    PARLEY_LLM_URL: model.url,
    PARLEY_LLM_API_KEY: "sk-model",
  },
});
const { db } = app;
const log = pino({ level: "silent" });
const operator = await makeWorkspace(db, "Operator");
const other = await makeWorkspace(db, "Customer");

const request = (method: string, path: string, token = operator.admin.token) =>
  call(app, method, `/_/api/v1${path}`, undefined, { version: null, token });
const getSystem = async () => (await request("GET", "/system")).body;
const component = async (name: string) =>
  (await getSystem()).components.find((one: { component: string }) => one.component === name);
const tryOut = async (name: string) => (await request("POST", `/system/components/${name}/test`)).body;
const auditOf = async (workspaceId: string) =>
  (
    await db.pool.query(
      "select action, subject_type, subject_id, user_id from audit_log where workspace_id = $1 and action like 'job%' order by id",
      [workspaceId],
    )
  ).rows;

test("failed uploads are listed with stage, reason, detail, size and format", async () => {
  const { id } = await makeUpload(app, other.member.token, { media_type: "audio" });
  await db.pool.query("update uploads set status = 'promoting', facts = $2 where id = $1", [
    id,
    JSON.stringify({ container: "mp3", mediaType: "audio", sizeBytes: 1234, durationMs: 12_000 }),
  ]);
  await failPromotion(
    app,
    id,
    { sentence: "The sound can't be decoded.", causes: [] },
    {
      detail: "Invalid data\0 found (-1094995529)",
    },
  );
  const [failed] = (await getSystem()).failed_uploads;
  assert.ok(Date.now() - Date.parse(failed.failed_datetime) < 60_000);
  delete failed.failed_datetime;
  assert.deepEqual(failed, {
    id,
    workspace: { id: other.id, name: "Customer" },
    stage: "promoting",
    reason: "The sound can't be decoded.",
    detail: "Invalid data found (-1094995529)",
    bytes: 1234,
    container: "mp3",
  });
});

test("the checklist names what is left to set up, until an admin dismisses it for all", async () => {
  const steps = async (): Promise<{ step: string; done: boolean; explanation: string }[] | null> =>
    (await getSystem()).checklist;
  const left = async () => (await steps())?.filter(({ done }) => !done).map(({ step }) => step);
  assert.deepEqual(await left(), ["backups", "sign_in", "second_admin"]);
  await db.pool.query("update users set role = 'admin' where id = $1", [operator.member.id]);
  assert.deepEqual(await left(), ["backups", "sign_in"]);
  await db.pool.query("update users set role = 'member' where id = $1", [operator.member.id]);
  assert.equal((await request("POST", "/system/checklist/dismiss", other.admin.token)).status, 403);
  assert.equal((await steps())?.length, 6);
  assert.equal((await request("POST", "/system/checklist/dismiss")).status, 200);
  assert.equal((await request("POST", "/system/checklist/dismiss")).status, 200);
  assert.equal(await steps(), null);
  await db.pool.query("update installation set checklist_dismissed_at = null");
});

test("the checklist keeps backups until one was verified", async () => {
  const backups = async (state: object) => {
    const known = { lastSucceeded: null, lastVerified: null, ...state };
    const components = [{ component: "backups", state: "ok", explanation: "B.", remedy: null }] as const;
    return (await readChecklist(db, app.config, { components, backups: known }))?.[1];
  };
  assert.match(JSON.stringify(await backups({})), /"done":false.*The first starts/);
  assert.match(JSON.stringify(await backups({ lastSucceeded: new Date() })), /"done":false.*verified yet/);
  assert.match(JSON.stringify(await backups({ lastVerified: new Date() })), /"done":true.*"B\."/);
});

test("only admins of the first workspace, or of the one that the operator names, see the system", async () => {
  const me = async (token: string) => (await request("GET", "/session/me", token)).body.manages_system;
  assert.equal((await request("GET", "/system")).status, 200);
  assert.equal((await request("GET", "/system", other.admin.token)).status, 403);
  assert.equal((await request("GET", "/system", operator.member.token)).status, 403);
  assert.deepEqual(
    [await me(operator.admin.token), await me(other.admin.token), await me(operator.member.token)],
    [true, false, false],
  );
  const name = (id: string) => db.pool.query("update installation set operator_workspace_id = $1", [id]);
  await name(other.id);
  assert.equal((await request("GET", "/system")).status, 403);
  assert.equal((await request("GET", "/system", other.admin.token)).status, 200);
  await name(operator.id);
});

test("a process is listed while it sends heartbeats, and removed when it stops", async () => {
  assert.equal((await component("worker")).state, "failing");
  const api = await startHeartbeat(db, { role: "api", isAlone: false, log });
  assert.equal((await component("worker")).state, "failing", "an API process does no background work");
  const worker = await startHeartbeat(db, { role: "worker", isAlone: false, log });
  assert.equal((await component("worker")).state, "ok");
  const [first, second] = (await getSystem()).processes;
  assert.deepEqual([first.role, first.pid, first.responding], ["api", process.pid, true]);
  assert.match(first.version, /^\d+\.\d+\.\d+/);

  await db.pool.query("update processes set heartbeat_at = now() - interval '2 minutes' where id = $1", [
    second.id,
  ]);
  assert.equal((await component("worker")).state, "failing");
  assert.equal((await getSystem()).processes.at(-1).responding, false);
  await Promise.all([api.stop(), worker.stop()]);
  assert.deepEqual(await findProcesses(db), []);
});

test("processes that ended without a word are bounded, and gone when a process is alone", async () => {
  await db.pool.query(
    `insert into processes select gen_random_uuid(), 'all', 'h', 1, '1.0.0', now(), now() - interval '2 hours'
     from generate_series(1, 300)`,
  );
  await (await startHeartbeat(db, { role: "all", isAlone: false, log })).stop();
  assert.equal((await findProcesses(db)).length, 50);
  await (await startHeartbeat(db, { role: "all", isAlone: true, log })).stop();
  assert.deepEqual(await findProcesses(db), []);
});

test("an incomplete backup is shown with the number of missing files and the names of the first", async () => {
  await db.pool.query(
    `insert into backup_runs (kind, destination, state, finished_at, missing_files, first_missing)
     values ('backup', '/backups', 'succeeded', now(), 7, $1)`,
    [Array.from({ length: 7 }, (_, index) => `recordings/${index}`)],
  );
  assert.equal((await getSystem()).backups.missing_files, 7);
  assert.match(
    (await component("backups")).explanation,
    /lacks 7 files .*: recordings\/0, .*recordings\/4, and 2 more\./,
  );
  await db.pool.query("delete from backup_runs");
});

test("the system lists failed jobs with their error, and failing hooks without the path of their URL", async () => {
  const id = await insertFailedJob(app);
  const hookId = randomUUID();
  await db.pool.query(
    `insert into hooks (id, workspace_id, created_by, scope, version, hook_url, hook_type, include, secret, failing_since)
     values ($1, $2, $3, 'personal', '2026-10-01', 'https://hooks.example/secret-path', 'recording_added', '{}', 'x', now())`,
    [hookId, other.id, other.admin.id],
  );
  await db.pool.query(
    `insert into deliveries (hook_id, event_type, subject_id, attempts, first_at, first_ms, first_status, first_error)
     values ($1, 'recording_added', gen_random_uuid(), 1, now(), 5, 302,
       'the response was a redirect (302), which is not followed, to https://hooks.example/secret-path?token=x')`,
    [hookId],
  );
  const system = await getSystem();
  const [job] = system.failed_jobs;
  assert.deepEqual(
    { ...job, next_attempt_datetime: null },
    {
      id,
      kind: "send_mail",
      label: "Send email",
      subject_type: "mail",
      subject_id: id.split(".")[1],
      workspace: null,
      attempts: 3,
      error: "no route to host",
      next_attempt_datetime: null,
      can_discard: true,
      discard_effect: "The email is not sent.",
    },
  );
  const { body: german } = await call(app, "GET", "/_/api/v1/system", undefined, {
    version: null,
    token: operator.admin.token,
    headers: { "accept-language": "de" },
  });
  const texts = german.failed_jobs.map((one: typeof job) => [one.label, one.discard_effect]);
  assert.deepEqual(texts, [["E-Mail senden", "Die E-Mail wird nicht gesendet."]]);
  const counts = system.jobs.find(({ kind }: { kind: string }) => kind === "send_mail");
  assert.deepEqual([counts.waiting, counts.running, counts.failed], [0, 0, 1]);
  assert.notEqual(counts.oldest_datetime, null);
  assert.match((await component("mail")).explanation, /1 email could not be sent yet.*no route to host/);
  assert.equal(system.healthy, false);
  const [hook] = system.failing_hooks;
  assert.deepEqual(
    [hook.id, hook.host, hook.workspace.name, hook.disabled],
    [hookId, "hooks.example", "Customer", false],
  );
  assert.equal(hook.last_error, "the response was 302 Found");
  assert.doesNotMatch(JSON.stringify(system), /secret-path/);
  assert.equal((await request("POST", `/system/jobs/${id}/discard`)).status, 200);
  assert.equal((await component("mail")).state, "ok");
});

test("a retried job is due now, and both repairs are in the audit log", async () => {
  const before = (await auditOf(operator.id)).length;
  const id = await insertFailedJob(app);
  assert.equal((await request("POST", `/system/jobs/${id}/retry`)).status, 200);
  const { rows } = await db.pool.query(
    "select due_at <= now() as is_due from jobs where name || '.' || key = $1",
    [id],
  );
  assert.deepEqual(rows, [{ is_due: true }]);
  assert.equal((await request("POST", `/system/jobs/${id}/discard`)).status, 200);
  for (const action of ["retry", "discard"])
    assert.equal((await request("POST", `/system/jobs/${id}/${action}`)).status, 404);
  assert.deepEqual(
    (await auditOf(operator.id)).slice(before),
    ["job_retried", "job_discarded"].map((action) => ({
      action,
      subject_type: "mail",
      subject_id: id.split(".")[1],
      user_id: operator.admin.id,
    })),
  );
});

test("a job that was stopped because its process died is listed as stopped, and can be retried and discarded", async () => {
  const id = await insertFailedJob(app);
  const stop = () =>
    db.pool.query(
      `update jobs set is_stopped = true, error = 'the process ended twice'
       where name || '.' || key = $1`,
      [id],
    );
  await stop();
  const listed = async () => (await getSystem()).failed_jobs.find((one: { id: string }) => one.id === id);
  const { error, next_attempt_datetime, can_discard } = await listed();
  assert.deepEqual([error, next_attempt_datetime, can_discard], ["the process ended twice", null, true]);
  assert.equal((await request("POST", `/system/jobs/${id}/retry`)).status, 200);
  const { rows } = await db.pool.query(
    "select is_stopped, due_at <= now() as is_due from jobs where name || '.' || key = $1",
    [id],
  );
  assert.deepEqual(rows, [{ is_stopped: false, is_due: true }]);
  await stop();
  assert.equal((await request("POST", `/system/jobs/${id}/discard`)).status, 200);
  assert.equal(await listed(), undefined);
});

test("discarding the job of an upload fails the upload with a reason, and nothing adds the job again", async () => {
  const { id } = await makeUpload(app, other.member.token, { media_type: "audio" });
  await db.pool.query("update uploads set status = 'processing' where id = $1", [id]);
  const job = await insertFailedJob(app, "validate_upload", id, { uploadId: id });
  assert.equal((await request("POST", `/system/jobs/${job}/discard`)).status, 200);
  const { rows } = await db.pool.query("select status, failure_reason from uploads where id = $1", [id]);
  assert.equal(rows[0].status, "failure");
  assert.match(rows[0].failure_reason, /an admin stopped further attempts/);
  const { rows: jobs } = await db.pool.query("select 1 from jobs where key = $1", [id]);
  assert.deepEqual(jobs, []);
});

test("a transcription that waits after a failure can be retried and discarded, a stopped one retried", async () => {
  const id = await insertRecording(db, { recorderId: other.member.id, title: "R" });
  await db.kysely.transaction().execute((tx) => insertTranscription(tx, id, null));
  const fail = () =>
    db.pool.query(
      `update transcriptions set status = 'running', attempts = 2, not_before = now() + interval '1 hour',
         last_error = 'The speech server is down.' where recording_id = $1`,
      [id],
    );
  const stateOf = async () => {
    const { rows } = await db.pool.query(
      "select status, attempts from transcriptions where recording_id = $1",
      [id],
    );
    return rows[0];
  };
  const job = `transcribe_recording.${id}`;
  const listed = async () => (await getSystem()).failed_jobs.find((one: { id: string }) => one.id === job);
  await fail();
  assert.deepEqual([(await listed()).workspace.name, (await listed()).attempts], ["Customer", 2]);
  assert.match(
    (await component("speech")).explanation,
    /1 recording could not be processed yet.*server is down/,
  );

  assert.equal((await request("POST", `/system/jobs/${job}/retry`)).status, 200);
  assert.deepEqual(await stateOf(), { status: "pending", attempts: 0 });
  const entry = { action: "job_retried", subject_type: "recording", subject_id: id };
  assert.deepEqual((await auditOf(operator.id)).at(-1), { ...entry, user_id: operator.admin.id });
  assert.deepEqual((await auditOf(other.id)).at(-1), { ...entry, user_id: null });
  assert.equal(await listed(), undefined, "it waits for its next attempt");

  await app.db.pool.query("delete from jobs where name = 'transcribe_recording'");
  await fail();
  assert.equal((await request("POST", `/system/jobs/${job}/discard`)).status, 200);
  assert.equal((await stateOf()).status, "failed");
  assert.deepEqual([(await listed()).next_attempt_datetime, (await listed()).can_discard], [null, false]);
  assert.equal((await component("speech")).state, "ok");
  assert.equal((await request("POST", `/system/jobs/${job}/discard`)).status, 409);
  assert.equal((await request("POST", `/system/jobs/${job}/retry`)).status, 200);
  await app.db.pool.query("delete from jobs where name = 'transcribe_recording'");
});

test("a speech model that fails for good is failing until it works again, and a broken file or a user does not count", async () => {
  const make = async () => {
    const id = await insertRecording(db, { recorderId: other.member.id, title: "R" });
    await db.kysely.transaction().execute((tx) => insertTranscription(tx, id, null));
    return id;
  };
  const [first, second] = [await make(), await make()];
  const fail = (message: string, cause: "model" | "recording" | "user") =>
    db.kysely.transaction().execute((tx) => markFailed(tx, first, message, cause));
  for (const cause of ["recording", "user"] as const) {
    await fail("The recording's file is missing.", cause);
    assert.equal((await component("speech")).state, "ok", cause);
    await db.pool.query("update transcriptions set status = 'running' where recording_id = $1", [first]);
  }
  // More failed jobs than are listed must not hide it.
  await db.pool.query(
    `insert into jobs (name, key, error, attempts, due_at)
     select 'send_mail', gen_random_uuid(), 'no route', 3, now() + interval '1 hour' from generate_series(1, 120)`,
  );
  await fail("The speech model can't be loaded.", "model");
  const failing = await component("speech");
  assert.equal(failing.state, "failing");
  assert.match(failing.explanation, /1 recording could not be processed since.*can't be loaded/);
  assert.match((await component("mail")).explanation, /120 emails could not be sent yet/);
  await db.kysely.transaction().execute((tx) => markTranscriptionDone(tx, second, 1));
  assert.equal((await component("speech")).state, "ok");
  await db.pool.query("delete from jobs where name = 'send_mail'");
});

test("a summary that waits after a failure can be retried and discarded", async () => {
  const id = await insertRecording(db, { recorderId: other.member.id, title: "R" });
  await db.pool.query(
    `insert into intelligence_runs (recording_id, status, attempts, not_before, last_error)
     values ($1, 'waiting', 4, now() + interval '1 hour', 'The model is down.')`,
    [id],
  );
  const job = `analyze_recording.${id}`;
  assert.equal((await component("language_model")).state, "failing");
  assert.equal((await request("POST", `/system/jobs/${job}/discard`)).status, 200);
  assert.equal((await component("language_model")).state, "ok");
  assert.equal((await request("POST", `/system/jobs/${job}/retry`)).status, 200);
  const { rows } = await db.pool.query("select status from intelligence_runs where recording_id = $1", [id]);
  assert.deepEqual(rows, [{ status: "pending" }]);
  await app.db.pool.query("delete from jobs where name = 'analyze_recording'");
});

test("failed files are retried only while a running worker watches their folder", async () => {
  const folder = "/mnt/recordings";
  const add = (path: string) =>
    db.pool.query(
      `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, error)
       values ($1, sha256($2::bytea), $3, $2, '', 'failed', 'It is damaged.')`,
      [other.id, path, folder],
    );
  const retry = (body: object) =>
    call(app, "POST", "/_/api/v1/system/watched_files/retry", body, {
      version: null,
      token: operator.admin.token,
    });
  const listed = async () =>
    (await getSystem()).watched_folders.find((one: { folder: string }) => one.folder === folder);
  const isRefused = async (body: object) => {
    const { status, body: problem } = await retry(body);
    assert.deepEqual([status, problem.error], [409, "wrong_state"]);
    assert.match(problem.detail, /no running worker watches \/mnt\/recordings; add it to PARLEY_WATCH_DIRS/);
  };
  for (const path of ["first.mp4", "second.mp4", "third.mp4"]) await add(path);
  await db.pool.query("insert into watched_folders (folder) values ($1)", [folder]);
  const { watched, failed, failed_files: files } = await listed();
  assert.deepEqual([watched, failed], [false, 3]);
  await isRefused({ folder });
  await isRefused({ folder, id: files[0].id });
  assert.equal((await listed()).failed, 3, "a refused retry leaves the files as they are");

  const worker = await startHeartbeat(db, {
    ...{ role: "worker", isAlone: false, log },
    watchedFolders: () => [folder],
  });
  assert.equal((await listed()).watched, true);
  assert.deepEqual((await retry({ folder, id: files[0].id })).body, { retried: 1 });
  for (const id of [files[0].id, `${randomUUID()}-${"0".repeat(64)}`, "0"])
    assert.equal((await retry({ folder, id })).status, 404, id);
  await db.pool.query("update processes set heartbeat_at = now() - interval '2 minutes'");
  await isRefused({ folder });
  await db.pool.query("update processes set heartbeat_at = now()");
  assert.deepEqual((await retry({ folder })).body, { retried: 2 });
  await worker.stop();
  assert.equal((await listed()).watched, false);
  await isRefused({ folder });
});

test("a personal-data erasure can't be discarded", async () => {
  const job = await insertFailedJob(app, "erase_personal_data", randomUUID(), { erasureId: randomUUID() });
  assert.equal((await request("POST", `/system/jobs/${job}/discard`)).status, 409);
  assert.equal((await request("POST", `/system/jobs/${job}/retry`)).status, 200);
});

test("the tests of database, storage, mail and models use them for real", async () => {
  for (const name of ["database", "storage", "mail", "speech", "language_model"]) {
    const result = await tryOut(name);
    assert.equal(result.state, "ok", JSON.stringify(result));
    assert.equal(result.remedy, null);
  }
  assert.deepEqual(mail.mails.at(-1)?.to, [operator.admin.email]);
  assert.equal(speech.requests.at(-1)?.audio.durationMs, 2004);
  assert.equal(model.requests.length, 1);
  assert.equal((await request("POST", "/system/components/worker/test")).status, 404);
});

test("the test of a built-in engine that transcribes a recording does not wait for it", async () => {
  const release = await takeMachine(db.session, "speech", undefined);
  const settings = { engine: "local", isRequired: true, model: null, threads: 1, language: null } as const;
  const finding = await testSpeech(settings, { dataDir: app.config.dataDir, session: db.session });
  await release();
  assert.equal(finding.state, "ok");
  assert.match(finding.explanation, /is at work on this machine/);
});

test("a PARLEY_LLM_MODEL that is not installed is named as the reason", () => {
  const explain = (env: Record<string, string>) =>
    languageModelOff(readConfig({ PARLEY_DATA_DIR: app.config.dataDir, ...env }, process.cwd())).explanation;
  assert.match(explain({}), /^No language model is set up/);
  assert.match(
    explain({ PARLEY_LLM_MODEL: "gpt-4.1-mini" }),
    /^The model that PARLEY_LLM_MODEL names is not/,
  );
});

test("a failing test says what is wrong and what to do, and shows no key", async () => {
  speech.otherwise(refuse(401, { error: { message: "wrong key sk-speech" } }));
  const refused = await tryOut("speech");
  assert.equal(refused.state, "failing");
  assert.match(
    refused.explanation,
    /speech server at .* does not accept the key \(401\).*PARLEY_TRANSCRIPTION_API_KEY/,
  );
  assert.doesNotMatch(JSON.stringify(refused), /sk-speech/);

  model.otherwise((_request, response) => void response.writeHead(404).end("{}"));
  assert.match(
    (await tryOut("language_model")).explanation,
    /no such URL or model \(404\).*PARLEY_LLM_MODEL/,
  );

  mail.refuseWith(550);
  const mailed = await tryOut("mail");
  assert.match(mailed.explanation, /mail server at 127\.0\.0\.1:\d+ refused the email: .*550/);
  assert.match(mailed.remedy, /PARLEY_SMTP_FROM/);
  mail.refuseWith(null);

  const objects = join(app.config.dataDir, "objects");
  await rename(objects, `${objects}.away`);
  await writeFile(objects, "a file where the folder was");
  const stored = await tryOut("storage");
  assert.equal(stored.state, "failing");
  assert.match(stored.remedy, /PARLEY_DATA_DIR/);
  assert.equal((await component("storage")).state, "failing");
});

test("without settings, and with a server that is down, components are off or failing", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  const plain = await startTestApp({
    worker: false,
    env: { PARLEY_SMTP_URL: `smtp://127.0.0.1:${port}`, PARLEY_SMTP_FROM: "p@w.example" },
  });
  const { admin } = await makeWorkspace(plain.db);
  const ask = async (name: string) =>
    (
      await call(plain, "POST", `/_/api/v1/system/components/${name}/test`, undefined, {
        version: null,
        token: admin.token,
      })
    ).body;
  const mailed = await ask("mail");
  assert.match(mailed.explanation, /mail server at 127\.0\.0\.1:\d+ can't be reached: .*ECONNREFUSED/);
  assert.match(mailed.remedy, /PARLEY_SMTP_URL/);
  assert.match((await ask("speech")).explanation, /set PARLEY_TRANSCRIPTION_URL/);
  assert.equal((await ask("language_model")).state, "off");
});

test("storage use is given by workspace and kind", async () => {
  const id = await insertRecording(db, { recorderId: other.member.id, title: "R" });
  for (const [name, bytes] of [
    ["media.mp3", 1000],
    ["waveform.json", 10],
  ] as const)
    await db.pool.query(
      "insert into stored_files (key, recording_id, workspace_id, bytes, sha256) values ($1, $2, $3, $4, sha256('x'))",
      [`recordings/${id}/${name}`, id, other.id, bytes],
    );
  const { body } = await request("GET", "/system/storage");
  const use = body.workspaces.find((one: { id: string }) => one.id === other.id);
  assert.equal(use.name, "Customer");
  assert.deepEqual(
    use.kinds.filter(({ kind }: { kind: string }) => kind !== "upload"),
    [
      { kind: "media", bytes: 1000 },
      { kind: "waveform", bytes: 10 },
    ],
  );
  assert.ok(body.database_bytes > 1_000_000);
  assert.ok(body.disk.free_bytes > 0 && body.disk.free_bytes <= body.disk.size_bytes);
});
