import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { jobContext } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { databaseQueries } from "../../operations/metrics/database-gauges.ts";
import { findFailedJobs } from "../../operations/system/jobs/queries.ts";
import { promoteUploadKind } from "../../processing/uploads/promotion/promote.ts";
import type { Job } from "./define.ts";
import { startPump } from "./pump.ts";
import {
  beat,
  beatLater,
  type ClaimedJob,
  claimJob,
  completeJob,
  failJob,
  findMsUntilDue,
  takeFromTheDead,
} from "./queries.ts";
import { enqueueJob } from "./queue.ts";

const app = await startTestApp({ worker: false });
const { db, jobs } = app;
const { pool } = db;

/** Ids of uploads that don't exist, by a readable name. */
const ids = new Map<string, string>();
const nameOf = (uploadId: string): string | undefined => [...ids].find(([, id]) => id === uploadId)?.[0];

function idOf(name: string): string {
  const id = ids.get(name) ?? randomUUID();
  ids.set(name, id);
  return id;
}

async function enqueue(name: string): Promise<void> {
  await db.kysely
    .transaction()
    .execute((tx) => jobs.enqueue(tx, "promote_upload", { uploadId: idOf(name) }, name));
}

async function countJobs(): Promise<number> {
  return (await pool.query("select 1 from jobs where name = 'promote_upload'")).rows.length;
}

const deleteAll = () => pool.query("delete from jobs where name = 'promote_upload'");
const claim = (): Promise<ClaimedJob | undefined> => claimJob(pool, "promote_upload", "anyone");

async function claimed(): Promise<ClaimedJob> {
  const job = await claim();
  if (job === undefined) throw new Error("no job is due");
  return job;
}

/** The kind of these jobs with work of a test's own. */
function kind(concurrency: number, work: (uploadId: string) => Promise<void>, more: Partial<Job> = {}): Job {
  return {
    ...promoteUploadKind,
    concurrency,
    hasReservedSlots: () => false,
    async run(_context, data) {
      await work((data as { uploadId: string }).uploadId);
      return null;
    },
    ...more,
  };
}

test("a job exists exactly when its transaction commits, and once per key", async () => {
  await assert.rejects(
    db.kysely.transaction().execute(async (tx) => {
      await jobs.enqueue(tx, "promote_upload", { uploadId: idOf("a") }, "a");
      throw new Error("rolled back");
    }),
  );
  assert.equal(await countJobs(), 0);
  await enqueue("a");
  await enqueue("a");
  assert.equal(await countJobs(), 1);
  await deleteAll();
});

test("requested while it runs: ignored, or run once more if its kind says so", async () => {
  for (const whileRunning of ["ignored", "repeated"] as const) {
    const request = () =>
      db.kysely
        .transaction()
        .execute((tx) =>
          enqueueJob(tx, { ...promoteUploadKind, whileRunning }, { uploadId: idOf("again") }, "again"),
        );
    await request();
    const first = await claimed();
    await request();
    await request();
    assert.equal(await claim(), undefined, "it doesn't run twice at once");
    await completeJob(pool, first);
    const second = await claim();
    assert.equal(second?.attempts, whileRunning === "repeated" ? 1 : undefined);
    if (second !== undefined) await completeJob(pool, second);
    assert.equal(await countJobs(), 0);
  }
});

test("requested while it runs, in a transaction that ends after the run: it runs once more", async () => {
  const kindOf = { ...promoteUploadKind, whileRunning: "repeated" as const };
  const request = (whenRequested: () => Promise<void>) =>
    db.kysely.transaction().execute(async (tx) => {
      await enqueueJob(tx, kindOf, { uploadId: idOf("late") }, "late");
      await whenRequested();
    });
  await request(async () => undefined);
  const first = await claimed();
  let completing: Promise<void> | undefined;
  await request(async () => {
    completing = completeJob(pool, first);
    await until("the completion waits for the request", async () => {
      const { rows } = await pool.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'delete from jobs%' and datname = current_database()",
      );
      return rows.length > 0;
    });
  });
  await completing;
  const second = await claimed();
  assert.equal(second.attempts, 1);
  await completeJob(pool, second);
  assert.equal(await countJobs(), 0);
});

test("released: a job whose worker died is there again at once, once, and as new", async () => {
  await enqueue("b");
  const taken = await claimed();
  assert.deepEqual(taken.data, { uploadId: idOf("b") });
  assert.equal(await claim(), undefined);
  await takeFromTheDead(db.kysely, "all");
  const again = await claimed();
  assert.deepEqual([again.data, again.attempts], [{ uploadId: idOf("b") }, 1]);
  // The dead worker's late word about its attempt changes nothing.
  await completeJob(pool, taken);
  assert.equal(await countJobs(), 1);
  await deleteAll();
});

test("heartbeats: a job that a request holds doesn't keep the others from saying that they run", async () => {
  await enqueue("b");
  await enqueue("c");
  const [held, other] = [await claimed(), await claimed()];
  await pool.query(
    "update jobs set heartbeat_at = now() - interval '100 seconds', started_at = now() - interval '100 seconds'",
  );
  const silent = async (): Promise<string[]> =>
    (await pool.query("select key from jobs where heartbeat_at < now() - interval '50 seconds'")).rows.map(
      ({ key }) => key,
    );
  const client = await pool.connect();
  await client.query("begin");
  await client.query("select 1 from jobs where key = $1 for update", [held.key]);
  assert.deepEqual(await beat(pool, [held.runId, other.runId]), [held.runId]);
  assert.deepEqual(await silent(), [held.key]);
  assert.deepEqual(await supervise(), []);
  const later = beatLater(pool, [held.runId]);
  await client.query("commit");
  client.release();
  await later;
  assert.deepEqual(await silent(), []);
  await deleteAll();
});

/** A job that a worker has taken, as if it had run for so many seconds when the worker died. */
async function die(ranForSeconds: number): Promise<ClaimedJob | undefined> {
  const job = await claim();
  await pool.query(
    `update jobs set started_at = now() - interval '100 seconds',
       heartbeat_at = now() - interval '100 seconds' + $1 * interval '1 second' where run_id is not null`,
    [ranForSeconds],
  );
  return job;
}

/** What the supervision of a worker does. */
const supervise = () => takeFromTheDead(db.kysely, "silent");

test("stopped: a job whose process died twice while it ran, listed as failed until someone starts it again", async () => {
  await enqueue("f");
  await die(20);
  assert.deepEqual(await supervise(), []);
  // Another process that finds the same death doesn't count it again.
  assert.deepEqual(await supervise(), []);
  assert.ok(await die(20));
  assert.deepEqual(await supervise(), [{ name: "promote_upload", key: "f" }]);
  assert.deepEqual(await supervise(), []);
  assert.equal(await claim(), undefined);
  const client = await pool.connect();
  assert.equal(await findMsUntilDue(client, ["promote_upload"]), Number.POSITIVE_INFINITY);
  client.release();
  const [failed] = await findFailedJobs(db.kysely);
  assert.equal(failed?.key, "f");
  assert.equal(failed?.next_at, null);
  assert.match(failed?.error ?? "", /the process ended twice while this job ran/);
  const gauges = await pool.query(
    databaseQueries(["promote_upload", "send_mail"]).find(({ name }) => name === "jobs")?.sql ?? "",
  );
  assert.deepEqual(
    gauges.rows.filter(({ jobs }) => jobs > 0).map(({ queue, state, jobs }) => [queue, state, jobs]),
    [["promote_upload", "stopped", 1]],
  );
  await enqueue("f");
  assert.ok(await claim(), "asked for again, it runs");
  await deleteAll();
});

test("stopped: the deaths of the only worker count too, and what it had just begun counts as a third", async () => {
  await enqueue("g");
  await die(20);
  assert.deepEqual(await takeFromTheDead(db.kysely, "all"), []);
  for (let time = 1; time <= 2; time++) {
    await die(1);
    assert.deepEqual(await takeFromTheDead(db.kysely, "all"), []);
  }
  await die(1);
  assert.deepEqual(await takeFromTheDead(db.kysely, "all"), [{ name: "promote_upload", key: "g" }]);
  assert.equal(await claim(), undefined);
  await deleteAll();
});

test("a job that fails, or is handed back at the end of its worker, is never stopped", async () => {
  await enqueue("h");
  for (let time = 1; time <= 4; time++) {
    await failJob(pool, await claimed(), "not this time", 0);
    assert.deepEqual(await supervise(), []);
  }
  assert.equal((await claimed()).attempts, 5);
  await deleteAll();
});

test("the pump: no more at once than allowed, a failed job is tried again, and stopping waits for what runs", async () => {
  const running = { now: 0, most: 0 };
  const attempts = new Map<string, number>();
  let started = Promise.withResolvers<void>();
  const pump = startPump(jobContext(app), [
    kind(3, async (uploadId) => {
      running.now += 1;
      started.resolve();
      running.most = Math.max(running.most, running.now);
      const attempt = (attempts.get(uploadId) ?? 0) + 1;
      attempts.set(uploadId, attempt);
      await pool.query("select pg_sleep(0.02)");
      running.now -= 1;
      if (nameOf(uploadId) === "c3" && attempt === 1) throw new Error("not this time");
    }),
  ]);
  for (let index = 0; index < 20; index++) await enqueue(`c${index}`);
  jobs.wake();
  await until("all jobs are done", async () => (await countJobs()) === 0);
  assert.equal(attempts.size, 20);
  assert.equal(attempts.get(idOf("c3")), 2);
  assert.ok(running.most > 1 && running.most <= 3, `${running.most} at once`);
  started = Promise.withResolvers<void>();
  for (let index = 0; index < 3; index++) await enqueue(`d${index}`);
  jobs.wake();
  await started.promise;
  await pump.stop(10_000);
  assert.equal(running.now, 0);
  await deleteAll();
});

test("the pump: what does not end in time is handed back as if it had not been taken", async () => {
  const started = Promise.withResolvers<void>();
  const forever = Promise.withResolvers<void>();
  const pump = startPump(jobContext(app), [
    kind(1, () => {
      started.resolve();
      return forever.promise;
    }),
  ]);
  await enqueue("e");
  jobs.wake();
  await started.promise;
  await pump.stop(50);
  const { rows } = await pool.query("select run_id, attempts, error from jobs where key = 'e'");
  assert.deepEqual(rows, [{ run_id: null, attempts: 0, error: null }]);
  forever.resolve();
  await deleteAll();
});

test("the pump: a job that takes longer than its timeout fails, and one with a limit of retries is stopped after them", async () => {
  const pump = startPump(jobContext(app), [
    kind(1, () => new Promise<void>(() => {}), { timeoutMs: 20, retries: 1 }),
  ]);
  await enqueue("i");
  jobs.wake();
  const row = async () =>
    (await pool.query("select is_stopped, attempts, error from jobs where key = 'i'")).rows[0];
  await until("it is stopped", async () => (await row()).is_stopped);
  const { attempts, error } = await row();
  assert.equal(attempts, 2);
  assert.match(error, /has taken more than/);
  await pump.stop(1000);
  await deleteAll();
});

test("a payload that its schema doesn't know fails the job and not the worker", async () => {
  const pump = startPump(jobContext(app), [promoteUploadKind]);
  await pool.query("insert into jobs (name, key, data) values ('promote_upload', 'j', '{}')");
  jobs.wake();
  await until("it has failed", async () => {
    const { rows } = await pool.query("select error from jobs where key = 'j'");
    return /uploadId/.test(rows[0]?.error ?? "");
  });
  await pump.stop(1000);
  await deleteAll();
});
