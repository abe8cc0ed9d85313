import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { runJob } from "../../../../test/support/run-job.ts";
import { until } from "../../../../test/support/until.ts";
import { takeMachine } from "../../models/engine/machine-lock.ts";
import { installModel } from "../../models/install.ts";
import { findInstalled, removeModel } from "../../models/store.ts";
import { findMinutesPerHour } from "../../models/trial.ts";
import { harbour, type Run } from "../test/intelligence.ts";
import { tryLanguageModelsKind } from "../try-models.ts";
import { localModel } from "./local-model.ts";

const assets = fileURLToPath(new URL("../../../../test/fixtures/language/", import.meta.url));
const app = await startTestApp({
  // One thread waits for no other, which takes long on a busy machine.
  env: { PARLEY_TRANSCRIPTION_THREADS: "1" },
});
const { db, config } = app;
const { dataDir } = config;
const workspace = await makeWorkspace(db);

const manage = (method: string, path: string) =>
  call(app, method, `/_/api/v1${path}`, undefined, { token: workspace.token, version: null });
const runOf = async (id: string): Promise<Run> =>
  (await manage("GET", `/recordings/${id}/intelligence`)).body;

async function make(): Promise<string> {
  return (await makeRecording(app, workspace.member.token, { transcript: harbour })).recordingId;
}

const done = (id: string): Promise<Run> =>
  until(`the model has understood ${id}`, async () => {
    const run = await runOf(id);
    if (run.status === "failed") throw new Error(run.message);
    return run.status === "done" && run;
  });

/** Processes of the engine that this process has started. */
async function engines(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    if (command.includes("intelligence/local/child.ts") && stat.split(" ")[3] === String(process.pid))
      found.push(Number(name));
  }
  return found;
}

test("without a model one sentence says what is missing and who can install it", async () => {
  const id = await make();
  const { message } = await runOf(id);
  assert.match(
    message,
    /^Summaries, chapters and action items need a language model, which an admin of this server can install in Settings/,
  );
  const { body } = await manage("POST", `/recordings/${id}/intelligence`);
  assert.match(body.detail, /which an admin of this server can install/);

  // A run from the time when there was a model.
  const queued = await make();
  await db.pool.query("insert into intelligence_runs (recording_id, status) values ($1, 'pending')", [
    queued,
  ]);
  const run = await runOf(queued);
  assert.deepEqual([run.status, run.message], ["pending", message]);
  await db.pool.query("delete from intelligence_runs where recording_id = $1", [queued]);
});

test("the built-in model summarizes each new recording, and says what it waits for; no process and no file is left", async () => {
  await installModel(dataDir, "tiny", { type: "folder", path: assets });
  const release = await takeMachine(db.session, "speech", undefined);
  const id = await make();
  await until("it says what it waits for", async () =>
    /Waiting for the speech engine, which is at work on this machine\./.test((await runOf(id)).message),
  );
  await release();
  const run = await done(id);
  assert.ok(run.used_tokens > 1000);
  await until("the engine has ended", async () => (await engines()).length === 0);
  // On a slow machine a sweep may make the trial meanwhile.
  await until("no file is left", async () => (await readdir(join(dataDir, "scratch"))).length === 0);
});

test("an engine that is killed is started again, and the run continues", async () => {
  const id = await make();
  const [pid] = await until("an engine", async () => {
    const found = await engines();
    return found.length > 0 && found;
  });
  assert.ok(pid);
  process.kill(pid, "SIGKILL");
  await done(id);
});

const request = {
  system: "You are being tested.",
  messages: [{ role: "user", content: "Say a word." }],
  schema: {
    name: "word",
    json: {
      type: "object",
      properties: { word: { anyOf: [{ type: "string" }, { type: "null" }] }, type: { type: "number" } },
      required: ["word", "type"],
      additionalProperties: false,
    },
  },
  maxOutputTokens: 200,
} as const;

function openModel() {
  if (config.languageModel?.engine !== "local") throw new Error("not local");
  return localModel(config.languageModel, { dataDir, session: db.session });
}

test("the same request gets the same response, which matches its schema", async () => {
  const model = await openModel();
  try {
    const first = await model.ask(request);
    assert.deepEqual(Object.keys(JSON.parse(first.text)), ["word", "type"]);
    assert.equal((await model.ask(request)).text, first.text);
    const cut = await model.ask({ ...request, maxOutputTokens: 5 });
    assert.deepEqual([cut.isTruncated, cut.outputTokens], [true, 5], cut.text);
    const long = await model.ask({ ...request, messages: [{ role: "user", content: "x".repeat(9000) }] });
    assert.equal(long.isTruncated, true, "a prompt that does not fit is said, not cut");
  } finally {
    await model.close();
  }
  assert.deepEqual(await engines(), []);
});

test("a canceled request ends the model's work at once", async () => {
  const model = await openModel();
  const cancel = new AbortController();
  try {
    const refused = assert.rejects(model.ask({ ...request, signal: cancel.signal }), /canceled/);
    await until("an engine", async () => (await engines()).length > 0);
    cancel.abort(new Error("canceled"));
    await refused;
    await until("the engine has ended", async () => (await engines()).length === 0);
  } finally {
    await model.close();
  }
});

test("a model with a context that is too small is refused with the reason", async () => {
  const path = join(dataDir, "short.gguf");
  const bytes = await readFile(join(assets, "tiny-random.gguf"));
  const key = "llama.context_length";
  // After its type.
  bytes.writeUInt32LE(4096, bytes.indexOf(key) + key.length + 4);
  await writeFile(path, bytes);
  await installModel(dataDir, "a-short-one", { type: "file", path });
  if (config.languageModel?.engine !== "local") throw new Error("not local");
  const settings = { ...config.languageModel, model: "a-short-one" };
  const model = await localModel(settings, { dataDir, session: db.session });
  try {
    await assert.rejects(
      model.ask(request),
      /a-short-one reads 4096 tokens at a time, and Parley needs 8192\. Install another model\./,
    );
  } finally {
    await model.close();
    await removeModel(dataDir, "a-short-one");
  }
});

test("a file that was cut off is refused with what to do about it", async () => {
  const path = join(dataDir, "cut.gguf");
  const bytes = await readFile(join(assets, "tiny-random.gguf"));
  await writeFile(path, bytes.subarray(0, bytes.length / 2));
  await installModel(dataDir, "a-cut-one", { type: "file", path });
  if (config.languageModel?.engine !== "local") throw new Error("not local");
  const settings = { ...config.languageModel, model: "a-cut-one" };
  const model = await localModel(settings, { dataDir, session: db.session });
  try {
    await assert.rejects(model.ask(request), (error: Error) => {
      assert.match(
        error.message,
        /a-cut-one is incomplete\. Remove the model, and install it from a complete/,
      );
      assert.match(String(error.cause), /not within the file bounds/, "for the log");
      return true;
    });
  } finally {
    await model.close();
    await removeModel(dataDir, "a-cut-one");
  }
});

test("a trial after the installation says how long an hour of meeting takes here", async () => {
  const model = (await findInstalled(dataDir, "tiny")) ?? assert.fail();
  // On a slow machine a sweep has made it already.
  await rm(join(model.folder, "trial.json"), { force: true });
  assert.equal(await findMinutesPerHour(model), null);
  await runJob(app, tryLanguageModelsKind, {});
  assert.ok(((await findMinutesPerHour(model)) ?? 0) > 0);
});

test("a model with one flipped byte is refused before it is loaded", async () => {
  const { folder, files } = (await findInstalled(dataDir, "tiny")) ?? assert.fail();
  const path = join(folder, files[0]?.name ?? "");
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(5000) ^ 1, 5000);
  await writeFile(path, bytes);
  const model = await openModel();
  try {
    await assert.rejects(model.ask(request), /tiny is damaged: tiny-random\.gguf does not match its SHA-256/);
    await assert.rejects(installModel(dataDir, "tiny", { type: "file", path }), /SHA-256 recorded/);
  } finally {
    await model.close();
  }
});
