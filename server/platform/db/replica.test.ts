import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { createTestDatabase } from "../../../test/support/database.ts";
import { startReplicatedDatabase } from "../../../test/support/replicated-database.ts";
import { startTcpForwarder } from "../../../test/support/tcp-forwarder.ts";
import { until } from "../../../test/support/until.ts";
import { openDatabase, readFor } from "./database.ts";
import type { Queryable } from "./replica.ts";

const { primary, standby } = await startReplicatedDatabase();
// All that reads of a replica need of the schema.
await primary.query(
  `create table recent_changes (workspace_id uuid, user_id uuid, position pg_lsn, changed_at timestamptz);
   create table events (id bigint, workspace_id uuid, xid xid8);
   grant select on recent_changes, events to parley`,
  "parley",
);
await until("the standby has the tables", async () => {
  const [row] = await standby.query("select 1 from pg_tables where tablename = 'events'", "parley");
  return row !== undefined;
});

/** Reads through a pool with a replica. @returns what each read ran on, and what was reported. */
function openPair(primaryUrl: string, replicaUrl: string) {
  const states: (string | null)[] = [];
  const db = openDatabase(
    { connectionString: primaryUrl },
    {
      onError: () => {},
      replica: {
        settings: { connectionString: replicaUrl },
        onState: (error) => states.push(error?.message ?? null),
      },
    },
  );
  const reader = { workspaceId: randomUUID(), userId: randomUUID() };
  const read = <T>(work: (source: Queryable) => Promise<T>): Promise<T> => readFor(db, reader, work);
  return {
    states,
    read,
    backend: () =>
      read(async (source) => {
        const { rows } = await source.query<{ pid: number; is_replica: boolean }>(
          "select pg_backend_pid() as pid, pg_is_in_recovery() as is_replica",
        );
        return rows[0];
      }),
    isPrimary: (source: Queryable) => source === db.pool,
    close: () => db.close(),
  };
}

test("a server that is not a replica of this database is never read, and the log says why", async () => {
  const unrelated = await createTestDatabase();
  after(() => unrelated.drop());
  for (const [primaryUrl, replicaUrl, reason] of [
    [primary.url, primary.url, /is not a replica \(any more\)/],
    [primary.url, standby.url.replace(/parley$/, "postgres"), /is not a replica of PARLEY_DATABASE_URL/],
    [unrelated.url, standby.url, /is not a replica of PARLEY_DATABASE_URL/],
  ] as const) {
    const pair = openPair(primaryUrl, replicaUrl);
    assert.equal((await pair.backend())?.is_replica, false);
    assert.equal(pair.states.length, 1);
    assert.match(pair.states[0] ?? "", reason);
    await pair.close();
  }
});

test("an error of the caller keeps the connection to the replica", async () => {
  const pair = openPair(primary.url, standby.url);
  const before = await pair.backend();
  assert.equal(before?.is_replica, true);
  await assert.rejects(
    pair.read(async (source) => {
      await source.query("select 1");
      throw new Error("refused");
    }),
    /refused/,
  );
  assert.deepEqual(await pair.backend(), before);
  assert.deepEqual(pair.states, []);
  await pair.close();
});

test("a read that the replica ends because of a conflict with replay is repeated on the primary", async () => {
  await standby.query("alter system set max_standby_streaming_delay = '50ms'");
  await standby.query("select pg_reload_conf()");
  await primary.query(
    "create table removed as select generate_series(1, 1000) as id; grant select on removed to parley",
    "parley",
  );
  await until("the standby has the rows", async () => {
    const [row] = await standby.query("select 1 from pg_tables where tablename = 'removed'", "parley");
    return row !== undefined;
  });
  const pair = openPair(primary.url, standby.url);
  const begun = Promise.withResolvers<void>();
  const inProgress = pair.read(async (source) => {
    if (pair.isPrimary(source)) return "primary";
    const reading = source.query(
      "select count(*), pg_sleep(50) from (select * from removed limit 1) r group by id",
    );
    begun.resolve();
    await reading;
    return "replica";
  });
  await begun.promise;
  await until("the read has begun", async () => {
    const [row] = await standby.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'");
    return row !== undefined;
  });
  await primary.query("delete from removed", "parley");
  await primary.query("vacuum removed", "parley");
  assert.equal(await inProgress, "primary");
  assert.match(pair.states[0] ?? "", /conflict with recovery/);
  await pair.close();
  await standby.query("alter system reset max_standby_streaming_delay");
  await standby.query("select pg_reload_conf()");
});

test("a replica that vanishes without a word delays no read for long, also those in progress", async () => {
  const path = await startTcpForwarder(standby.port);
  const pair = openPair(primary.url, standby.url.replace(String(standby.port), String(path.port)));
  assert.equal((await pair.backend())?.is_replica, true);
  const begun = Promise.withResolvers<void>();
  const inProgress = pair.read(async (source) => {
    if (pair.isPrimary(source)) return "primary";
    begun.resolve();
    await source.query("select pg_sleep(50)");
    return "replica";
  });
  await begun.promise;
  path.silence();
  const began = performance.now();
  assert.equal((await pair.backend())?.is_replica, false);
  assert.equal(await inProgress, "primary");
  const ms = performance.now() - began;
  assert.ok(ms < 10_000, `it took ${ms} ms`);
  assert.equal(pair.states.length, 1);
  await pair.close();
});
