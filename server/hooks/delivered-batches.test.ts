import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion } from "../../test/support/app.ts";
import { makeWorkspace, unknownId } from "../../test/support/factories.ts";
import { asDelivered, batchTools } from "./batch-testing.ts";
import type { DueDelivery } from "./due-queries.ts";
import { startManagement } from "./management-testing.ts";
import { deleteOldHistory } from "./queries.ts";
import { settle } from "./settle-queries.ts";
import type { Settlement } from "./settlement.ts";

const { app, db, makeHook, deliveriesOf, happen, get, post } = await startManagement({ worker: false });

const { happenAtOnce, lookFor, waitForLock } = batchTools(db);

const settleAll = (hookId: string, settlements: readonly Settlement[]) =>
  settle(db.pool, [{ hookId, settlements, verdict: {} }], new Date());

/** A result that tells which delivery it is of. */
function told(one: DueDelivery, n: number): Settlement {
  const settlement = asDelivered(one);
  assert.ok(settlement.attempt);
  return {
    ...settlement,
    payload: Buffer.from(`{"of":"${one.id}"}`),
    attempt: {
      ...settlement.attempt,
      started_at: new Date(1_800_000_000_000 + n),
      duration_ms: n,
      status: 200 + (n % 5),
      answer: `answer ${one.id}`,
      signature: `v1,${one.id}`,
    },
  };
}

/** A hook with so many deliveries, all but the first five of which succeeded together. */
async function deliveredTogether(count: number) {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, Array.from({ length: count }, unknownId));
  const due = await lookFor(id);
  assert.equal(due.length, count);
  const done = due.slice(5);
  // Answers come in another order than requests were sent.
  await settleAll(id, done.map(told).toReversed());
  return { workspace, id, due, done, left: due.slice(0, 5) };
}

const together = async (hookId: string): Promise<number[]> => {
  const { rows } = await db.pool.query(
    "select cardinality(delivery_ids) as size from delivered_batches where hook_id = $1 order by id",
    [hookId],
  );
  return rows.map(({ size }) => size);
};

test("what succeeded together is one row, each with its own payload, answer, time and signature", async () => {
  const { workspace, id, due, done, left } = await deliveredTogether(230);
  assert.deepEqual(await together(id), [195, 30]);
  const rows = await deliveriesOf(id);
  assert.ok(rows.every(({ is_together, state }) => is_together && state === "delivered"));
  assert.deepEqual(
    rows.map((row) => [
      row.id,
      row.message_id,
      row.subject_id,
      row.payload,
      row.first_answer,
      row.first_signature,
    ]),
    done.map((one) => [
      one.id,
      one.message_id,
      one.subject_id,
      `{"of":"${one.id}"}`,
      `answer ${one.id}`,
      `v1,${one.id}`,
    ]),
  );
  assert.deepEqual(await lookFor(id), left);

  const { body: hook } = await get(`/hooks/${id}`, workspace.token);
  assert.equal(hook.pending, 5);
  assert.deepEqual(hook.last_attempt, {
    datetime: new Date(1_800_000_000_000 + 224).toISOString(),
    status: 204,
    error: null,
  });
  const { body: one } = await get(`/hooks/${id}/deliveries/${due[105]?.message_id}`, workspace.token);
  assert.deepEqual(
    [one.state, one.attempts, one.last_status, one.last_error, one.due_datetime, one.request.body],
    ["delivered", 1, 200, null, null, `{"of":"${due[105]?.id}"}`],
  );
  assert.equal(one.event_type, "recording_deleted");
  assert.equal(one.subject_id, due[105]?.subject_id);
  assert.ok(one.settled_datetime);
  const startedAt = new Date(1_800_000_000_000 + 100);
  assert.deepEqual(one.attempts_log, [
    {
      attempt: 1,
      started_datetime: startedAt.toISOString(),
      duration_ms: 100,
      status: 200,
      error: null,
      answer: `answer ${due[105]?.id}`,
    },
  ]);
  assert.deepEqual(one.request.headers, {
    "webhook-id": due[105]?.message_id,
    "webhook-timestamp": String(Math.floor(startedAt.getTime() / 1000)),
    "webhook-signature": `v1,${due[105]?.id}`,
  });
});

test("the log's pages show what succeeded together among the others, and by state", async () => {
  const { workspace, id, due } = await deliveredTogether(130);
  const subject = await happen({ workspaceId: workspace.id });
  const seen: { id: string; state: string; last_status: number | null }[] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const { body } = await get(
      `/hooks/${id}/deliveries${cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`}`,
      workspace.token,
    );
    if (isFirst) assert.equal(body.deliveries[0].subject_id, subject);
    seen.push(...body.deliveries);
    cursor = body.cursor;
  }
  assert.deepEqual(
    seen.slice(1).map((one) => one.id),
    due.map(({ message_id }) => message_id).toReversed(),
  );
  for (const [state, count] of [
    ["pending", 6],
    ["delivered", 125],
    ["exhausted", 0],
  ] as const) {
    assert.equal(seen.filter((one) => one.state === state).length, count);
    const { body } = await get(`/hooks/${id}/deliveries?state=${state}`, workspace.token);
    assert.ok(body.deliveries.every((one: { state: string }) => one.state === state));
    assert.equal(body.deliveries.length, Math.min(count, 50));
  }
});

test("one that is sent again keeps its webhook-id and its bytes, and the others what became of them", async () => {
  const { workspace, id, due, done } = await deliveredTogether(60);
  const [one] = done;
  assert.ok(one);
  const before = (await deliveriesOf(id)).map(({ is_together: _, ...row }) => row);
  const { status } = await post(
    `/hooks/${id}/deliveries/${one.message_id}/resend`,
    undefined,
    workspace.token,
  );
  assert.equal(status, 200);
  assert.deepEqual(await together(id), []);
  const after = (await deliveriesOf(id)).map(({ is_together: _, ...row }) => row);
  assert.deepEqual(after.slice(1), before.slice(1));
  const again = (await lookFor(id)).find(({ message_id }) => message_id === one.message_id);
  assert.equal(again?.payload, `{"of":"${one.id}"}`);
  assert.equal(again?.attempts, 1);
  assert.equal((await lookFor(id)).length, due.length - done.length + 1);
});

test("the last attempt of a hook is the same once they are rows, all of which were settled at one time", async () => {
  const { workspace, id } = await deliveredTogether(230);
  const before = (await get(`/hooks/${id}`, workspace.token)).body;
  await db.pool.query(
    "select parley_unpack_delivered(array(select id from delivered_batches where hook_id = $1))",
    [id],
  );
  assert.deepEqual(await together(id), []);
  assert.deepEqual((await get(`/hooks/${id}`, workspace.token)).body, before);
});

test("a replay leaves alone what succeeded, unless all is asked for", async () => {
  const { workspace, id, due } = await deliveredTogether(60);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  for (const which of ["failed", "undelivered"]) {
    const { body } = await post(`/hooks/${id}/replay`, { which, since }, workspace.token);
    assert.equal(body.count, 0, which);
  }
  assert.deepEqual(await together(id), [55]);
  const { body } = await post(`/hooks/${id}/replay`, { which: "all", since }, workspace.token);
  assert.equal(body.count, 60);
  assert.deepEqual(
    (await lookFor(id)).map(({ message_id }) => message_id),
    due.map(({ message_id }) => message_id),
    "the same deliveries, in their order",
  );
});

test("a replay of all that was in a while leaves together what succeeded before and after it", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  for (const hours of [5, 3, 1]) {
    await happenAtOnce(workspace, Array.from({ length: 20 + hours }, unknownId));
    const due = await lookFor(id);
    await settleAll(id, due.map(told));
    await db.pool.query(
      "update events set occurred_at = now() - make_interval(hours => $1) where id = any($2)",
      [hours, (await deliveriesOf(id)).slice(-due.length).map((row) => row.event_id)],
    );
  }
  assert.deepEqual(await together(id), [25, 23, 21]);
  const [since, until] = [4, 2].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString());
  const { body } = await post(`/hooks/${id}/replay`, { which: "all", since, until }, workspace.token);
  assert.equal(body.count, 23);
  assert.deepEqual(await together(id), [25, 21]);
});

test("results that come while somebody unpacks, and unpacking while results come, leave each delivery once", async () => {
  for (const isUnpackingFirst of [true, false]) {
    const workspace = await makeWorkspace(db);
    const { id } = await makeHook({ of: workspace });
    await happenAtOnce(workspace, Array.from({ length: 60 }, unknownId));
    const due = await lookFor(id);
    await settleAll(id, due.slice(0, 25).map(told));
    const client = await db.pool.connect();
    await client.query("begin");
    const unpack = `select parley_unpack_events(array(select event_id from delivery_log where hook_id = $1))`;
    const rest = [{ hookId: id, settlements: due.slice(25, 55).map(told), verdict: {} }];
    let second: Promise<unknown>;
    if (isUnpackingFirst) {
      await client.query(unpack, [id]);
      second = settle(db.pool, rest, new Date());
    } else {
      await settle({ query: client.query.bind(client) } as never, rest, new Date());
      second = db.pool.query(unpack, [id]);
    }
    await waitForLock();
    await client.query("commit");
    client.release();
    await second;
    const rows = await deliveriesOf(id);
    assert.deepEqual(
      rows.map((row) => [row.id, row.state, row.is_together]),
      due.map((one, n) => [one.id, n < 55 ? "delivered" : "pending", false]),
    );
    assert.deepEqual(
      rows.slice(0, 55).map((row) => row.payload),
      due.slice(0, 55).map((one) => `{"of":"${one.id}"}`),
    );
  }
});

test("after thirty days they are removed, and their events after them", async () => {
  const { workspace, id } = await deliveredTogether(60);
  const events = async () =>
    (await db.pool.query("select 1 from events where workspace_id = $1", [workspace.id])).rows.length;
  await db.pool.query("update events set occurred_at = now() - interval '31 days'");
  await deleteOldHistory(db.pool);
  assert.equal(await events(), 60, "events stay as long as a delivery of them");
  assert.deepEqual(await together(id), [55]);
  // Of all hooks: the oldest event of any that is left is the first that stays.
  for (const table of ["delivery_batches", "delivered_batches"])
    await db.pool.query(`update ${table} set created_at = now() - interval '31 days'`);
  await deleteOldHistory(db.pool);
  assert.deepEqual(await together(id), []);
  assert.equal(await events(), 5, "those that wait");
});

test("a hook that is deleted takes them along", async () => {
  const { workspace, id } = await deliveredTogether(60);
  const { status } = await call(app, "DELETE", `/_/public-api/v2/hooks/${id}`, undefined, {
    token: workspace.admin.token,
    version: olderVersion,
  });
  assert.equal(status, 200);
  assert.deepEqual(await together(id), []);
  assert.deepEqual(await deliveriesOf(id), []);
});
