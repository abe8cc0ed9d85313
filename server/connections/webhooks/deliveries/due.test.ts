import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { delivered, deliveryTools } from "../test/deliveries.ts";
import { startManagement } from "../test/management.ts";
import type { DueDelivery } from "./due.ts";
import { deleteOldHistory } from "./history.ts";
import { findForgottenHooks } from "./leases.ts";
import { saveResults } from "./save-results.ts";

const { db, makeHook, deliveriesOf, hookRow, calm } = await startManagement({ worker: false });

const { recordAll, findDueOf } = deliveryTools(db);

const some = (count: number): string[] => Array.from({ length: count }, unknownId);

const saveAll = (due: readonly DueDelivery[]) => saveResults(db.pool, due.map(delivered), new Date());

test("due deliveries are found in the order of events, the first ones up to the limit", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  const subjects = [];
  for (const count of [3, 230, 5, 410, 25]) {
    const more = some(count);
    subjects.push(...more);
    await recordAll(workspace, more);
  }
  const found = await findDueOf(id, 1000);
  assert.deepEqual(
    found.map(({ subject_id }) => subject_id),
    subjects,
  );
  assert.deepEqual(await findDueOf(id, 100), found.slice(0, 100));
  assert.deepEqual(
    (await deliveriesOf(id)).map((row) => [row.subject_id, row.id, row.message_id, row.state]),
    found.map((one) => [one.subject_id, one.id, one.message_id, "pending"]),
  );
});

test("a delivery with a saved result is not due, and saving it again changes nothing", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await recordAll(workspace, some(250));
  const due = await findDueOf(id);
  const done = due.filter((_, n) => n % 3 === 0 || n > 190);
  await saveAll(done);
  const rest = due.filter((one) => !done.includes(one));
  assert.deepEqual(await findDueOf(id), rest);
  const rows = (await deliveriesOf(id)).filter(({ state }) => state === "delivered");
  assert.equal(rows.length, done.length);
  // As a process does that leased the hook before and sent the same.
  await saveAll([...done, ...rest.slice(0, 2)]);
  const after = (await deliveriesOf(id)).filter(({ state }) => state === "delivered");
  assert.deepEqual(
    after.filter((row) => rows.some((row2) => row2.id === row.id)),
    rows,
  );
  assert.equal(after.length, done.length + 2);
  assert.equal((await findDueOf(id)).length, rest.length - 2);
});

test("the next due time of a hook follows its pending deliveries", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await recordAll(workspace, some(20));
  const token = unknownId();
  const release = async () => {
    await db.pool.query(
      "update hooks set leased_by = $2, leased_until = now() + interval '5 s' where id = $1",
      [id, token],
    );
    await db.pool.query("select parley_release_hook($1, $2, null)", [id, token]);
  };
  await release();
  assert.ok((await hookRow(id)).next_due_at !== null);
  await calm(id);
  await findForgottenHooks(db.pool);
  assert.ok((await hookRow(id)).next_due_at !== null);
  await saveAll(await findDueOf(id));
  await release();
  assert.equal((await hookRow(id)).next_due_at, null);
});

test("pending deliveries are kept however old they are, and events as long as their deliveries", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await recordAll(workspace, some(60));
  const due = await findDueOf(id);
  await saveAll(due.slice(0, 55));
  const events = async () =>
    (await db.pool.query("select 1 from events where workspace_id = $1", [workspace.id])).rowCount;
  await db.pool.query("update events set occurred_at = now() - interval '31 days'");
  await deleteOldHistory(db.pool);
  assert.equal(await events(), 60);
  await db.pool.query("update deliveries set created_at = now() - interval '31 days'");
  await deleteOldHistory(db.pool);
  assert.deepEqual(
    (await deliveriesOf(id)).map((row) => [row.message_id, row.state]),
    due.slice(55).map(({ message_id }) => [message_id, "pending"]),
  );
  assert.equal(await events(), 5);
});

test("hooks that receive the same events have deliveries of their own", async () => {
  const workspace = await makeWorkspace(db);
  const hooks = [];
  for (let n = 0; n < 40; n += 1)
    hooks.push((await makeHook({ of: workspace, url: `http://h${n}.example/` })).id);
  await recordAll(workspace, some(60));
  for (const hook of hooks) assert.equal((await deliveriesOf(hook)).length, 60);
});
