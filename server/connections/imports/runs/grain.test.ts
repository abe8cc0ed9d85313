import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import { snapshot } from "../../../../test/support/api-snapshot.ts";
import { call, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import { freePort } from "../../../../test/support/port.ts";
import { until } from "../../../../test/support/until.ts";
import { grain } from "../sources/grain.ts";
import { startFlakyProxy } from "../test/flaky-proxy.ts";
import { makeFullWorkspace, makeTwin } from "../test/full-workspace.ts";
import { startEndlessService, startStrangeService } from "../test/strange-service.ts";
import { continueRuns } from "./job.ts";
import { insertRun } from "./queries.ts";
import { runImport } from "./run.ts";

const source = await startTestApp({ port: await freePort(), env: { PARLEY_PAGE_SIZE: "2" } });
const target = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8,::1" } });
const workspace = await makeFullWorkspace(source, 3);
const twin = await makeTwin(target, workspace);
const { admin } = twin;
const proxy = await startFlakyProxy(source.url);

const manage = (method: string, path: string, body?: unknown, token = admin.token) =>
  call(target, method, `/_/api/v1${path}`, body, { token, version: null });

const ended = (id: string) =>
  until(
    "the import has ended",
    async () => {
      const run = (await manage("GET", "/import-runs")).body.runs.find(
        (one: { id: string }) => one.id === id,
      );
      return ["pending", "running"].includes(run.state) ? undefined : run;
    },
    60_000,
  );

async function start(body: object) {
  const { status, body: run, text } = await manage("POST", "/import-runs", body);
  assert.equal(status, 200, text);
  return ended(run.id);
}

test("a dry run counts recordings and users beforehand, and imports nothing", async () => {
  const run = await start({ base_url: `${source.url}/`, token: workspace.token, dry_run: true });
  assert.deepEqual(
    [run.state, run.imported, run.counts],
    [
      "done",
      0,
      {
        ...{ recordings: 6, video: 1, audio: 1, transcript: 4, existing: 0 },
        ...{ users_matched: 2, users_unknown: 1 },
      },
    ],
  );
  const { rows } = await sql<{ token: Buffer | null }>`select token from import_runs`.execute(
    target.db.kysely,
  );
  assert.deepEqual(rows, [{ token: null }]);
});

test("everything is imported over HTTP, through rate limits, errors and broken downloads, and once only", async () => {
  proxy.fail({ limits: 2, errors: 2, brokenBodies: 2 });
  const run = await start({ base_url: proxy.url, token: workspace.token });
  assert.deepEqual([run.state, run.imported, run.failed, run.error], ["done", 6, 0, null]);
  assert.ok(proxy.waited >= 2, "Retry-After was respected");
  assert.deepEqual(run.omitted, {});
  const before = await snapshot(source, workspace.member.token, { media: true });
  const now = await snapshot(target, twin.users.member?.token ?? "", { media: true });
  assert.deepEqual(now, before);
  const again = await start({
    base_url: proxy.url.replace("http:", "HTTP:").concat("/."),
    token: workspace.token,
  });
  assert.deepEqual([again.counts.existing, again.imported], [6, 0]);
  const { body } = await call(target, "POST", "/recordings", {}, { token: twin.token });
  assert.equal(body.recordings.length + (body.cursor === null ? 0 : 1), 6);
});

test("old ids find the imported recordings once that is turned on, for callers who can see them", async () => {
  const { body } = await call(
    source,
    "POST",
    "/recordings",
    { filter: { title_search: "Renewal" } },
    { token: workspace.member.token },
  );
  const [{ id: oldId, title }] = body.recordings;
  const token = twin.users.member?.token ?? "";
  const get = (version: string, by = token) =>
    call(target, "POST", `/recordings/${oldId}`, {}, { token: by, version });
  for (const version of everyVersion) assert.equal((await get(version)).status, 404);
  assert.equal((await manage("PATCH", "/workspace", { resolves_old_ids: true })).status, 200);
  for (const version of everyVersion) {
    const answer = await get(version);
    assert.deepEqual([answer.status, answer.body.title], [200, title]);
    assert.notEqual(answer.body.id, oldId);
    const text = await call(target, "GET", `/recordings/${oldId}/transcript.txt`, undefined, {
      token,
      version,
    });
    assert.match(text.text, /^Ada/);
  }
  const renamed = await call(target, "PATCH", `/recordings/${oldId}`, { title: "New" }, { token });
  assert.equal(renamed.status, 200);
  assert.equal((await manage("GET", `/recordings/${oldId}`)).body.recording.title, "New");
  assert.equal((await call(target, "DELETE", `/recordings/${oldId}`, undefined, { token })).status, 404);
  const stranger = await makeTwin(target, workspace, []);
  assert.equal((await get("2026-10-01", stranger.token)).status, 404);
  const plain = await call(
    source,
    "POST",
    "/recordings",
    { filter: { title_search: "Plain 0" } },
    { token: workspace.token },
  );
  const [hidden] = plain.body.recordings;
  const colleague = twin.users.colleague?.token ?? "";
  const unseen = await call(target, "POST", `/recordings/${hidden.id}`, {}, { token: colleague });
  assert.equal(unseen.status, 404);
});

test("a personal token brings the user's private notes, and only what the user can see", async () => {
  const own = await makeTwin(target, workspace, []);
  const from = await grain({
    baseUrl: source.url,
    token: workspace.colleague.token,
    allowAddresses: "127.0.0.0/8,::1",
  });
  const row = await insertRun(target.db.kysely, {
    workspaceId: own.id,
    createdBy: own.admin.id,
    source: from.kind,
    origin: from.origin,
    token: null,
    isDryRun: false,
  });
  const result = await runImport(target, row, from);
  await from.close?.();
  assert.deepEqual([result.done, result.failed], [2, 0]);
});

test("a recording that can't be read, stored or held in memory fails alone", async () => {
  const entry = { participant_id: null, speaker: "Ada", start: 0, end: 10, text: "One\0two\ud800." };
  const transcript = JSON.stringify([entry]);
  const url = await startStrangeService([
    { id: "nul\0", title: "A\0b", transcript },
    { id: "page", title: "", transcript: "<!doctype html>" },
    { id: "long", title: "", transcript: `[${" ".repeat(16 * 1024 * 1024)}]` },
    { id: "redirect", title: "", transcript, location: "http://[" },
    { id: "plain", title: "Plain", transcript },
    { id: "x".repeat(200), title: "Longest id", transcript },
    { id: "y".repeat(201), title: "Too long an id", transcript },
    { id: null, title: "No id", transcript },
  ]);
  const run = await start({ base_url: url, token: "t" });
  assert.deepEqual([run.state, run.imported, run.failed, run.error], ["done", 3, 5, null]);
  const { rows } = await sql<{ count: string }>`
    select count(distinct recording_id) from import_items where run_id = ${run.id}`.execute(target.db.kysely);
  assert.equal(rows[0]?.count, "3");
  const { items } = (await manage("GET", `/import-runs/${run.id}/report`)).body;
  assert.deepEqual(
    items.map(({ old_id, reason }: { old_id: string; reason: string }) => [
      old_id.replace(/(?<=^without id )[0-9a-f]{16}$/, "HASH"),
      reason,
    ]),
    [
      ["long", "the response is longer than 16777216 bytes"],
      ["page", "the service responds with something that is not JSON"],
      ["redirect", "the server redirects to an invalid URL"],
      ["without id HASH", "the service returns it without an id"],
      [
        "y".repeat(201),
        "the service returns invalid data: id Too big: expected string to have <=200 characters",
      ],
    ],
  );
});

/** Memory that is in use, after a collection of garbage. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

test("a list with huge ids and without end takes little memory, and ends at a maximum of pages, recordings and bytes", async () => {
  const idLength = 1_000_000;
  const list = async (limits: { pages?: number; recordings?: number; bytes?: number }) => {
    const from = await grain({
      baseUrl: await startEndlessService(idLength),
      token: "t",
      allowAddresses: "127.0.0.0/8",
      limits: { pages: 30, recordings: 1000, bytes: 1e9, ...limits },
    });
    const before = usedBytes();
    let grown = 0;
    try {
      for await (const { oldId } of from.list()) {
        assert.ok(oldId.length <= 500);
        if (oldId.startsWith("25x")) grown = usedBytes() - before;
      }
    } finally {
      await from.close?.();
      assert.ok(grown < 10 * idLength, `${grown} bytes are kept of 24 pages`);
    }
  };
  await assert.rejects(list({}), { message: "the service returns more than 30 pages" });
  await assert.rejects(list({ recordings: 3 }), { message: "the service returns more than 3 recordings" });
  await assert.rejects(list({ bytes: 10_000_000 }), {
    message: "the service's list of recordings has more than 10000000 bytes",
  });
});

test("a run whose service asks for a long pause gives its slot back, is resumed, and ends after 48 hours", async () => {
  const control: { limits?: number } = { limits: 600 };
  const { status, body: run } = await manage("POST", "/import-runs", {
    base_url: await startEndlessService(10, control),
    token: "t",
    dry_run: true,
  });
  assert.equal(status, 200);
  const runs = target.db.kysely.selectFrom("import_runs").selectAll().where("id", "=", run.id);
  const job = sql`select 1 from jobs where key = ${run.id}`;
  const waits = () =>
    until("the run waits without a job", async () => {
      const { resume_at } = await runs.executeTakeFirstOrThrow();
      const { rows } = await job.execute(target.db.kysely);
      return resume_at !== null && rows.length === 0 ? resume_at : undefined;
    });
  const resumeAt = await waits();
  assert.ok(Math.abs(resumeAt.getTime() - Date.now() - 600_000) < 60_000);
  // Not before.
  await continueRuns(target.db, target.jobs);
  assert.equal((await job.execute(target.db.kysely)).rows.length, 0);
  const resume = async (startedHoursAgo: number) => {
    await sql`update import_runs set resume_at = now(),
      created_at = now() - ${startedHoursAgo} * interval '1 hour' where id = ${run.id}`.execute(
      target.db.kysely,
    );
    await continueRuns(target.db, target.jobs);
  };
  await resume(47);
  await waits();
  await resume(49);
  assert.match((await ended(run.id)).error, /took more than 48 hours; start it again to continue/);
});

test("a run ends as failed once its job was stopped because the server died twice", async () => {
  const row = await target.db.kysely.transaction().execute(async (tx) => {
    const created = await insertRun(tx, {
      ...{ workspaceId: twin.id, createdBy: admin.id, source: "grain", origin: "http://127.0.0.1" },
      ...{ token: Buffer.from("t"), isDryRun: false },
    });
    await target.jobs.enqueue(tx, "import_recordings", { runId: created.id }, created.id);
    await sql`update jobs set is_stopped = true, error = 'the process ended twice' where key = ${created.id}`.execute(
      tx,
    );
    return created;
  });
  await continueRuns(target.db, target.jobs);
  assert.match((await ended(row.id)).error, /the server ended twice while it ran this import/);
  await target.db.pool.query("delete from jobs where name = 'import_recordings'");
});

test("errors name their cause: a wrong token, an address that is not allowed, a second run", async () => {
  const refused = await start({ base_url: source.url, token: "wrong" });
  assert.deepEqual([refused.state, /refuses the token/.test(refused.error)], ["failed", true]);
  const plain = await manage("POST", "/import-runs", { base_url: "http://10.0.0.1", token: "t" });
  assert.deepEqual([plain.status, plain.body.violations?.[0]?.pointer], [400, "/base_url"]);
  const internal = await start({ base_url: "http://10.0.0.1", token: "t", allow_http: true });
  assert.match(internal.error, /10\.0\.0\.1 is not allowed/);
  assert.equal((await manage("POST", "/import-runs", { base_url: "file:///etc", token: "t" })).status, 400);
  assert.ok(!JSON.stringify(refused).includes("wrong"));
  proxy.fail({ hang: true });
  const { body: run } = await manage("POST", "/import-runs", { base_url: proxy.url, token: workspace.token });
  const second = await manage("POST", "/import-runs", { base_url: proxy.url, token: workspace.token });
  assert.equal(second.status, 409);
  assert.equal((await manage("DELETE", `/import-runs/${run.id}`)).status, 200);
  const isAudited = await sql<{ action: string }>`select action from audit_log where subject_id = ${run.id}
    and action = 'import_canceled'`.execute(target.db.kysely);
  assert.equal(isAudited.rows.length, 1);
  // The job ends although the service does not respond.
  await until("the job has ended", async () => {
    const { rows } = await sql`select 1 from jobs where name = 'import_recordings'`.execute(target.db.kysely);
    return rows.length === 0 ? true : undefined;
  });
  proxy.fail({});
  assert.equal((await ended(run.id)).state, "canceled");
});
