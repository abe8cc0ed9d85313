import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { makeWorkspace, unknownId } from "../../test/support/factories.ts";
import { startHookReceiver } from "../../test/support/hook-receiver.ts";
import { until } from "../../test/support/until.ts";
import { record } from "../events/record.ts";
import { startManagement } from "./management-testing.ts";

const { app, db, makeHook } = await startManagement({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});

test("what is asked for again while much waits, and comes before it, has nothing under way sent a second time", async () => {
  const receiver = await startHookReceiver();
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace, url: receiver.url });
  // Looked for four at a time, so that the lane soon looks back at what came before.
  await db.pool.query(`update hooks set include = '{"transcript":true}' where id = $1`, [id]);
  const count = 200;
  let atOnce = 0;
  let most = 0;
  receiver.otherwise(async (_request, response) => {
    const number = receiver.requests.length;
    atOnce += 1;
    most = Math.max(most, atOnce);
    if (number === 100) {
      // Results are written a while after the answers.
      await until("there are some to ask for again", async () => {
        const { rows } = await db.pool.query(
          "select 1 from delivery_log where hook_id = $1 and state = 'delivered' limit 6",
          [id],
        );
        return rows.length === 6 ? true : undefined;
      });
      // As a replay of long ago leaves it.
      await db.pool.query(
        "select parley_unpack_delivered(array(select id from delivered_batches where hook_id = $1))",
        [id],
      );
      await db.pool.query(
        `update deliveries set state = 'pending', due_at = now() - interval '1 hour', attempts_before = attempts,
           settled_at = null
         where id in (select id from deliveries where hook_id = $1 and state = 'delivered' order by id limit 6)`,
        [id],
      );
    }
    // One is still under way when those asked for again are sent.
    await delay(number === 150 ? 1500 : 5);
    atOnce -= 1;
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
      `select count(*)::integer as made, count(*) filter (where state = 'delivered')::integer as delivered
       from delivery_log where hook_id = $1`,
      [id],
    );
    return rows[0].made === count && rows[0].delivered === count ? true : undefined;
  });
  const times = new Map<unknown, number>();
  for (const { headers } of receiver.requests)
    times.set(headers["webhook-id"], (times.get(headers["webhook-id"]) ?? 0) + 1);
  assert.equal(times.size, count);
  assert.equal(receiver.requests.length, count + 6);
  assert.equal([...times.values()].filter((sent) => sent === 2).length, 6);
  assert.ok(most > 1 && most <= 4, `${most} at a time`);
});
