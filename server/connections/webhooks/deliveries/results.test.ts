import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion } from "../../../../test/support/app.ts";
import { makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { delivered, deliveryTools } from "../test/deliveries.ts";
import { startManagement } from "../test/management.ts";
import type { DueDelivery } from "./due.ts";
import { type DeliveryResult, saveResults } from "./save-results.ts";

const { app, db, makeHook, deliveriesOf, happen, get, post } = await startManagement({ worker: false });

const { recordAll, findDueOf } = deliveryTools(db);

const saveAll = (results: readonly DeliveryResult[]) => saveResults(db.pool, results, new Date());

/** A result that names its delivery. */
function resultOf(one: DueDelivery, n: number): DeliveryResult {
  const result = delivered(one);
  assert.ok(result.attempt);
  return {
    ...result,
    payload: `{"of":"${one.id}"}`,
    attempt: {
      ...result.attempt,
      started_at: new Date(1_800_000_000_000 + n),
      duration_ms: n,
      status: 200 + (n % 5),
      response: `response ${one.id}`,
      signature: `v1,${one.id}`,
    },
  };
}

/** A hook with this many deliveries, all but the first five of them delivered. */
async function mostlyDelivered(count: number) {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  await recordAll(workspace, Array.from({ length: count }, unknownId));
  const due = await findDueOf(id);
  assert.equal(due.length, count);
  const done = due.slice(5);
  // Responses arrive in another order than requests were sent.
  await saveAll(done.map(resultOf).toReversed());
  return { workspace, id, due, done, left: due.slice(0, 5) };
}

test("results saved together: each delivery has its own payload, response, time and signature", async () => {
  const { workspace, id, due, done, left } = await mostlyDelivered(230);
  const rows = (await deliveriesOf(id)).slice(5);
  assert.ok(rows.every(({ state }) => state === "delivered"));
  assert.deepEqual(
    rows.map((row) => [
      row.id,
      row.message_id,
      row.subject_id,
      row.payload,
      row.first_response,
      row.first_signature,
    ]),
    done.map((one) => [
      one.id,
      one.message_id,
      one.subject_id,
      `{"of":"${one.id}"}`,
      `response ${one.id}`,
      `v1,${one.id}`,
    ]),
  );
  assert.deepEqual(await findDueOf(id), left);

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
      answer: `response ${due[105]?.id}`,
    },
  ]);
  assert.deepEqual(one.request.headers, {
    "webhook-id": due[105]?.message_id,
    "webhook-timestamp": String(Math.floor(startedAt.getTime() / 1000)),
    "webhook-signature": `v1,${due[105]?.id}`,
  });
});

test("the log lists deliveries newest first, page by page, and filters by state", async () => {
  const { workspace, id, due } = await mostlyDelivered(130);
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

test("a resent delivery keeps its webhook-id and its payload; the others are unchanged", async () => {
  const { workspace, id, due, done } = await mostlyDelivered(60);
  const [one] = done;
  assert.ok(one);
  const before = await deliveriesOf(id);
  const { status } = await post(
    `/hooks/${id}/deliveries/${one.message_id}/resend`,
    undefined,
    workspace.token,
  );
  assert.equal(status, 200);
  const isOther = (row: { id: string }) => row.id !== one.id;
  assert.deepEqual((await deliveriesOf(id)).filter(isOther), before.filter(isOther));
  const again = (await findDueOf(id)).find(({ message_id }) => message_id === one.message_id);
  assert.equal(again?.payload, `{"of":"${one.id}"}`);
  assert.equal(again?.attempts, 1);
  assert.equal((await findDueOf(id)).length, due.length - done.length + 1);
});

test("a replay skips delivered events unless all are asked for", async () => {
  const { workspace, id, due } = await mostlyDelivered(60);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  for (const which of ["failed", "undelivered"]) {
    const { body } = await post(`/hooks/${id}/replay`, { which, since }, workspace.token);
    assert.equal(body.count, 0, which);
  }
  const { body } = await post(`/hooks/${id}/replay`, { which: "all", since }, workspace.token);
  assert.equal(body.count, 60);
  assert.deepEqual(
    (await findDueOf(id)).map(({ message_id }) => message_id),
    due.map(({ message_id }) => message_id),
    "the same deliveries, in their order",
  );
});

test("a replay of a time range leaves earlier and later deliveries alone", async () => {
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ of: workspace });
  for (const hours of [5, 3, 1]) {
    await recordAll(workspace, Array.from({ length: 20 + hours }, unknownId));
    const due = await findDueOf(id);
    await saveAll(due.map(resultOf));
    await db.pool.query(
      "update events set occurred_at = now() - make_interval(hours => $1) where id = any($2)",
      [hours, (await deliveriesOf(id)).slice(-due.length).map((row) => row.event_id)],
    );
  }
  const [since, until] = [4, 2].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString());
  const { body } = await post(`/hooks/${id}/replay`, { which: "all", since, until }, workspace.token);
  assert.equal(body.count, 23);
  assert.deepEqual(
    (await deliveriesOf(id)).map(({ state }) => state),
    [...Array(25).fill("delivered"), ...Array(23).fill("pending"), ...Array(21).fill("delivered")],
  );
});

test("deleting a hook deletes its deliveries", async () => {
  const { workspace, id } = await mostlyDelivered(60);
  const { status } = await call(app, "DELETE", `/_/public-api/v2/hooks/${id}`, undefined, {
    token: workspace.admin.token,
    version: olderVersion,
  });
  assert.equal(status, 200);
  assert.deepEqual(await deliveriesOf(id), []);
});
