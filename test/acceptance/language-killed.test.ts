import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { askQuestion, only } from "../../server/processing/ask/test/asking.ts";
import { call } from "../support/call.ts";
import { parley, prepareServer, runParley } from "../support/server-process.ts";
import { createStages } from "../support/stages.ts";
import { until } from "../support/until.ts";

const fixture = fileURLToPath(new URL("../fixtures/language/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "parley-model-"));
const file = join(folder, "Own-Model.gguf");
copyFileSync(join(fixture, "tiny-random.gguf"), file);
const server = await prepareServer({
  env: { PARLEY_SWEEP_INTERVAL: "3s", PARLEY_TRANSCRIPTION_THREADS: "1" },
});
const dataDir = server.env.PARLEY_DATA_DIR ?? "";
const database = new pg.Client(server.env.PARLEY_DATABASE_URL);
await database.connect();
after(async () => {
  await database.end();
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the server is killed besides: in front of these changes. */
const stages = {
  "the summary is written": `before insert on intelligence_steps for each row when (new.response::text like '%"summary"%')`,
  "the chapters are written": `before insert on intelligence_steps for each row when (new.response::text like '%"chapters"%')`,
  "the results are saved": "before update on intelligence_runs for each row when (new.status = 'done')",
} as const;

/** Processes of the server's language engine, which work in its data folder. */
function engines(): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      if (!readlinkSync(`/proc/${name}/cwd`).startsWith(dataDir)) return [];
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes("local/child.ts") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const transcript = {
  language: "en",
  segments: Array.from({ length: 8 }, (_, n) => ({
    speaker_key: `s${n % 2}`,
    start: n * 90_000,
    end: (n + 1) * 90_000,
    text: `We talk about the harbour, and this is detail ${n}.`,
  })),
};

test("a model from a file or a folder: listed, verified, and refused with one flipped byte", async () => {
  const installed = async () =>
    JSON.parse(await parley(server, "models", "list", "--json")).filter(
      (model: { installed: boolean }) => model.installed,
    );
  await parley(server, "models", "install", "--from", file);
  const [own] = await installed();
  assert.deepEqual([own.name, own.kind, own.size], ["own-model", "language", readFileSync(file).length]);
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(50_000) ^ 1, 50_000);
  writeFileSync(file, bytes);
  const again = await runParley(server, "models", "install", "--from", file);
  assert.notEqual(again.code, 0);
  assert.match(again.stderr, /SHA-256/);
  assert.match(await parley(server, "models", "verify"), /^own-model \(custom\): intact$/);
  writeFileSync(join(dataDir, "models", "own-model", "Own-Model.gguf"), bytes);
  const damaged = await runParley(server, "models", "verify");
  assert.notEqual(damaged.code, 0);
  assert.match(damaged.stdout, /own-model \(custom\): .*does not match its SHA-256/);
  await parley(server, "models", "remove", "own-model");
  await parley(server, "models", "install", "tiny", "--from", fixture);
  assert.deepEqual(
    (await installed()).map(({ name }: { name: string }) => name),
    ["tiny"],
  );
});

test("killed in every stage of a summary by the built-in model: it resumes, and no finished part is read again", async () => {
  const points = await createStages(database, server, stages);
  await database.query(`
    create table saved (what text);
    create function note_saved() returns trigger language plpgsql as $$ begin
      insert into saved select key from jsonb_object_keys(new.response -> 'value') key where key in ('summary', 'chapters');
      return null; end $$;
    create trigger note_step after insert or update on intelligence_steps for each row execute function note_saved()`);
  const saved = async () => {
    const { rows } = await database.query<{ what: string }>("select what from saved order by what");
    return rows.map(({ what }) => what);
  };
  const kill = async (): Promise<void> => {
    await points.kill();
    await until("the engine ends with its server", () => engines().length === 0);
  };
  const workspace = await parley(server, "workspace", "create", "--name", "Killed");
  const email = "k@killed.example";
  await parley(server, "user", "create", "--email", email, "--name", "K", "--workspace", workspace);
  const token = await parley(server, "token", "create", "--email", email);
  const get = async (path: string) =>
    (await call(server, "GET", `/_/api/v1${path}`, undefined, { token, version: null })).body;

  await server.start();
  const { body: upload } = await call(
    server,
    "POST",
    "/uploads/create",
    { media_type: "transcript", attributes: { title: "Harbour", transcript } },
    { token },
  );
  await until("the engine loads its model", () => engines().length > 0);
  await kill();
  const before: string[][] = [];
  for (const stage of Object.keys(stages) as (keyof typeof stages)[]) {
    before.push(await saved());
    await points.stopAt(stage);
    await server.start();
    await points.hasStopped(stage);
    await kill();
  }
  assert.deepEqual(before, [[], [], ["summary"]]);
  await server.start();
  const { body } = await call(server, "POST", `/uploads/${upload.id}`, {}, { token });
  const recordingId: string = body.recording_id;
  const run = await until("the run is done", async () => {
    const now = await get(`/recordings/${recordingId}/intelligence`);
    return now.status === "done" && now;
  });
  assert.deepEqual(await saved(), ["chapters", "summary"]);
  assert.match(
    run.message,
    /1 action item without proof was left out.*1 chapter without proof was left out/s,
  );
  assert.deepEqual((await get(`/recordings/${recordingId}/chapters`)).chapters, []);
  const found = await call(
    server,
    "POST",
    `/recordings/${recordingId}`,
    { include: { ai_action_items: true } },
    { token },
  );
  assert.deepEqual(found.body.ai_action_items, []);
  await until("the engine has ended", () => engines().length === 0);

  // Questions: stopped by the asker, then by a killed server.
  const question = { question: "What about the harbour?", recording_id: recordingId };
  /** Asks, and does this once the model is at work. */
  const interrupted = async (interrupt: () => void | Promise<void>, signal?: AbortSignal): Promise<void> => {
    let isFirst = true;
    const onEvent = async ({ event }: { event: string }): Promise<void> => {
      if (event !== "passage" || !isFirst) return;
      isFirst = false;
      await until("the engine is at work", () => engines().length > 0);
      await interrupt();
    };
    await assert.rejects(
      askQuestion(server, token, question, { onEvent, ...(signal === undefined ? {} : { signal }) }),
    );
  };
  const stop = new AbortController();
  await interrupted(() => stop.abort(), stop.signal);
  const leaseIsOver = () =>
    until("no question is in flight", async () => {
      const { rows } = await database.query("select 1 from ask_leases where expires_at > now()");
      return rows.length === 0;
    });
  await until("the engine has ended", () => engines().length === 0);
  await leaseIsOver();
  await interrupted(kill);
  await server.start();
  await leaseIsOver();
  const answered = await askQuestion(server, token, question);
  const { threads } = await get("/ask/threads");
  const states: string[] = [];
  for (const { id } of threads)
    for (const { state, message } of (await get(`/ask/threads/${id}`)).turns)
      states.push(`${state}: ${message}`);
  assert.match(
    states.join("\n"),
    /^done: .*don't say\.\nfailed: .* was interrupted\.\nfailed: .* was stopped\.$/,
  );
  const [done] = only(answered, "done");
  assert.deepEqual(
    [done?.statements, done?.left_out, done?.message, only(answered, "statement").length],
    [0, 1, "Your meetings don't say.", 0],
  );
});
