import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { until } from "../../../test/support/until.ts";
import { admissionAt, job, type Pump, startPump } from "./pump.ts";
import { openJobQueue, releaseAbandonedJobs } from "./queue.ts";

const app = await startTestApp({ worker: false });
const { db, jobs } = app;
const log = pino({ level: "silent" });
const queue = "promote_media";
const pumps: Pump[] = [];
after(() => Promise.all(pumps.map((pump) => pump.stop(1000))));

async function waiting(owner: string | null, key: string): Promise<void> {
  await jobs.boss.send(
    queue,
    { uploadId: key },
    { singletonKey: key, ...(owner === null ? {} : { group: { id: owner } }) },
  );
}

async function claim(admission: Parameters<typeof jobs.claim>[1] = "anyone") {
  const claimed = await jobs.claim(queue, admission);
  return claimed && { ...claimed, key: (claimed.data as { uploadId: string }).uploadId };
}

async function claimAndComplete(): Promise<string | undefined> {
  const claimed = await claim();
  if (claimed !== undefined) await jobs.boss.complete(queue, claimed);
  return claimed?.key;
}

async function reset(): Promise<void> {
  await jobs.boss.deleteAllJobs(queue);
  await db.pool.query("delete from job_turns");
}

test("with one slot, people take turns, and so do workspaces, whatever was there first", async () => {
  for (let n = 1; n <= 5; n++) await waiting("w1/alice", `alice ${n}`);
  await waiting("w1/bob", "bob 1");
  await waiting("w1/bob", "bob 2");
  await waiting("w2/carol", "carol 1");
  await waiting("w2/carol", "carol 2");
  const order: (string | undefined)[] = [];
  for (let n = 0; n < 9; n++) order.push(await claimAndComplete());
  assert.deepEqual(order, [
    "alice 1",
    "carol 1",
    "bob 1",
    "carol 2",
    "alice 2",
    "bob 2",
    "alice 3",
    "alice 4",
    "alice 5",
  ]);
  assert.equal(await claim(), undefined);
  await reset();
});

test("reserved slots take only people, and then workspaces, that have nothing running", async () => {
  for (let n = 1; n <= 3; n++) await waiting("w1/alice", `alice ${n}`);
  assert.equal((await claim())?.key, "alice 1");
  assert.equal(await claim("idle_person"), undefined);
  await waiting("w1/bob", "bob 1");
  assert.equal(await claim("idle_workspace"), undefined);
  await waiting("w2/carol", "carol 1");
  assert.equal((await claim("idle_workspace"))?.key, "carol 1");
  assert.equal((await claim("idle_person"))?.key, "bob 1");
  assert.equal((await claim())?.key, "alice 2");
  await reset();
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((taken) => admissionAt(taken, { concurrency: 1, hasReservedSlots: true })),
    ["anyone", "idle_person", "idle_person", "idle_workspace", null],
  );
  assert.equal(admissionAt(1, { concurrency: 1 }), null);
});

test("a claimed job is retried, fenced and completed by pg-boss as one of its own", async () => {
  await waiting(null, "mail");
  await waiting("w1/alice", "alice");
  const keys = new Set([(await claim())?.key, (await claim())?.key]);
  assert.deepEqual(keys, new Set(["mail", "alice"]));
  assert.equal(await claim(), undefined);
  // As after a crash: the owner stays with the job.
  await releaseAbandonedJobs(db, jobs);
  const { rows } = await db.pool.query(
    "select singleton_key, group_id from pgboss.job where name = $1 and state = 'created' order by 1",
    [queue],
  );
  assert.deepEqual(rows, [
    { singleton_key: "alice", group_id: "w1/alice" },
    { singleton_key: "mail", group_id: null },
  ]);
  const again = await claim();
  assert.equal(again?.retryCount, 0);
  await jobs.boss.fail(queue, { id: again?.id ?? "", retryCount: 0 });
  await db.pool.query("update pgboss.job set start_after = now() where state = 'retry'");
  const retried = [await claim(), await claim()].find((one) => one?.key === again?.key);
  assert.equal(retried?.retryCount, 1);
  await reset();
});

test("five long jobs of one person leave slots to others, with one worker and with two", async () => {
  for (const workers of [1, 2]) {
    const release = Promise.withResolvers<void>();
    const started = new Set<string>();
    const queues = [jobs];
    while (queues.length < workers)
      queues.push(
        await openJobQueue({
          pool: db.pool,
          onError: (error) => {
            throw error;
          },
        }),
      );
    const long = job({
      name: queue,
      concurrency: 1,
      hasReservedSlots: true,
      run: async ({ uploadId }) => {
        started.add(uploadId);
        if (uploadId.startsWith("long")) await release.promise;
      },
    });
    for (let n = 1; n <= 5; n++) await waiting("w1/alice", `long ${n}`);
    const running = queues.map((one) => startPump(one, [long], log));
    pumps.push(...running);
    await until("every shared slot works for Alice", async () => started.size === workers);
    const begunAt = Date.now();
    await waiting("w1/bob", "short of Bob");
    await waiting("w2/carol", "short of Carol");
    await until("the short jobs ran", async () => started.size === workers + 2);
    assert.ok(Date.now() - begunAt < 5000);
    assert.ok([...started].filter((key) => key.startsWith("long")).length === workers);
    release.resolve();
    await until("all jobs ran", async () => started.size === 7);
    await Promise.all(running.map((pump) => pump.stop(5000)));
    for (const other of queues.slice(1)) await other.close();
    await reset();
  }
});

test("claiming costs the same with 20,000 jobs of one person before it", async () => {
  await db.pool.query(
    `insert into pgboss.job (name, data, singleton_key, group_id, policy)
    select $1, '{"uploadId": "backlog"}', 'backlog ' || n, 'w1/alice', 'exclusive' from generate_series(1, 20000) n`,
    [queue],
  );
  await db.pool.query("analyze pgboss.job");
  await waiting("w1/bob", "bob");
  const begunAt = performance.now();
  for (let n = 0; n < 20; n++) await claimAndComplete();
  const msEach = (performance.now() - begunAt) / 20;
  assert.ok(msEach < 50, `${msEach} ms for one job`);
  const { rows } = await db.pool.query(
    "select count(*)::integer as waiting from pgboss.job where name = $1 and state = 'created' and group_id = 'w1/bob'",
    [queue],
  );
  assert.deepEqual(rows, [{ waiting: 0 }]);
  await reset();
});
