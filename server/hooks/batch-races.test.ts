import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion } from "../../test/support/app.ts";
import { makeWorkspace, type TestWorkspace, unknownId } from "../../test/support/factories.ts";
import { unpackHook } from "./batch-queries.ts";
import { asDelivered, batchTools } from "./batch-testing.ts";
import type { DueDelivery } from "./due-queries.ts";
import { findDeliveries } from "./log-queries.ts";
import { startManagement } from "./management-testing.ts";
import { settle } from "./settle-queries.ts";

const { app, db, makeHook, deliveriesOf, post } = await startManagement({ worker: false });

const { lookFor, waitForLock, ...events } = batchTools(db);
const happenAtOnce = (workspace: TestWorkspace, count: number) =>
  events.happenAtOnce(workspace, Array.from({ length: count }, unknownId));

const batches = async (hookIds: readonly string[]) => {
  const { rows } = await db.pool.query(
    "select hook_id, delivery_ids, event_ids from delivery_batches where hook_id = any($1::uuid[]) order by id",
    [hookIds],
  );
  return rows;
};

const settleIn = (pool: unknown, hookId: string, due: readonly DueDelivery[]) =>
  settle(pool as never, [{ hookId, settlements: due.map(asDelivered), verdict: {} }], new Date());

for (const [what, second] of [
  ["the rest", (due: DueDelivery[]) => due.slice(25)],
  ["all", (due: DueDelivery[]) => due],
  ["a part of both", (due: DueDelivery[]) => due.slice(20, 35)],
] as const)
  test(`two processes that settle one batch at the same time, the later one ${what}, leave what neither had`, async () => {
    const workspace = await makeWorkspace(db);
    const { id } = await makeHook({ of: workspace });
    await happenAtOnce(workspace, 40);
    const due = await lookFor(id);
    const client = await db.pool.connect();
    await client.query("begin");
    await settleIn({ query: client.query.bind(client) }, id, due.slice(0, 25));
    const settling = settleIn(db.pool, id, second(due));
    await waitForLock();
    await client.query("commit");
    client.release();
    await settling;
    const done = new Set([...due.slice(0, 25), ...second(due)].map((one) => one.id));
    assert.deepEqual(
      (await deliveriesOf(id)).map((row) => row.id),
      due.map((one) => one.id).filter((one) => done.has(one)),
    );
    assert.ok((await deliveriesOf(id)).every(({ state }) => state === "delivered"));
    assert.deepEqual(
      await lookFor(id),
      due.filter((one) => !done.has(one.id)),
    );
    assert.deepEqual(
      (await batches([id])).flatMap((row) => row.delivery_ids),
      due.map((one) => one.id).filter((one) => !done.has(one)),
    );
  });

test("hooks of which the same events are told have deliveries of their own", async () => {
  const workspace = await makeWorkspace(db);
  const hooks = [];
  for (let n = 0; n < 40; n += 1)
    hooks.push((await makeHook({ of: workspace, url: `http://h${n}.example/` })).id);
  for (let round = 0; round < 12; round += 1) {
    await happenAtOnce(workspace, 60);
    if (round === 8) await db.pool.query("analyze");
  }
  const rows = await batches(hooks);
  const ids = rows.flatMap((row) => row.delivery_ids);
  assert.equal(ids.length, 40 * 12 * 60);
  assert.equal(new Set(ids).size, ids.length);
});

test("an admin deletes a hook while one of its batches is unpacked to be sent again: neither waits for the other in a circle", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await happenAtOnce(workspace, 40);
  const client = await db.pool.connect();
  await client.query("begin");
  await client.query(
    "select parley_unpack_batches(array(select id from delivery_batches where hook_id = $1))",
    [id],
  );
  const deleting = call(app, "DELETE", `/_/public-api/v2/hooks/${id}`, undefined, {
    token: workspace.admin.token,
    version: olderVersion,
  });
  await waitForLock();
  await client.query("update hooks set next_due_at = now() where id = $1", [id]);
  await client.query("commit");
  client.release();
  assert.equal((await deleting).status, 200);
  assert.deepEqual(await batches([id]), []);
  assert.deepEqual(await deliveriesOf(id), []);
});

for (const [statement, [from, to]] of [
  ["settle_packed", [185, 215]],
  ["settle_together", [0, 250]],
] as const)
  test(`what is asked for again the moment ${statement} wrote it stays asked for, also when others were unpacked`, async () => {
    const workspace = await makeWorkspace(db);
    const { id } = await makeHook({ of: workspace });
    await happenAtOnce(workspace, 250);
    const due = await lookFor(id);
    await db.pool.query("select parley_unpack_batches(array[$1::bigint])", [due.at(-1)?.batch_id]);
    const written = due.slice(from, to);
    const [first] = written;
    let isAsked = false;
    const query = async (asked: { name?: string }, values?: unknown[]) => {
      const answer = await db.pool.query(asked as never, values);
      if (asked.name === statement && !isAsked) {
        isAsked = true;
        const resent = await post(
          `/hooks/${id}/deliveries/${first?.message_id}/resend`,
          undefined,
          workspace.token,
        );
        assert.equal(resent.status, 200);
      }
      return answer;
    };
    await settleIn({ query }, id, written);
    assert.ok(isAsked);
    const rows = (await deliveriesOf(id)).filter((row) => written.some((one) => one.id === row.id));
    assert.equal(rows.length, written.length);
    assert.deepEqual(
      rows.filter(({ state }) => state === "pending").map((row) => row.id),
      [first?.id],
    );
  });

for (const [what, work] of [
  ["settling", (id: string, due: DueDelivery[]) => settleIn(db.pool, id, due)],
  ["unpacking", (id: string) => unpackHook(db.pool, id, { since: new Date(0), until: new Date() })],
] as const)
  test(`a delivery that a process of an older version made of an event in a batch does not stop ${what}`, async () => {
    const workspace = await makeWorkspace(db);
    const { id } = await makeHook({ of: workspace });
    await happenAtOnce(workspace, 30);
    const due = await lookFor(id);
    await db.pool.query(
      `insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
       select b.hook_id, e.id, e.type, e.subject_id, e.recording_id, now()
       from delivery_batches b join events e on e.id = b.event_ids[3] where b.hook_id = $1`,
      [id],
    );
    await work(id, due);
    assert.deepEqual(await batches([id]), []);
    const rows = await deliveriesOf(id);
    assert.equal(rows.length, 30);
    assert.equal(new Set(rows.map(({ event_id }) => event_id)).size, 30);
    await settleIn(db.pool, id, await lookFor(id));
    assert.deepEqual(await lookFor(id), []);
  });

test("the log shows rows and batches in one order, page by page, also of what was settled meanwhile", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  for (const count of [5, 230, 3, 250]) await happenAtOnce(workspace, count);
  const due = await lookFor(id);
  // Together those of a batch that came in two orders, and a few as rows.
  const among = (share: number) => (_: DueDelivery, n: number) => n >= 40 && n < 160 && n % 2 === share;
  for (const share of [1, 0]) await settleIn(db.pool, id, due.filter(among(share)));
  await settleIn(db.pool, id, due.slice(170, 180));
  await db.pool.query("select parley_unpack_batches(array[$1::bigint])", [due[10]?.batch_id]);
  const { rows } = await db.pool.query(
    "select id, state from delivery_log where hook_id = $1 order by id desc",
    [id],
  );
  assert.equal(rows.length, 488);
  for (const state of [undefined, "pending", "delivered"] as const) {
    const seen = [];
    for (let before: string | null = null; ; ) {
      const page = await findDeliveries(db.kysely, id, { state, before, limit: 60 });
      seen.push(...page.map((one) => ({ id: one.id, state: one.state })));
      if (page.length < 60) break;
      before = page.at(-1)?.id ?? null;
    }
    assert.deepEqual(
      seen,
      rows.filter((row) => state === undefined || row.state === state),
    );
  }
});
