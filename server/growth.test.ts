import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call, startTestApp } from "../test/support/app.ts";
import {
  insertHook,
  makeHighlight,
  makeRecording,
  makeUpload,
  makeWorkspace,
} from "../test/support/factories.ts";
import { startHookReceiver } from "../test/support/hook-receiver.ts";
import { until } from "../test/support/until.ts";
import { givePassword, openBrowser, signInAs } from "./people/accounts/test/accounts.ts";

const docs = readFileSync(new URL("../docs/operations/tables.md", import.meta.url), "utf8");

/** What the table "Growth" of docs/operations/tables.md says: how each table grows. */
const section = (docs.split("\n## Growth\n")[1] ?? "").split("\n## ")[0] ?? "";
const documented = new Map(
  [...section.matchAll(/^\| (`[^|]+) \| (\w+) \|/gm)].flatMap(([, names = "", kind = ""]) =>
    [...names.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => [name, kind] as const),
  ),
);

const app = await startTestApp({
  worker: true,
  env: {
    PARLEY_SWEEP_INTERVAL: "50ms",
    PARLEY_AUDIT_TTL: "365d",
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
  },
});
const { pool } = app.db;
const receiver = await startHookReceiver();
const workspace = await makeWorkspace(app.db);
await givePassword(app.db, workspace.admin, workspace.member);

async function tables(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`);
  return rows.map(({ name }) => name);
}

test("docs/operations/tables.md says of every table how it grows", async () => {
  const existing = await tables();
  assert.deepEqual(
    existing.filter((name) => !documented.has(name)),
    [],
    "these tables are missing in the table under Growth; give each a rule",
  );
  assert.deepEqual(
    [...documented.keys()].filter((name) => !existing.includes(name)),
    [],
    "these tables don't exist",
  );
  for (const kind of documented.values()) assert.match(kind, /^(setup|recordings|bounded|kept)$/);
});

async function countRows(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const name of await tables()) {
    const { rows } = await pool.query<{ count: string }>(`select count(*) as count from ${name}`);
    counts.set(name, Number(rows[0]?.count));
  }
  return counts;
}

/** The clock guard has to see a clock that runs, jobs their heartbeats; the hashes of the audit log contain its times. */
const unshifted = new Set(["clock_guard", "audit_log", "audit_chains", "jobs"]);

/** Makes everything in the database older, as if that much time had passed. */
async function passDays(days: number): Promise<void> {
  const { rows } = await pool.query<{ name: string; columns: string[]; isUnique: boolean }>(`
    select c.oid::regclass::text as name, array_agg(a.attname::text) as columns,
      bool_or(exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any(i.indkey)))
        as "isUnique"
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.atttypid in ('timestamptz'::regtype, 'date'::regtype)
    group by c.oid`);
  const client = await pool.connect();
  try {
    await client.query("begin; set local session_replication_role = replica");
    for (const { name, columns, isUnique } of rows.filter((table) => !unshifted.has(table.name))) {
      // Keys go by way of a time far away, since they may not be equal in between.
      const shifts = isUnique
        ? [`- interval '${days + 100_000} days'`, "+ interval '100000 days'"]
        : [`- interval '${days} days'`];
      for (const shift of shifts)
        await client.query(
          `update ${name} set ${columns.map((column) => `"${column}" = "${column}" ${shift}`).join(", ")}`,
        );
    }
    await client.query("commit");
  } finally {
    client.release();
  }
}

async function finishWork(): Promise<void> {
  await until("all deliveries and jobs have ended", async () => {
    const { rows } = await pool.query<{ open: boolean }>(
      `select exists (select 1 from deliveries where state = 'pending') or exists (select 1 from waiting_events)
         or exists (select 1 from jobs where key <> '') as open`,
    );
    return rows[0]?.open === false;
  });
}

/** Long enough for a machine that does ten other things. */
const timeoutMs = 300_000;

/** Waits until every recurring job has run and what it began has ended; some need two runs until nothing is left. */
async function sweep(runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) await runRecurringJobs();
  await finishWork();
}

async function runRecurringJobs(): Promise<void> {
  const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
  await until(
    "every recurring job has run",
    async () => {
      // Also those that pause after what they have just done.
      await pool.query(
        "update jobs set due_at = now() where key = '' and run_id is null and due_at > now() and coalesce(started_at < $1, true)",
        [rows[0]?.now],
      );
      const { rowCount } = await pool.query(
        "select 1 from jobs where key = '' and not coalesce(started_at >= $1 and run_id is null, false)",
        [rows[0]?.now],
      );
      return rowCount === 0;
    },
    timeoutMs,
  );
}

/** 504 days, and the step after which the tables are first counted. */
const [stepDays, steps, middleStep] = [28, 18, 15];

/** Tables with bounds that outlast a step. */
const reached = [
  "access_tokens",
  "deliveries",
  "events",
  "feed_positions",
  "intelligence_usage",
  "known_ip_addresses",
  "oauth_codes",
  "oauth_families",
  "oauth_refresh_tokens",
  "uploads",
];

/** Rows of features that need another server, or a day. */
async function addOthers(): Promise<void> {
  const { id, admin } = workspace;
  for (const [statement, ...values] of [
    ["insert into intelligence_usage (workspace_id, day) values ($1, (now() at time zone 'UTC')::date)", id],
    [
      `insert into retention_receipts (id, workspace_id, recording_id, rule_id, rule_name, receipt)
       values (gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'Old', '{}')`,
      id,
    ],
    [
      `insert into erasures (id, workspace_id, requested_by, recordings, state, finished_at)
       values (gen_random_uuid(), $1, $2, 'delete', 'done', now())`,
      id,
      admin.id,
    ],
    [
      `with app as (select id from oauth_clients limit 1),
         given as (insert into oauth_grants (id, client_id, user_id) select gen_random_uuid(), id, $1 from app
           on conflict (client_id, user_id) do update set last_used_at = now() returning id),
         family as (insert into oauth_families (id, grant_id) select gen_random_uuid(), id from given returning id, grant_id),
         code as (insert into oauth_codes (hash, grant_id, redirect_uri, expires_at, family_id)
           select uuid_send(gen_random_uuid()), grant_id, 'https://app.example/', now(), id from family)
       insert into oauth_refresh_tokens (id, family_id, hash, rotated_at)
       select gen_random_uuid(), id, uuid_send(gen_random_uuid()), now() from family`,
      admin.id,
    ],
  ] as const)
    await pool.query(statement, [...values]);
}

/** A small part of what happens in some weeks, of everything that adds rows by itself. */
async function addLoad(): Promise<void> {
  const { token } = workspace.member;
  const options = { token, version: null };
  const { recordingId } = await makeRecording(app, token);
  await makeHighlight(app, token, recordingId);
  await call(app, "PATCH", `/recordings/${recordingId}`, { title: "Renamed" }, { token });
  // Uploads whose file never arrives.
  await makeUpload(app, token, { media_type: "audio" });
  await signInAs(app, workspace.member);
  await openBrowser(app).submit("/sign-in", { email: "nobody@example.com", password: "wrong password" });
  const issued = await call(
    app,
    "POST",
    "/_/api/v1/tokens",
    { type: "personal_access_token", name: "t" },
    options,
  );
  assert.equal(issued.status, 200, issued.text);
  const revoked = await call(app, "DELETE", `/_/api/v1/tokens/${issued.body.id}`, undefined, options);
  assert.equal(revoked.status, 200, revoked.text);
  await addOthers();
  await finishWork();
}

test("over sixteen months, tables stop growing or grow with the recordings, as documented", async () => {
  for (const hook_type of ["recording_added", "recording_updated"] as const)
    await insertHook(app, {
      workspace_id: workspace.id,
      created_by: workspace.admin.id,
      hook_type,
      hook_url: `${receiver.url}/`,
    });
  await pool.query(
    `insert into oauth_clients (id, workspace_id, name, is_public, is_legacy, redirect_uris)
     values (gen_random_uuid(), $1, 'App', true, false, '{}')`,
    [workspace.id],
  );
  let middle = new Map<string, number>();
  for (let step = 1; step <= steps; step += 1) {
    await addLoad();
    await passDays(stepDays);
    // Before the first count, what one run leaves is for the next step.
    await sweep(step < middleStep - 1 ? 1 : 2);
    if (step === middleStep) middle = await countRows();
  }
  const end = await countRows();
  const [before = 0, after = 0] = [middle.get("recordings"), end.get("recordings")];
  assert.ok(after > before);
  const wrong = [...end].flatMap(([name, count]) => {
    const [kind, was] = [documented.get(name), middle.get(name) ?? 0];
    if (kind === "kept") return [];
    const expected = kind === "recordings" ? (was * after) / before : was;
    // One row may be of this moment, such as a counter of requests that is written later.
    return count <= Math.max(expected * 1.05, was + 1) ? [] : [`${name} (${kind}): ${was} → ${count}`];
  });
  assert.deepEqual(wrong, []);
  // With PARLEY_AUDIT_TTL.
  for (const name of ["retention_receipts", "erasures"]) assert.equal(end.get(name), middle.get(name), name);
  // The load has reached what is bounded.
  for (const name of [...reached, "retention_receipts", "erasures"])
    assert.ok((middle.get(name) ?? 0) > 0, `nothing was added to ${name}`);
});

/** Bytes of each table with its indexes. */
async function readSizes(): Promise<Map<string, number>> {
  await pool.query("vacuum");
  const sizes = new Map<string, number>();
  for (const name of documented.keys()) {
    const { rows } = await pool.query<{ bytes: string }>("select pg_total_relation_size($1) as bytes", [
      name,
    ]);
    sizes.set(name, Number(rows[0]?.bytes));
  }
  return sizes;
}

/** Bytes that tables of a kind have grown by for each of `count`, the largest first. */
function growthBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  kinds: readonly string[],
  count: number,
): string {
  const grown = [...after]
    .filter(([name]) => kinds.includes(documented.get(name) ?? ""))
    .map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / count] as const)
    .filter(([, bytes]) => bytes > 10)
    .sort(([, one], [, other]) => other - one);
  const total = grown.reduce((sum, [, bytes]) => sum + bytes, 0);
  return [["all", total] as const, ...grown]
    .map(([name, bytes]) => `${name} ${Math.round(bytes)}`)
    .join(", ");
}

/** An hour of speech in words of the documentation. */
function makeTranscript(seed: number) {
  const words = docs.match(/[A-Za-z]{2,}/g) ?? [];
  const segments = Array.from({ length: 720 }, (_, index) => ({
    speaker_key: `s${index % 4}`,
    start: index * 5000,
    end: index * 5000 + 4900,
    text: Array.from(
      { length: 12 },
      (_, word) => words[(seed * 7919 + index * 104_729 + word * 31 * (index + 1)) % words.length],
    ).join(" "),
  }));
  return { language: "en", segments };
}

test("measures bytes per recording and per 1,000 events", {
  skip: process.env.MEASURE_GROWTH === undefined && "set MEASURE_GROWTH=1 to measure",
}, async (context) => {
  const { token } = workspace.member;
  const [recordings, renames] = [200, 1000];
  const before = await readSizes();
  let recordingId = "";
  for (let index = 0; index < recordings; index += 1)
    ({ recordingId } = await makeRecording(app, token, { transcript: makeTranscript(index) }));
  const between = await readSizes();
  for (let index = 0; index < renames; index += 1)
    await call(app, "PATCH", `/recordings/${recordingId}`, { title: `Title ${index}` }, { token });
  await until("all deliveries have ended", async () => {
    const { rowCount } = await pool.query("select 1 from deliveries where state = 'pending' limit 1");
    return rowCount === 0;
  });
  const after = await readSizes();
  context.diagnostic(`per recording: ${growthBetween(before, between, ["recordings"], recordings)}`);
  context.diagnostic(
    `with its events: ${growthBetween(before, between, ["recordings", "bounded", "kept"], recordings)}`,
  );
  context.diagnostic(
    `per 1,000 events: ${growthBetween(between, after, ["bounded", "kept"], renames / 1000)}`,
  );
});
