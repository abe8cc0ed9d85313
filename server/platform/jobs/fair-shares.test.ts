import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { jobContext } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { jobKinds } from "../../jobs.ts";
import { promoteMediaKind } from "../../processing/uploads/promotion/promote-media.ts";
import type { Job } from "./define.ts";
import { admissionAt, type Pump, startPump } from "./pump.ts";
import { type Admission, claimJob, completeJob, failJob, takeFromTheDead } from "./queries.ts";
import { openJobQueue } from "./queue.ts";

const app = await startTestApp({ worker: false });
const { db, jobs } = app;
const { pool } = db;
const queue = "promote_media";
const pumps: Pump[] = [];
after(() => Promise.all(pumps.map((pump) => pump.stop(1000))));

async function waiting(owner: string | null, key: string): Promise<void> {
  await pool.query("insert into jobs (name, key, data, owner) values ($1, $2, $3, $4)", [
    queue,
    key,
    { uploadId: key },
    owner ?? "",
  ]);
}

const claim = (admission: Admission = "anyone") => claimJob(pool, queue, admission);

async function claimAndComplete(): Promise<string | undefined> {
  const claimed = await claim();
  if (claimed !== undefined) await completeJob(pool, claimed);
  return claimed?.key;
}

async function reset(): Promise<void> {
  await pool.query("delete from jobs where name = $1", [queue]);
  await pool.query("delete from job_turns");
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
  assert.equal(admissionAt(1, { concurrency: 1, hasReservedSlots: false }), null);
});

test("after a crash a job keeps its owner, and a failed one is claimed again as its next attempt", async () => {
  await waiting(null, "mail");
  await waiting("w1/alice", "alice");
  const keys = new Set([(await claim())?.key, (await claim())?.key]);
  assert.deepEqual(keys, new Set(["mail", "alice"]));
  assert.equal(await claim(), undefined);
  await takeFromTheDead(db.kysely, "all");
  const { rows } = await pool.query(
    "select key, owner from jobs where name = $1 and run_id is null order by 1",
    [queue],
  );
  assert.deepEqual(rows, [
    { key: "alice", owner: "w1/alice" },
    { key: "mail", owner: "" },
  ]);
  const again = await claim();
  assert.equal(again?.attempts, 1);
  if (again !== undefined) await failJob(pool, again, "not this time", 0);
  const retried = [await claim(), await claim()].find((one) => one?.key === again?.key);
  assert.equal(retried?.attempts, 2);
  await reset();
});

test("five long jobs of one person leave slots to others, with one worker and with two", async () => {
  for (const workers of [1, 2]) {
    const release = Promise.withResolvers<void>();
    const started = new Set<string>();
    const queues = [jobs];
    while (queues.length < workers) queues.push(openJobQueue(jobKinds));
    const long: Job = {
      ...promoteMediaKind,
      concurrency: 1,
      async run(_context, data) {
        const { uploadId } = data as { uploadId: string };
        started.add(uploadId);
        if (uploadId.startsWith("long")) await release.promise;
        return null;
      },
    };
    for (let n = 1; n <= 5; n++) await waiting("w1/alice", `long ${n}`);
    const running = queues.map((one) => startPump({ ...jobContext(app), jobs: one }, [long]));
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
    await reset();
  }
});

test("claiming costs the same with 20,000 jobs of one person before it", async () => {
  await db.pool.query(
    `insert into jobs (name, data, key, owner)
    select $1, '{"uploadId": "backlog"}', 'backlog ' || n, 'w1/alice' from generate_series(1, 20000) n`,
    [queue],
  );
  await db.pool.query("analyze jobs");
  await waiting("w1/bob", "bob");
  const begunAt = performance.now();
  for (let n = 0; n < 20; n++) await claimAndComplete();
  const msEach = (performance.now() - begunAt) / 20;
  assert.ok(msEach < 50, `${msEach} ms for one job`);
  const { rows } = await db.pool.query(
    "select count(*)::integer as waiting from jobs where name = $1 and owner = 'w1/bob'",
    [queue],
  );
  assert.deepEqual(rows, [{ waiting: 0 }]);
  await reset();
});
