import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { takeEarlierJobs } from "./queries.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;

test("jobs that wait in the queue of an earlier version are taken over once; those its living processes run stay theirs", async () => {
  await takeEarlierJobs(pool);
  await pool.query(`
    create schema pgboss;
    create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
    create table pgboss.job (
      id uuid not null default gen_random_uuid(), name text not null, data jsonb, state pgboss.job_state not null,
      retry_count integer not null default 0, policy text, singleton_key text, group_id text, output jsonb,
      blocked boolean not null default false, created_on timestamptz not null default now(),
      start_after timestamptz not null default now(), started_on timestamptz, heartbeat_on timestamptz,
      primary key (name, id)
    ) partition by list (name);
    create table pgboss.of_uploads partition of pgboss.job for values in ('promote_upload');
    create table pgboss.of_mail partition of pgboss.job default;
    insert into pgboss.job (name, data, state, retry_count, policy, singleton_key, group_id, output, blocked, started_on, heartbeat_on)
    values
      ('promote_upload', '{"uploadId":"1"}', 'created', 0, 'exclusive', 'new', 'w/u', null, false, null, null),
      ('promote_upload', '{"uploadId":"2"}', 'retry', 2, 'exclusive', 'failed', 'w/u', '{"message":"no route"}', false, null, null),
      ('promote_upload', '{"uploadId":"3","deaths":{"attempt":1,"thirds":6}}', 'retry', 1, 'exclusive', 'stopped', null,
        '{"message":"the process ended twice"}', true, null, null),
      ('promote_upload', '{"uploadId":"4"}', 'active', 0, 'exclusive', 'alive', null, null, false, now(), now()),
      ('promote_upload', '{"uploadId":"5"}', 'active', 0, 'exclusive', 'dead', null, null, false, now(), now() - interval '1 minute'),
      ('send_mail', '{"encrypted":""}', 'completed', 0, 'exclusive', 'ended', null, null, false, null, null)`);
  await pool.query("insert into jobs (name, key) values ('promote_upload', 'known')");
  await pool.query(
    "insert into pgboss.job (name, data, state, policy, singleton_key) values ('promote_upload', '{}', 'created', 'exclusive', 'known')",
  );
  for (let time = 1; time <= 2; time++) {
    await takeEarlierJobs(pool);
    const { rows } = await pool.query(
      "select key, data, owner, attempts, error, is_stopped, due_at <= now() as is_due from jobs order by key",
    );
    const taken = { owner: "", attempts: 0, error: null, is_stopped: false, is_due: true };
    assert.deepEqual(rows, [
      { ...taken, key: "dead", data: { uploadId: "5" } },
      { ...taken, key: "failed", data: { uploadId: "2" }, owner: "w/u", attempts: 3, error: "no route" },
      { ...taken, key: "known", data: {} },
      { ...taken, key: "new", data: { uploadId: "1" }, owner: "w/u" },
      {
        ...{ ...taken, key: "stopped", data: { uploadId: "3" } },
        ...{ attempts: 2, error: "the process ended twice", is_stopped: true },
      },
    ]);
  }
  const { rows: left } = await pool.query("select singleton_key from pgboss.job order by 1");
  assert.deepEqual(left, [{ singleton_key: "alive" }, { singleton_key: "ended" }]);
});
