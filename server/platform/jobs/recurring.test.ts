import assert from "node:assert/strict";
import { after, test } from "node:test";
import { z } from "zod";
import { startTestApp } from "../../../test/support/app.ts";
import { jobContext } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { defineRecurringJob, type Guard, type Job } from "./define.ts";
import { type Pump, startPump } from "./pump.ts";
import { correctFutureRuns } from "./queries.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;
const pumps: Pump[] = [];
const label = () => "Example";
after(() => Promise.all(pumps.map((pump) => pump.stop(1000))));

function start(kinds: readonly Job[], mayRun?: (guard: Guard) => Promise<boolean>): Pump {
  const pump = startPump(jobContext(app), kinds, mayRun === undefined ? {} : { mayRun });
  pumps.push(pump);
  return pump;
}

async function rowOf(name: string) {
  const { rows } = await pool.query(
    `select run_id, attempts, error, data, round(extract(epoch from due_at - now()))::integer as due_in
     from jobs where name = $1`,
    [name],
  );
  return rows[0];
}

test("the next time is a multiple of the interval, or the time of day, also when the clocks change", () => {
  const of = (times: { every: "10 min" | "sweep" } | { at: string }): Job =>
    defineRecurringJob({ name: "example", label, ...times, handler: async () => {} });
  const next = (kind: Job, now: Date) =>
    new Date(now.getTime() + (kind.msUntilNext(app.config, now) ?? Number.NaN)).getTime();
  const now = new Date(2026, 2, 28, 23, 56, 30);
  assert.equal(next(of({ every: "10 min" }), now), new Date(2026, 2, 29, 0, 0).getTime());
  assert.equal(next(of({ every: "sweep" }), now), new Date(2026, 2, 28, 23, 57).getTime());
  assert.equal(next(of({ at: "23:57" }), now), new Date(2026, 2, 28, 23, 57).getTime());
  assert.equal(next(of({ at: "03:00" }), now), new Date(2026, 2, 29, 3, 0).getTime());
  assert.equal(next(of({ at: "23:56" }), now), new Date(2026, 2, 29, 23, 56).getTime());
});

test("a timeout that no timer can have is refused", () => {
  assert.throws(
    () =>
      defineRecurringJob({ name: "example", label, every: "1 h", timeout: "30 d", handler: async () => {} }),
    /the timeout of the job example is longer than 24 days/,
  );
});

test("eight workers that start together run a new recurring job once, and not again before its next time", async () => {
  let runs = 0;
  const kind = defineRecurringJob({
    name: "count_runs",
    label,
    at: "03:00",
    handler: async () => {
      runs += 1;
    },
  });
  const together = Array.from({ length: 8 }, () => start([kind]));
  await until("it has run", async () => (await rowOf("count_runs"))?.attempts === 0 && runs > 0);
  await Promise.all(together.map((pump) => pump.stop(1000)));
  // After a restart of all of them.
  const other = defineRecurringJob({ name: "run_after_it", label, every: "1 h", handler: async () => {} });
  const again = start([kind, other]);
  await until("the restarted worker has run what was new", async () => {
    const row = await rowOf("run_after_it");
    return row !== undefined && row.run_id === null && row.due_in > 0;
  });
  await again.stop(1000);
  assert.equal(runs, 1);
});

test("a recurring job that fails is listed with its error and tried again within an hour", async () => {
  const kind = defineRecurringJob({
    name: "fail_always",
    label,
    every: "1 d",
    handler: async () => {
      throw new Error("the disk is full");
    },
  });
  const pump = start([kind]);
  await until("it has failed", async () => (await rowOf("fail_always"))?.error === "the disk is full");
  await pump.stop(1000);
  assert.ok((await rowOf("fail_always")).due_in <= 3600);
});

test("a recurring job gets the state that it returned, and runs again only after the pause it asked for", async () => {
  const ran: number[] = [];
  const kind = defineRecurringJob({
    name: "keep_state",
    label,
    every: "1 s",
    schema: z.object({ count: z.number().default(0) }),
    async handler(_context, { count }) {
      ran.push(count);
      return { state: { count: count + 1 }, ...(count < 1 ? {} : { pauseMs: 7_200_000 }) };
    },
  });
  const pump = start([kind]);
  await until("it has paused", async () => (await rowOf("keep_state"))?.data.count === 2);
  await pump.stop(1000);
  assert.deepEqual(ran, [0, 1]);
  assert.ok((await rowOf("keep_state")).due_in > 7100);
});

test("a guarded job is skipped until its next time where it must not run", async () => {
  let isAllowed = false;
  let runs = 0;
  const kind = defineRecurringJob({
    name: "delete_something",
    label,
    every: "1 s",
    guard: "age",
    handler: async () => {
      runs += 1;
    },
  });
  const pump = start([kind], async (guard) => guard === "age" && isAllowed);
  await until("it was skipped", async () => (await rowOf("delete_something"))?.attempts === 0);
  assert.equal(runs, 0);
  isAllowed = true;
  await until("it has run", () => runs > 0);
  await pump.stop(1000);
});

test("after a clock that was ahead, a recurring job runs at its usual times again", async () => {
  await pool.query(
    "insert into jobs (name, key, due_at, ended_at) values ('from_the_future', '', now() + interval '60 days', now() + interval '59 days')",
  );
  await correctFutureRuns(pool);
  assert.ok((await rowOf("from_the_future")).due_in <= 0);
});
