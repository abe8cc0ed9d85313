import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { makeWorkspace, type TestWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import { startManagement } from "../test/management.ts";
import { startDeliveries } from "./dispatcher.ts";

const { app, db, makeHook } = await startManagement({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});

/** Records an event for each subject in one transaction. */
async function recordAll(workspace: TestWorkspace, subjects: readonly string[]): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    for (const [n, subjectId] of subjects.entries())
      await recordEvent(tx, {
        workspaceId: workspace.id,
        type: "recording_deleted",
        subjectId,
        audience: [],
        data: { id: subjectId, n },
      });
  });
  app.jobs.wake();
}

/** Waits until all deliveries of a hook are delivered. */
const allDelivered = (hookId: string, count: number) =>
  until("all is delivered", async () => {
    const { rows } = await db.pool.query(
      `select count(*)::integer as total, count(*) filter (where state = 'delivered')::integer as delivered
       from deliveries where hook_id = $1`,
      [hookId],
    );
    return rows[0].total === count && rows[0].delivered === count ? true : undefined;
  });

test("a receiver gets one request at a time until it has responded, then sixteen, and one of each subject", async () => {
  const receiver = await startHookReceiver();
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace, url: receiver.url });
  const concurrent = new Map<string, number>();
  const maxima = { first: 0, later: 0, ofSubject: 0 };
  receiver.otherwise(async ({ body }, response) => {
    const isFirst = receiver.requests.length === 1;
    const subject: string = JSON.parse(body).data.id;
    concurrent.set(subject, (concurrent.get(subject) ?? 0) + 1);
    await delay(isFirst ? 200 : 10);
    const all = [...concurrent.values()].reduce((sum, count) => sum + count, 0);
    maxima.ofSubject = Math.max(maxima.ofSubject, concurrent.get(subject) ?? 0);
    if (isFirst) maxima.first = all;
    else maxima.later = Math.max(maxima.later, all);
    concurrent.set(subject, (concurrent.get(subject) ?? 1) - 1);
    response.end();
  });
  const subjects = Array.from({ length: 60 }, unknownId);
  await recordAll(workspace, [...subjects, ...subjects.slice(0, 3), ...subjects.slice(0, 3)]);
  await allDelivered(id, 66);
  assert.deepEqual([maxima.first, maxima.ofSubject], [1, 1]);
  assert.ok(maxima.later > 3 && maxima.later <= 16, `${maxima.later} at a time`);
});

test("two processes send each delivery once, and first attempts of a subject in order", async () => {
  const second = startDeliveries({
    ...app,
    log: pino({ level: "silent" }),
    hostLimit: { take: async () => 0 },
    clock: { now: () => new Date() },
    isClockTrusted: async () => true,
    scheduleMs: app.config.hookRetryScheduleMs,
    random: Math.random,
  });
  try {
    const receivers = await Promise.all([1, 2, 3].map(() => startHookReceiver()));
    const workspace = await makeWorkspace(db);
    const hooks = [];
    for (const { url } of receivers) hooks.push(await makeHook({ of: workspace, url }));
    const subjects = Array.from({ length: 10 }, unknownId);
    for (let round = 0; round < 30; round += 1) {
      await recordAll(workspace, subjects);
      second.wake();
      await delay(5);
    }
    for (const { id } of hooks) await allDelivered(id, 300);
    for (const { requests } of receivers) {
      assert.equal(new Set(requests.map(({ headers }) => headers["webhook-id"])).size, requests.length);
      assert.equal(requests.length, 300);
    }
    const { rows } = await db.pool.query(
      `select count(*)::integer as wrong from (
         select first_at, lag(first_at) over (partition by hook_id, subject_id order by event_id) as before
         from deliveries where hook_id = any($1::uuid[])) x where first_at < before`,
      [hooks.map(({ id }) => id)],
    );
    assert.equal(rows[0].wrong, 0);
  } finally {
    await second.stop();
  }
});

test("deliveries replayed ahead of a long backlog are sent once, and nothing in flight is sent twice", async () => {
  const receiver = await startHookReceiver();
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace, url: receiver.url });
  // Four at a time.
  await db.pool.query(`update hooks set include = '{"transcript":true}' where id = $1`, [id]);
  const count = 200;
  let concurrent = 0;
  let maxConcurrent = 0;
  receiver.otherwise(async (_request, response) => {
    const number = receiver.requests.length;
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    if (number === 100) {
      // Results are saved a while after the responses.
      await until("some are delivered", async () => {
        const { rows } = await db.pool.query(
          "select 1 from deliveries where hook_id = $1 and state = 'delivered' limit 6",
          [id],
        );
        return rows.length === 6 ? true : undefined;
      });
      // As a replay of old events leaves them.
      await db.pool.query(
        `update deliveries set state = 'pending', due_at = now() - interval '1 hour', attempts_before = attempts,
           settled_at = null
         where id in (select id from deliveries where hook_id = $1 and state = 'delivered' order by id limit 6)`,
        [id],
      );
    }
    // One is still in flight when the replayed ones are sent.
    await delay(number === 150 ? 1500 : 5);
    concurrent -= 1;
    response.end();
  });
  await recordAll(workspace, Array.from({ length: count }, unknownId));
  await allDelivered(id, count);
  const times = new Map<unknown, number>();
  for (const { headers } of receiver.requests)
    times.set(headers["webhook-id"], (times.get(headers["webhook-id"]) ?? 0) + 1);
  assert.equal(times.size, count);
  assert.equal(receiver.requests.length, count + 6);
  assert.equal([...times.values()].filter((sent) => sent === 2).length, 6);
  assert.ok(maxConcurrent > 1 && maxConcurrent <= 4, `${maxConcurrent} at a time`);
});
