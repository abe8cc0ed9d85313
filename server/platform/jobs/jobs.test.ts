import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { until } from "../../../test/support/until.ts";
import { databaseQueries } from "../../operations/metrics/database-gauges.ts";
import { findFailedJobs } from "../../operations/system/jobs/queries.ts";
import { job, startPump } from "./pump.ts";
import { msUntilJobDue, releaseAbandonedJobs } from "./queue.ts";

const app = await startTestApp({ worker: false });
const { db, jobs } = app;
const log = pino({ level: "silent" });

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
  const { rows } = await db.pool.query(
    "select 1 from pgboss.job where state in ('created', 'retry', 'active')",
  );
  return rows.length;
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
  await jobs.boss.deleteAllJobs("promote_upload");
});

test("released: a job whose worker died is there again at once, once, and as new", async () => {
  await enqueue("b");
  const [taken] = await jobs.boss.fetch<{ uploadId: string }>("promote_upload", { includeMetadata: true });
  assert.equal(taken?.data.uploadId, idOf("b"));
  assert.deepEqual(await jobs.boss.fetch("promote_upload"), []);
  await releaseAbandonedJobs(db, jobs);
  const again = await jobs.boss.fetch<{ uploadId: string }>("promote_upload", { includeMetadata: true });
  assert.deepEqual(
    again.map(({ data, retryCount }) => [data.uploadId, retryCount]),
    [[idOf("b"), 0]],
  );
  // The dead worker's late word about its attempt changes nothing.
  await jobs.boss.complete("promote_upload", { id: taken.id, retryCount: taken.retryCount });
  assert.equal(await countJobs(), 1);
  await jobs.boss.deleteAllJobs("promote_upload");
});

/** A job that a worker has taken, as if it had run for so many seconds when the worker died. */
async function die(ranForSeconds: number): Promise<string | undefined> {
  const claimed = await jobs.claim("promote_upload", "anyone");
  await db.pool.query(
    `update pgboss.job set started_on = now() - interval '100 seconds',
       heartbeat_on = now() - interval '100 seconds' + $1 * interval '1 second' where state = 'active'`,
    [ranForSeconds],
  );
  return claimed?.id;
}

/** What the supervision of a worker does. */
async function supervise() {
  const stopped = await jobs.stopDeadlyJobs();
  await jobs.boss.supervise("promote_upload");
  await db.pool.query("update pgboss.job set start_after = now() where state = 'retry'");
  return stopped;
}

test("stopped: a job whose process died twice while it ran, listed as failed until someone starts it again", async () => {
  await enqueue("f");
  await die(20);
  assert.deepEqual(await supervise(), []);
  // Another process that finds the same death doesn't count it again.
  assert.ok(await die(20));
  assert.deepEqual(await supervise(), [{ name: "promote_upload", key: "f" }]);
  assert.deepEqual(await supervise(), []);
  assert.equal(await jobs.claim("promote_upload", "anyone"), undefined);
  const client = await db.pool.connect();
  assert.equal(await msUntilJobDue(["promote_upload"])(client), Number.POSITIVE_INFINITY);
  client.release();
  const [failed] = await findFailedJobs(db.kysely);
  assert.equal(failed?.key, "f");
  assert.equal(failed?.next_at, null);
  assert.match(failed?.error ?? "", /the process ended twice while this job ran/);
  const gauges = await db.pool.query(databaseQueries.find(({ name }) => name === "jobs")?.sql ?? "");
  assert.deepEqual(
    gauges.rows.filter(({ jobs }) => jobs > 0).map(({ queue, state, jobs }) => [queue, state, jobs]),
    [["promote_upload", "stopped", 1]],
  );
  await enqueue("f");
  assert.ok(await jobs.claim("promote_upload", "anyone"), "asked for again, it runs");
  await jobs.boss.deleteAllJobs("promote_upload");
});

test("stopped: the deaths of the only worker count too, and what it had just begun counts as a third", async () => {
  await enqueue("g");
  await die(20);
  assert.deepEqual(await releaseAbandonedJobs(db, jobs), []);
  for (let time = 1; time <= 2; time++) {
    await die(1);
    assert.deepEqual(await releaseAbandonedJobs(db, jobs), []);
  }
  await die(1);
  assert.deepEqual(await releaseAbandonedJobs(db, jobs), [{ name: "promote_upload", key: "g" }]);
  assert.equal(await jobs.claim("promote_upload", "anyone"), undefined);
  await jobs.boss.deleteAllJobs("promote_upload");
});

test("a job that fails, or is handed back at the end of its worker, is never stopped", async () => {
  await enqueue("h");
  for (let time = 1; time <= 4; time++) {
    const claimed = await jobs.claim("promote_upload", "anyone");
    await jobs.boss.fail("promote_upload", { id: claimed?.id ?? "", retryCount: claimed?.retryCount ?? 0 });
    assert.deepEqual(await supervise(), []);
  }
  assert.ok(await jobs.claim("promote_upload", "anyone"));
  await jobs.boss.deleteAllJobs("promote_upload");
});

test("the pump: no more at once than allowed, a failed job is tried again, and stopping waits for what runs", async () => {
  const running = { now: 0, most: 0 };
  const attempts = new Map<string, number>();
  let started = Promise.withResolvers<void>();
  const pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 3,
        run: async ({ uploadId }) => {
          running.now += 1;
          started.resolve();
          running.most = Math.max(running.most, running.now);
          const attempt = (attempts.get(uploadId) ?? 0) + 1;
          attempts.set(uploadId, attempt);
          await db.pool.query("select pg_sleep(0.02)");
          running.now -= 1;
          if (nameOf(uploadId) === "c3" && attempt === 1) throw new Error("not this time");
        },
      }),
    ],
    log,
  );
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
  await jobs.boss.deleteAllJobs("promote_upload");
});

test("the pump: what does not end in time is handed back", async () => {
  const started = Promise.withResolvers<void>();
  const forever = Promise.withResolvers<void>();
  const pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 1,
        run: () => {
          started.resolve();
          return forever.promise;
        },
      }),
    ],
    log,
  );
  await enqueue("e");
  jobs.wake();
  await started.promise;
  await pump.stop(50);
  const { rows } = await db.pool.query("select state from pgboss.job where singleton_key = 'e'");
  assert.deepEqual(rows, [{ state: "retry" }]);
  forever.resolve();
});
