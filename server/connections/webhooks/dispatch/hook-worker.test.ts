import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { record } from "../../../platform/events/record.ts";
import { startManagement } from "../test/management.ts";

const { app, db, makeHook } = await startManagement({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});

test("deliveries replayed ahead of a long backlog are sent once, and nothing in flight is sent twice", async () => {
  const receiver = await startHookReceiver();
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace, url: receiver.url });
  // Four at a time, so that the worker soon starts from the earliest delivery again.
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
  await db.kysely.transaction().execute(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      const subjectId = unknownId();
      await record(tx, {
        workspaceId: workspace.id,
        type: "recording_deleted",
        subjectId,
        audience: [],
        data: { id: subjectId },
      });
    }
  });
  app.jobs.wake();
  await until("all is delivered", async () => {
    const { rows } = await db.pool.query(
      `select count(*)::integer as total, count(*) filter (where state = 'delivered')::integer as delivered
       from deliveries where hook_id = $1`,
      [id],
    );
    return rows[0].total === count && rows[0].delivered === count ? true : undefined;
  });
  const times = new Map<unknown, number>();
  for (const { headers } of receiver.requests)
    times.set(headers["webhook-id"], (times.get(headers["webhook-id"]) ?? 0) + 1);
  assert.equal(times.size, count);
  assert.equal(receiver.requests.length, count + 6);
  assert.equal([...times.values()].filter((sent) => sent === 2).length, 6);
  assert.ok(maxConcurrent > 1 && maxConcurrent <= 4, `${maxConcurrent} at a time`);
});
