import assert from "node:assert/strict";
import { test } from "node:test";
import type pg from "pg";
import { call, olderVersion } from "../../../../test/support/app.ts";
import { makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { deleteEvents } from "../../../people/events/delete.ts";
import { delivered, deliveryTools } from "../test/deliveries.ts";
import { startManagement } from "../test/management.ts";
import type { DueDelivery } from "./due.ts";
import { releaseHooks } from "./leases.ts";
import { saveResults } from "./save-results.ts";

const { app, db, makeHook, deliveriesOf, post } = await startManagement({ worker: false });

const { recordAll, findDueOf, waitForLock } = deliveryTools(db);

/** A hook with 40 due deliveries. */
async function hookWithBacklog() {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await recordAll(workspace, Array.from({ length: 40 }, unknownId));
  return { workspace, id, due: await findDueOf(id) };
}

const save = (pool: Pick<pg.Pool, "query">, due: readonly DueDelivery[]) =>
  saveResults(pool, due.map(delivered), new Date());

/** Runs `first` in a transaction and `second` beside it, and commits once `second` waits. */
async function whileLocked(
  first: (client: pg.PoolClient) => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<void> {
  const client = await db.pool.connect();
  await client.query("begin");
  await first(client);
  const running = second();
  await waitForLock();
  await client.query("commit");
  client.release();
  await running;
}

for (const [what, second] of [
  ["the rest", (due: DueDelivery[]) => due.slice(25)],
  ["all", (due: DueDelivery[]) => due],
  ["some of both", (due: DueDelivery[]) => due.slice(20, 35)],
] as const)
  test(`two processes save results at the same time, the later one of ${what}: what neither has stays due`, async () => {
    const { id, due } = await hookWithBacklog();
    const first = due.slice(0, 25);
    const saving = async (client: pg.PoolClient) => {
      await save(client, first);
      // The later one waits for this row, whichever results it has.
      await client.query("select 1 from hooks where id = $1 for update", [id]);
    };
    const later = async () => {
      await save(db.pool, second(due));
      const release = { hookId: id, token: null, health: { failingSince: null }, notBefore: new Date() };
      await releaseHooks(db.pool, [release], new Date());
    };
    await whileLocked(saving, later);
    const done = new Set([...first, ...second(due)].map((one) => one.id));
    const rows = await deliveriesOf(id);
    assert.deepEqual(
      rows.map((row) => [row.id, row.state]),
      due.map((one) => [one.id, done.has(one.id) ? "delivered" : "pending"]),
    );
    assert.deepEqual(
      await findDueOf(id),
      due.filter((one) => !done.has(one.id)),
    );
  });

test("an admin deletes a hook while one of its deliveries is resent: neither waits for the other in a circle", async () => {
  const { workspace, id, due } = await hookWithBacklog();
  const client = await db.pool.connect();
  await client.query("begin");
  await client.query("select 1 from deliveries where id = $1 for update", [due[0]?.id]);
  const deleting = call(app, "DELETE", `/_/public-api/v2/hooks/${id}`, undefined, {
    token: workspace.admin.token,
    version: olderVersion,
  });
  await waitForLock();
  await client.query("update hooks set next_due_at = now() - interval '1 second' where id = $1", [id]);
  await client.query("commit");
  client.release();
  assert.equal((await deleting).status, 200);
  assert.deepEqual(await deliveriesOf(id), []);
});

test("a delivery that is resent the moment its result is saved stays pending", async () => {
  const { workspace, id, due } = await hookWithBacklog();
  const [first] = due;
  await save(db.pool, due);
  const resent = await post(
    `/hooks/${id}/deliveries/${first?.message_id}/resend`,
    undefined,
    workspace.token,
  );
  assert.equal(resent.status, 200);
  const rows = await deliveriesOf(id);
  assert.deepEqual(
    rows.filter(({ state }) => state === "pending").map((row) => row.id),
    [first?.id],
  );
  assert.equal(rows.filter(({ state }) => state === "delivered").length, 39);
});

test("results that are saved after their subject was deleted are dropped", async () => {
  const { id, due } = await hookWithBacklog();
  const [first] = due;
  assert.ok(first);
  await whileLocked(
    async (client) => {
      await client.query("select 1 from deliveries where id = $1 for update", [first.id]);
    },
    () => db.kysely.transaction().execute((tx) => deleteEvents(tx, unknownId(), [first.subject_id])),
  );
  await save(db.pool, due.slice(0, 2));
  const rows = await deliveriesOf(id);
  assert.deepEqual(
    rows.slice(0, 3).map((row) => [row.state, row.payload, row.first_response]),
    [
      ["withheld", null, null],
      ["delivered", "{}", ""],
      ["pending", null, null],
    ],
  );
});
