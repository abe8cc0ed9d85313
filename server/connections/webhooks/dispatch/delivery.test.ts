import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { insertHook, unknownId } from "../../../../test/support/factories.ts";
import { hang, retryAfter, startHookReceiver, status } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";

/** A clock that the tests set. */
const clock = {
  ms: Date.parse("2030-01-01T00:00:00Z"),
  now: () => new Date(clock.ms),
};
const app = await startTestApp({ clock, env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { db } = app;
const second = 1000;
const hour = 3600 * second;

const makeHook = (hook_url: string, workspace_id?: string) =>
  insertHook(app, { hook_url, ...(workspace_id === undefined ? {} : { workspace_id }) });

/** Records an event. @returns its subject. */
async function happen(workspaceId: string, subjectId = unknownId(), data: object = {}): Promise<string> {
  await db.kysely.transaction().execute((tx) =>
    recordEvent(tx, {
      workspaceId,
      type: "recording_deleted",
      subjectId,
      audience: [],
      data: { id: subjectId, ...data },
    }),
  );
  app.jobs.wake();
  return subjectId;
}

async function hookRow(id: string) {
  return (await db.pool.query("select * from hooks where id = $1", [id])).rows[0];
}

async function deliveriesOf(hookId: string) {
  return (await db.pool.query("select * from deliveries where hook_id = $1 order by id", [hookId])).rows;
}

test("a failed delivery is retried by the schedule with the same id and payload until a 2xx; each attempt is logged", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(500, "not today"));
  const hook = await makeHook(receiver.url);
  await happen(hook.workspace_id);
  const waits = [5, 30, 300, 1800, 7200, 18_000];
  for (const [index, wait] of waits.entries()) {
    await receiver.waitFor(index + 1);
    const [delivery] = await until("the attempt is saved", async () => {
      const found = await deliveriesOf(hook.id);
      return found[0]?.attempts === index + 1 ? found : undefined;
    });
    const waited = (delivery.due_at.getTime() - clock.ms) / second;
    assert.ok(waited >= wait && waited <= wait * 1.2 + 1, `${waited} s instead of ${wait}`);
    assert.equal(delivery.state, "pending");
    clock.ms = delivery.due_at.getTime() - second;
    app.jobs.wake();
    assert.equal(receiver.requests.length, index + 1, "not before its time");
    clock.ms = delivery.due_at.getTime() + 60 * second;
    app.jobs.wake();
  }
  receiver.otherwise(status(204));
  await until("it is delivered", async () => (await deliveriesOf(hook.id))[0]?.state === "delivered");
  assert.equal(new Set(receiver.requests.map((request) => request.headers["webhook-id"])).size, 1);
  assert.equal(new Set(receiver.requests.map((request) => request.body)).size, 1);
  const { rows } = await db.pool.query(
    "select attempt, status, response from attempts a join deliveries d on d.id = a.delivery_id where hook_id = $1 order by attempt",
    [hook.id],
  );
  assert.deepEqual(
    rows.map((row) => row.status),
    [500, 500, 500, 500, 500, 500, 204],
  );
  assert.equal(rows[0].response, "not today");
  await until("the failure is over", async () => (await hookRow(hook.id)).failing_since === null);
});

test("an outage of 75 hours loses nothing, including events recorded meanwhile", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(503));
  const hook = await makeHook(receiver.url);
  const subjects = new Set<string>();
  const end = clock.ms + 75 * hour;
  while (clock.ms < end) {
    if (subjects.size < 30) subjects.add(await happen(hook.workspace_id));
    await until("what is due was tried", async () => {
      const { rows } = await db.pool.query(
        `select 1 from deliveries d join hooks h on h.id = d.hook_id where d.hook_id = $1 and d.state = 'pending'
           and d.due_at <= $2 and (h.next_due_at <= $2 or h.leased_until is not null)
         union all select 1 from events where workspace_id = $3 and id in (select event_id from waiting_events)`,
        [hook.id, clock.now(), hook.workspace_id],
      );
      return rows.length === 0;
    });
    clock.ms += 0.5 * hour;
  }
  assert.equal((await deliveriesOf(hook.id)).filter((row) => row.state !== "pending").length, 0);
  assert.equal((await hookRow(hook.id)).disabled_at, null);
  receiver.otherwise(status(200));
  const before = receiver.requests.length;
  clock.ms += 30 * hour;
  await until("everything is delivered", async () =>
    (await deliveriesOf(hook.id)).every((row) => row.state === "delivered"),
  );
  const arrived = receiver.requests.slice(before).map((request) => JSON.parse(request.body).data.id);
  assert.deepEqual(new Set(arrived), subjects);
});

test("Retry-After is honoured", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(retryAfter("1000"));
  const hook = await makeHook(receiver.url);
  await happen(hook.workspace_id);
  const [delivery] = await until("it was tried", async () => {
    const found = await deliveriesOf(hook.id);
    return found[0]?.attempts === 1 ? found : undefined;
  });
  assert.ok(delivery.due_at.getTime() - clock.ms >= 1000 * second - second);
});

test("410 disables the hook at once, and nothing more is sent to it", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(410));
  const hook = await makeHook(receiver.url);
  await happen(hook.workspace_id);
  const row = await until("the hook is disabled", async () => {
    const found = await hookRow(hook.id);
    return found.disabled_at === null ? undefined : found;
  });
  assert.match(row.disabled_reason, /410/);
  assert.equal((await deliveriesOf(hook.id))[0]?.state, "gone");
  await happen(hook.workspace_id);
  await until("the event is processed", async () => {
    const { rows } = await db.pool.query(
      "select 1 from events where workspace_id = $1 and id in (select event_id from waiting_events)",
      [hook.workspace_id],
    );
    return rows.length === 0;
  });
  assert.equal(receiver.requests.length, 1);
});

test("five days of nothing but failure disable the hook; less does not", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(500));
  const hook = await makeHook(receiver.url);
  await happen(hook.workspace_id);
  const attempts = async () => (await deliveriesOf(hook.id))[0]?.attempts;
  await until("it was tried", async () => (await attempts()) === 1);
  clock.ms += 119 * hour;
  await until("it was tried again", async () => (await attempts()) === 2);
  assert.equal((await hookRow(hook.id)).disabled_at, null);
  clock.ms += 2 * hour;
  const row = await until("the hook is disabled", async () => {
    const found = await hookRow(hook.id);
    return found.disabled_at === null ? undefined : found;
  });
  assert.match(row.disabled_reason, /five days/);
});

test("first attempts of one subject arrive in the order of its events", async () => {
  const receiver = await startHookReceiver();
  const hook = await makeHook(receiver.url);
  const subjects = [unknownId(), unknownId(), unknownId()];
  await happen(hook.workspace_id, subjects[0], { n: -1 });
  await receiver.waitFor(1);
  for (let n = 0; n < 60; n++) await happen(hook.workspace_id, subjects[n % 3], { n });
  await receiver.waitFor(61);
  for (const subject of subjects) {
    const order = receiver.requests
      .map((request) => JSON.parse(request.body).data)
      .filter((data) => data.id === subject)
      .map((data) => data.n);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  }
});

test("dead receivers don't delay other hooks", async () => {
  const dead = await startHookReceiver();
  dead.otherwise(hang);
  const healthy = await startHookReceiver();
  const hook = await makeHook(healthy.url);
  for (let index = 0; index < 50; index++) await makeHook(`${dead.url}/${index}`, hook.workspace_id);
  for (let round = 0; round < 5; round++) {
    const began = Date.now();
    await happen(hook.workspace_id);
    await healthy.waitFor(round + 1);
    // No request to a dead one has timed out by then: each has 15 seconds.
    assert.ok(Date.now() - began < 10_000, `${Date.now() - began} ms`);
  }
  assert.equal((await hookRow(hook.id)).failing_since, null);
  await db.pool.query("delete from hooks where hook_url like $1", [`${dead.url}%`]);
  await dead.close();
});
