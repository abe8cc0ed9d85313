import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, call, olderVersion } from "../support/call.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { freePort } from "../support/port.ts";
import { parseScrape } from "../support/prometheus.ts";
import { startReplicatedDatabase, untilStreaming } from "../support/replicated-database.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { startTcpForwarder } from "../support/tcp-forwarder.ts";
import { until } from "../support/until.ts";

const { primary, standby } = await startReplicatedDatabase();
const forwarder = await startTcpForwarder(primary.port);
const env = {
  PARLEY_DATABASE_REPLICA_URL: standby.url,
  PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
  PARLEY_OPEN_UPLOADS_PER_USER: "0",
};
const metricsPort = await freePort();
const server = await prepareServer({
  databaseUrl: `postgres://parley@127.0.0.1:${forwarder.port}/parley`,
  env: { ...env, PARLEY_METRICS_ADDRESS: String(metricsPort) },
});
const other = await prepareServer({ shared: server, env: { ...env, PARLEY_ROLE: "api" } });
after(async () => {
  await other.dispose();
  await server.dispose();
});
await server.start();
await other.start();
const token = await parley(server, "token", "create", "--email", "admin@parley.local");

const transcript = {
  media_type: "transcript",
  attributes: {
    title: "Harbour",
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 900, text: "Still here." }],
    },
  },
};

/** The titles in the library, as one process lists them. */
async function titles(of = server): Promise<string[]> {
  const { status, body, text } = await call(of, "POST", "/recordings", {}, { token });
  assert.equal(status, 200, text);
  return body.recordings.map(({ title }: { title: string }) => title);
}

/** Uploads a transcript. @returns the id of its recording. */
async function record(): Promise<string> {
  const { body } = await call(server, "POST", "/uploads/create", transcript, { token });
  return until("the upload is a recording", async () => {
    const upload = await call(server, "POST", `/uploads/${body.id}`, {}, { token });
    return upload.body.recording_id ?? undefined;
  });
}

/** What `parley doctor` says about the replica. */
async function replicaState(): Promise<string | undefined> {
  const output = await parley(server, "doctor", "--json").catch(({ stdout }: { stdout: string }) => stdout);
  const checks = JSON.parse(output) as { check: string; state: string }[];
  return checks.find(({ check }) => check === "read replica")?.state;
}

/** What the metrics say about the replica. */
async function replicaMetrics() {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const metrics = parseScrape(await response.text());
  return {
    up: metrics.value("parley_replica_up"),
    lag: metrics.value("parley_replica_lag_bytes"),
  };
}

/** The titles in an export of the workspace by `parley export`. */
async function exportedTitles(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "parley-export-"));
  try {
    await parley(server, "export", folder);
    const { recordings } = JSON.parse(readFileSync(join(folder, "export.json"), "utf8"));
    return recordings.map(
      (id: string) => JSON.parse(readFileSync(join(folder, id, "metadata.json"), "utf8")).title,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** How often transcripts were read from the replica by connections that have ended. */
async function replicaReads(): Promise<number> {
  const [row] = await standby.query<{ scans: number }>(
    "select (seq_scan + idx_scan)::float8 as scans from pg_stat_user_tables where relname = 'transcript_segments'",
    "parley",
  );
  return row?.scans ?? 0;
}

const replayAll = async (): Promise<void> => {
  const [end] = await primary.query<{ position: string }>("select pg_current_wal_lsn()::text as position");
  await until("the replica has replayed all changes", async () => {
    const [row] = await standby.query<{ done: boolean }>(
      `select pg_last_wal_replay_lsn() >= '${end?.position}' as done`,
    );
    return row?.done;
  });
};

test("library, search and exports read from the replica; a user sees their own last change in every process while it lags", async () => {
  const recording = await record();
  const exportLog = async () =>
    (await call(server, "GET", "/_/api/v1/audit/export", undefined, { token })).text;
  await until("the audit log is sealed", async () => (await exportLog()).includes("token_issued"));
  await replayAll();
  assert.deepEqual(await titles(), ["Harbour"]);
  const readsBefore = await replicaReads();
  await until("an export reads from the replica, if that has replayed all changes", async () => {
    assert.deepEqual(await exportedTitles(), ["Harbour"]);
    return (await replicaReads()) > readsBefore;
  });
  await standby.query("select pg_wal_replay_pause()");
  // A change that Parley knows nothing about shows where a list comes from.
  await primary.query("update recordings set title = 'On the primary'", "parley");
  const { up, lag = 0 } = await replicaMetrics();
  assert.ok(up === 1 && lag > 0, `up ${up}, lag ${lag}`);
  assert.deepEqual(await titles(), ["Harbour"]);
  const found = await call(server, "GET", "/_/api/v1/search?q=still", undefined, { token });
  assert.equal(found.body.results[0].recording.title, "Harbour");
  // An export has what was changed before it began.
  assert.deepEqual(await exportedTitles(), ["On the primary"]);
  // Access that has ended is not left to the replica.
  await primary.query(
    "create table kept as select * from recording_grants; delete from recording_grants",
    "parley",
  );
  assert.deepEqual(await titles(), []);
  const hidden = await call(server, "GET", "/_/api/v1/search?q=still", undefined, { token });
  assert.deepEqual(hidden.body.results, []);
  await primary.query("insert into recording_grants select * from kept; drop table kept", "parley");
  assert.deepEqual(await titles(), ["Harbour"]);
  assert.match(await exportLog(), /token_issued/);
  const renamed = await call(server, "PATCH", `/recordings/${recording}`, { title: "Renamed" }, { token });
  assert.equal(renamed.status, 200, renamed.text);
  assert.deepEqual(await titles(other), ["Renamed"]);
  // What a worker did for the user: it has told them that the recording exists.
  await record();
  assert.deepEqual((await titles(other)).sort(), ["Harbour", "Renamed"]);
  await standby.query("select pg_wal_replay_resume()");
  await replayAll();
  assert.deepEqual((await titles(other)).sort(), ["Harbour", "Renamed"]);
});

test("without the replica all reads succeed on the primary, and it is used again when it is back", async () => {
  await standby.stop();
  for (const each of [server, other]) assert.equal((await titles(each)).length, 2);
  assert.equal(await replicaState(), "error");
  await until("the metrics say so", async () => {
    const { up, lag } = await replicaMetrics();
    return up === 0 && lag === undefined;
  });
  await until("the log says so", () => server.output().stderr.includes("the read replica can't be read"));
  await standby.start();
  assert.equal(await replicaState(), "ok");
  await until("the replica is read again", async () => {
    await delay(200);
    await titles();
    return server.output().stderr.includes("the read replica can be read again");
  });
});

test("the primary crashes under load: after the replica's promotion nothing acknowledged is missing, and work continues", async () => {
  await untilStreaming(primary);
  // From now on a commit is acknowledged when the standby has it.
  await primary.query("alter system set synchronous_standby_names = 'standby'");
  await primary.query("select pg_reload_conf()");
  await until("the standby is synchronous", async () => {
    const rows = await primary.query("select 1 from pg_stat_replication where sync_state = 'sync'");
    return rows.length > 0;
  });
  const receiver = await startHookReceiver();
  const hook = await call(
    server,
    "POST",
    "/hooks/create",
    { hook_url: receiver.url, hook_type: "recording_added" },
    { token, version: olderVersion },
  );
  assert.equal(hook.status, 200, hook.text);
  receiver.requests.length = 0;

  const acknowledged: string[] = [];
  const responses: Answer[] = [];
  let isLoading = true;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isLoading) {
        const answer = await call(server, "POST", "/uploads/create", transcript, { token });
        responses.push(answer);
        if (answer.status === 200) acknowledged.push(answer.body.id);
        await delay(50);
      }
    }),
  );
  const untilAcknowledged = (more: number): Promise<true> => {
    const wanted = acknowledged.length + more;
    return until("uploads are accepted", () => acknowledged.length >= wanted || undefined);
  };
  await untilAcknowledged(20);
  await primary.crash();
  // Before its promotion the replica accepts connections, but no changes.
  forwarder.moveTo(standby.port);
  const refusedBefore = responses.length;
  await until("requests are refused", () => responses.length >= refusedBefore + 8);
  assert.ok(
    responses.slice(refusedBefore + 4).every(({ status }) => status === 503),
    "a request succeeded on a standby",
  );
  assert.equal((await fetch(`${server.url}/readyz`)).status, 503);
  await standby.query("select pg_promote()");
  await untilAcknowledged(20);
  isLoading = false;
  await load;

  for (const { status, text, headers } of responses) {
    assert.ok(status === 200 || status === 503, text);
    if (status === 503) assert.ok(Number(headers.get("retry-after")) > 0);
  }
  const recordings = new Set<string>();
  await until("every acknowledged upload is a recording", async () => {
    await delay(200);
    for (const id of acknowledged.slice(recordings.size)) {
      const { body } = await call(server, "POST", `/uploads/${id}`, {}, { token });
      if (body.status !== "success") return false;
      recordings.add(body.recording_id);
    }
    return true;
  });
  await until("every recording is announced", () => {
    const announced = new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.id));
    return [...recordings].every((id) => announced.has(id));
  });
  assert.ok(server.isRunning && other.isRunning);
});
