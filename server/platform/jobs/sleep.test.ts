import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { until } from "../../../test/support/until.ts";
import { type DueCheck, type Sleep, startSleep } from "./sleep.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;
const log = pino({ level: "silent" });

/** A worker that polls a table of its own. */
async function startSleeper(extra: DueCheck[] = []): Promise<Sleep & { wakes: number }> {
  const own = { wakes: 0 };
  const check: DueCheck = async (client) => {
    const { rows } = await client.query("select 1 from waiting_events limit 1");
    return rows.length > 0 ? 0 : Number.POSITIVE_INFINITY;
  };
  const sleep = startSleep({
    db: app.db,
    log,
    dueChecks: [check, ...extra],
    onWake: () => {
      own.wakes += 1;
    },
  });
  after(() => sleep.stop());
  return Object.assign(sleep, own, {
    get wakes() {
      return own.wakes;
    },
  });
}

const asleep = (sleep: Sleep) => until("it sleeps", () => sleep.isAsleep());

/** Connections that hold the lock for sleeping workers. */
async function holders(): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.map(({ pid }) => pid);
}

test("sleep: a commit of any process wakes every sleeping worker at once, and what waits keeps them awake", async () => {
  const [first, second] = [await startSleeper(), await startSleeper()];
  await Promise.all([asleep(first), asleep(second)]);
  assert.equal((await holders()).length, 1);
  const startedAt = performance.now();
  await pool.query("insert into waiting_events values (1)");
  await until("both are awake", () => !first.isAsleep() && !second.isAsleep());
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 1000, `${tookMs} ms`);
  await delay(3000);
  assert.ok(!first.isAsleep() && !second.isAsleep());
  await pool.query("delete from waiting_events");
  await Promise.all([asleep(first), asleep(second)]);
  await Promise.all([first.stop(), second.stop()]);
  assert.deepEqual(await holders(), []);
});

test("sleep: no worker falls asleep over a transaction that adds work and has not committed yet", async () => {
  const client = await pool.connect();
  await client.query("begin");
  await client.query("insert into waiting_events values (2)");
  const sleep = await startSleeper();
  await delay(4000);
  assert.ok(!sleep.isAsleep());
  await client.query("commit");
  await delay(2000);
  assert.ok(!sleep.isAsleep());
  await pool.query("delete from waiting_events");
  client.release();
  await asleep(sleep);
  await sleep.stop();
});

test("sleep: work that becomes due by time wakes the worker then", async () => {
  let dueAt = performance.now() + 6000;
  const sleep = await startSleeper([async () => dueAt - performance.now()]);
  await asleep(sleep);
  await until("it is awake", () => !sleep.isAsleep());
  assert.ok(Math.abs(performance.now() - dueAt) < 1500, `${performance.now() - dueAt} ms late`);
  dueAt = Number.POSITIVE_INFINITY;
  await sleep.stop();
});

test("sleep: a worker that loses its connection polls, and others sleep and wake without it", async () => {
  const [first, second] = [await startSleeper(), await startSleeper()];
  await Promise.all([asleep(first), asleep(second)]);
  const [holder] = await holders();
  await pool.query("select pg_terminate_backend($1)", [holder]);
  await until("the one that held the lock is awake", () => !first.isAsleep() || !second.isAsleep());
  const other = first.isAsleep() ? first : second;
  await until("the other one has taken the lock", async () => (await holders()).length === 1);
  await pool.query("insert into waiting_events values (3)");
  await until("it is woken", () => !other.isAsleep());
  await pool.query("delete from waiting_events");
  await Promise.all([first.stop(), second.stop()]);
});

test("sleep: a busy worker checks for work once a second, however many jobs this process adds", async () => {
  let checks = 0;
  const sleep = await startSleeper([
    async () => {
      checks += 1;
      return 0;
    },
  ]);
  for (const end = performance.now() + 3000; performance.now() < end; await delay(5)) sleep.wake();
  assert.ok(checks >= 1 && checks <= 4, `${checks} checks`);
  const startedAt = performance.now();
  await sleep.stop();
  assert.ok(performance.now() - startedAt < 900, "stopping does not wait for the next check");
});

test("sleep: writers notify only while a worker sleeps", async () => {
  const { rows } = await pool.query(
    "insert into waiting_events values (4) returning pg_try_advisory_xact_lock_shared(7271539026) as is_free",
  );
  assert.equal(rows[0].is_free, true);
  await pool.query("delete from waiting_events");
});
