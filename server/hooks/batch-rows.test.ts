import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace, unknownId } from "../../test/support/factories.ts";
import { unpackHook } from "./batch-queries.ts";
import { asDelivered, batchTools } from "./batch-testing.ts";
import { findForgottenHooks } from "./delivery-queries.ts";
import type { DueDelivery } from "./due-queries.ts";
import { startManagement } from "./management-testing.ts";
import { deleteOldHistory } from "./queries.ts";
import { settle } from "./settle-queries.ts";

const { db, makeHook, deliveriesOf, hookRow, calm } = await startManagement({ worker: false });

const { happenAtOnce, lookFor, waitForLock } = batchTools(db);

const some = (count: number): string[] => Array.from({ length: count }, unknownId);

const settleAll = (hookId: string, due: readonly DueDelivery[]) =>
  settle(db.pool, [{ hookId, settlements: due.map(asDelivered), verdict: {} }], new Date());

const stored = async (hookId: string) => {
  const { rows } = await db.pool.query(
    "select cardinality(delivery_ids)::int as size, cardinality(message_ids)::int as ids, cardinality(event_ids)::int as events from delivery_batches where hook_id = $1 order by id",
    [hookId],
  );
  return rows;
};

test("batches and rows are found in the order of events, from wherever a look begins", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  const subjects = [];
  for (const count of [3, 230, 5, 410, 25]) {
    const more = some(count);
    subjects.push(...more);
    await happenAtOnce(workspace, more);
  }
  assert.deepEqual(
    (await stored(id)).map(({ size }) => size),
    [200, 30, 200, 200, 10, 25],
  );
  const found: DueDelivery[] = [];
  for (
    let part = await lookFor(id);
    part.length > 0;
    part = await lookFor(id, { after: part.at(-1) ?? null })
  ) {
    assert.ok(part.length <= 250);
    found.push(...part);
  }
  assert.deepEqual(
    found.map(({ subject_id }) => subject_id),
    subjects,
  );
  assert.deepEqual(
    found.map(({ id }) => Number(id)),
    found.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
  );
  const except = found.slice(0, 480).map(({ id }) => id);
  assert.deepEqual(
    (await lookFor(id, { except, limit: 100 })).map(({ subject_id }) => subject_id),
    subjects.slice(480, 580),
  );
  await unpackHook(db.pool, id, { since: new Date(0), until: new Date() });
  const rows = await deliveriesOf(id);
  assert.deepEqual(
    rows.map((row) => [row.subject_id, row.id, row.message_id, row.state]),
    found.map((one) => [one.subject_id, one.id, one.message_id, "pending"]),
    "unpacked, they are the same deliveries",
  );
  assert.deepEqual(await stored(id), []);
});

test("what was settled of a batch is out of it, the rest is as it was, and settling again changes nothing", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, some(250));
  const due = await lookFor(id);
  const done = due.filter((_, n) => n % 3 === 0 || n > 190);
  await settleAll(id, done);
  const rest = due.filter((one) => !done.includes(one));
  assert.deepEqual(await lookFor(id), rest);
  assert.deepEqual(await stored(id), [{ size: rest.length, ids: rest.length, events: rest.length }]);
  const rows = await deliveriesOf(id);
  // As another process does that held the hook before, and sent the same.
  await settleAll(id, [...done, ...rest.slice(0, 2)]);
  const after = await deliveriesOf(id);
  assert.deepEqual(
    after.filter((row) => rows.some((row2) => row2.id === row.id)),
    rows,
  );
  assert.equal(after.length, done.length + 2);
  assert.equal((await lookFor(id)).length, rest.length - 2);
});

test("results that come while a batch is unpacked are written to its rows", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, some(40));
  const due = await lookFor(id);
  const client = await db.pool.connect();
  await client.query("begin");
  await client.query(
    "select parley_unpack_batches(array(select id from delivery_batches where hook_id = $1))",
    [id],
  );
  let isOver = false;
  const settling = settleAll(id, due.slice(0, 25)).then(() => {
    isOver = true;
  });
  await waitForLock();
  assert.equal(isOver, false, "it waits for who unpacks");
  await client.query("commit");
  client.release();
  await settling;
  const states = (await deliveriesOf(id)).map(({ state, first_status }) => [state, first_status]);
  assert.deepEqual(
    states,
    due.map((_, n) => (n < 25 ? ["delivered", 204] : ["pending", null])),
  );
});

test("who unpacks while results are written leaves what was written, and makes rows of the rest", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, some(40));
  const due = await lookFor(id);
  const client = await db.pool.connect();
  await client.query("begin");
  await settle(
    { query: client.query.bind(client) } as never,
    [{ hookId: id, settlements: due.slice(0, 25).map(asDelivered), verdict: {} }],
    new Date(),
  );
  const unpacking = unpackHook(db.pool, id, { since: new Date(0), until: new Date() });
  await waitForLock();
  await client.query("commit");
  client.release();
  await unpacking;
  const states = (await deliveriesOf(id)).map(({ state, first_status }) => [state, first_status]);
  assert.deepEqual(
    states,
    due.map((_, n) => (n < 25 ? ["delivered", 204] : ["pending", null])),
  );
  assert.deepEqual(await stored(id), []);
});

test("hooks that fail, that have others at their address, or of which little happens, get rows", async () => {
  const workspace = await makeWorkspace(db);
  const failing = await makeHook({ of: workspace, url: "http://hooks.example/failing" });
  await db.pool.query("update hooks set failing_since = now() where id = $1", [failing.id]);
  const alone = await makeHook({ of: workspace, url: "http://hooks.example/alone" });
  const twins = [
    await makeHook({ of: workspace, url: "http://hooks.example/two" }),
    await makeHook({ of: workspace, url: "http://hooks.example/two", type: "story_deleted" }),
  ];
  await happenAtOnce(workspace, some(30));
  for (const { id } of [failing, twins[0] ?? failing]) assert.equal((await deliveriesOf(id)).length, 30);
  assert.equal((await deliveriesOf(alone.id)).length, 0);
  await happenAtOnce(workspace, some(19));
  assert.equal((await deliveriesOf(alone.id)).length, 19);
});

test("a hook with nothing but a batch is not forgotten", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, some(20));
  const token = unknownId();
  await db.pool.query(
    "update hooks set leased_by = $2, leased_until = now() + interval '5 s' where id = $1",
    [id, token],
  );
  await db.pool.query("select parley_release_hook($1, $2, null)", [id, token]);
  assert.ok((await hookRow(id)).next_due_at !== null);
  await calm(id);
  await findForgottenHooks(db.pool);
  assert.ok((await hookRow(id)).next_due_at !== null);
  await settleAll(id, await lookFor(id));
  await db.pool.query(
    "update hooks set leased_by = $2, leased_until = now() + interval '5 s' where id = $1",
    [id, token],
  );
  await db.pool.query("select parley_release_hook($1, $2, null)", [id, token]);
  assert.equal((await hookRow(id)).next_due_at, null);
});

test("events stay as long as a batch holds them, and batches of a day ago become rows", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, some(30));
  await db.pool.query("update events set occurred_at = now() - interval '40 days' where workspace_id = $1", [
    workspace.id,
  ]);
  const due = await lookFor(id);
  await deleteOldHistory(db.pool);
  assert.deepEqual(await lookFor(id), due);
  assert.equal((await stored(id)).length, 1);
  await db.pool.query(
    "update delivery_batches set created_at = now() - interval '31 days' where hook_id = $1",
    [id],
  );
  await deleteOldHistory(db.pool);
  assert.deepEqual(await stored(id), []);
  assert.deepEqual(
    (await deliveriesOf(id)).map((row) => [row.message_id, row.state]),
    due.map(({ message_id }) => [message_id, "pending"]),
  );
  const { rows } = await db.pool.query("select 1 from events where workspace_id = $1", [workspace.id]);
  assert.equal(rows.length, 30);
});

test("a row comes after an earlier event of its subject in a batch, also behind many small batches that are left out", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  for (let n = 0; n < 60; n += 1) await happenAtOnce(workspace, some(20));
  const underWay = (await lookFor(id, { limit: 2000 })).map((one) => one.id);
  assert.equal(underWay.length, 1200);
  const subject = unknownId();
  await happenAtOnce(workspace, [subject, ...some(20)]);
  await happenAtOnce(workspace, [subject]);
  const found = await lookFor(id, { except: underWay });
  assert.deepEqual(
    found.map(({ subject_id }) => subject_id === subject),
    [true, ...some(20).map(() => false), true],
  );
});
