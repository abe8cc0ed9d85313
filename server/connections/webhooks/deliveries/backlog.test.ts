import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import { call } from "../../../../test/support/app.ts";
import {
  makeRecording,
  makeWorkspace,
  type TestWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { type HookReceiver, ok, startHookReceiver, status } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import { startManagement } from "../test/management.ts";

/** A clock that the tests move. */
const clock = { ms: 0, now: () => new Date(Date.now() + clock.ms) };
const { app, db, makeHook, deliveriesOf, get, post } = await startManagement({
  clock,
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});

/** Records many events in one transaction. @returns their subjects, in order. */
async function recordAll(
  workspace: TestWorkspace,
  count: number,
  event: { type?: HookType; subjects?: readonly string[]; recordingId?: string } = {},
): Promise<string[]> {
  const subjects = Array.from({ length: count }, (_, n) =>
    event.subjects === undefined ? unknownId() : (event.subjects[n % event.subjects.length] as string),
  );
  await db.kysely.transaction().execute(async (tx) => {
    for (const [n, subjectId] of subjects.entries())
      await recordEvent(tx, {
        workspaceId: workspace.id,
        type: event.type ?? "recording_deleted",
        subjectId,
        ...(event.recordingId === undefined ? { audience: [] } : { recordingId: event.recordingId }),
        data: { id: subjectId, n },
      });
  });
  app.jobs.wake();
  return subjects;
}

/** A hook whose receiver does not respond to the first request until `release`, so that the rest waits as well. */
async function heldHook(options: Parameters<typeof makeHook>[0] = {}) {
  const receiver = await startHookReceiver();
  const released = Promise.withResolvers<void>();
  receiver.script(async (_request, response) => {
    await released.promise;
    response.end("received");
  });
  const workspace = options.of ?? (await makeWorkspace(db));
  const hook = await makeHook({ url: receiver.url, ...options, of: workspace });
  return { receiver, workspace, id: hook.id, release: () => released.resolve() };
}

const idsOf = (receiver: HookReceiver) => receiver.requests.map(({ headers }) => headers["webhook-id"]);

const allAre = (hookId: string, state: string, count: number) =>
  until(`${count} are ${state}`, async () => {
    const rows = await deliveriesOf(hookId);
    return rows.filter((row) => row.state === state).length === count ? rows : undefined;
  });

test("many events of a hook are delivered once each and in order; the log shows them before and after", async () => {
  const { receiver, workspace, id, release } = await heldHook();
  const subjects = await recordAll(workspace, 450);
  await receiver.waitFor(1);
  const token = workspace.token;
  assert.equal((await get(`/hooks/${id}`, token)).body.pending, 450);
  const before = (await get(`/hooks/${id}/deliveries`, token)).body.deliveries;
  assert.equal(before[0].state, "pending");
  assert.equal(before[0].subject_id, subjects.at(-1), "newest first");
  const { body: waiting } = await get(`/hooks/${id}/deliveries/${before[3].id}`, token);
  assert.equal(waiting.attempts_log.length, 0);
  const ids = (await deliveriesOf(id)).map((row) => row.message_id);

  release();
  const rows = await allAre(id, "delivered", 450);
  assert.deepEqual(
    rows.map((row) => row.subject_id),
    subjects,
    "in the order of events",
  );
  assert.deepEqual(
    rows.map((row) => row.message_id),
    ids,
  );
  assert.deepEqual(new Set(idsOf(receiver)), new Set(ids));
  assert.equal(receiver.requests.length, 450, "each once");
  assert.equal((await get(`/hooks/${id}`, token)).body.pending, 0);
  const { body } = await get(`/hooks/${id}/deliveries/${rows[0].message_id}`, token);
  assert.deepEqual([body.state, body.attempts, body.attempts_log.length], ["delivered", 1, 1]);
  const { status: code, answer, error, duration_ms } = body.attempts_log[0];
  assert.deepEqual([code, answer, error], [200, "received", null]);
  assert.ok(duration_ms >= 0);
  assert.equal(body.request.headers["webhook-signature"], receiver.requests[0]?.headers["webhook-signature"]);
  assert.equal(body.request.body, receiver.requests[0]?.body);
});

test("results are saved while another request hangs", async () => {
  const receiver = await startHookReceiver();
  const released = Promise.withResolvers<void>();
  receiver.script(ok, async (_request, response) => {
    await released.promise;
    response.end();
  });
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ url: receiver.url, of: workspace });
  await recordAll(workspace, 60);
  await receiver.waitFor(60);
  const isSaved = async () =>
    (await deliveriesOf(id)).filter(({ state }) => state === "delivered").length === 59;
  await until("all but one are saved", isSaved, 5000);
  released.resolve();
  await allAre(id, "delivered", 60);
});

test("a failed delivery is retried by its schedule, the others are delivered in order", async () => {
  const receiver = await startHookReceiver();
  const workspace = await makeWorkspace(db);
  const { id } = await makeHook({ url: receiver.url, of: workspace });
  receiver.script(ok, ok, ok, status(500, "not now"));
  await recordAll(workspace, 300, { subjects: Array.from({ length: 7 }, unknownId) });
  const rows = await until("all were tried", async () => {
    clock.ms += 10_000;
    app.jobs.wake();
    const found = await deliveriesOf(id);
    return found.length === 300 && found.every(({ state }) => state === "delivered") ? found : undefined;
  });
  assert.deepEqual(
    rows
      .filter(({ attempts }) => attempts > 1)
      .map(({ first_status, first_response }) => [first_status, first_response]),
    [[500, "not now"]],
  );
  const firsts = receiver.requests.filter(
    ({ headers }, n) => idsOf(receiver).indexOf(headers["webhook-id"]) === n,
  );
  assert.equal(firsts.length, 300);
  const last = new Map<string, number>();
  for (const { body } of firsts) {
    const { id: subject, n } = JSON.parse(body).data;
    assert.ok(n > (last.get(subject) ?? -1), `${n} after ${last.get(subject)}`);
    last.set(subject, n);
  }
});

for (const [what, ask] of [
  [
    "resending one",
    (id: string, one: string, token: string) =>
      post(`/hooks/${id}/deliveries/${one}/resend`, undefined, token),
  ],
  [
    "a replay of all",
    (id: string, _: string, token: string) =>
      post(
        `/hooks/${id}/replay`,
        { which: "all", since: new Date(Date.now() - 3_600_000).toISOString() },
        token,
      ),
  ],
] as const) {
  test(`${what} while a worker sends loses no delivery and creates none twice`, async () => {
    const { receiver, workspace, id, release } = await heldHook();
    await recordAll(workspace, 230);
    await receiver.waitFor(1);
    const one = (await deliveriesOf(id))[205]?.message_id ?? "";
    const answer = await ask(id, one, workspace.token);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    if (what === "a replay of all") assert.equal(answer.body.count, 230);
    release();
    const rows = await allAre(id, "delivered", 230);
    assert.equal(rows.length, 230);
    assert.deepEqual(new Set(idsOf(receiver)), new Set(rows.map((row) => row.message_id)));
  });
}

test("a delivery whose subject is unshared while it waits is suppressed", async () => {
  const workspace = await makeWorkspace(db);
  const { recordingId } = await makeRecording(app, workspace.member.token);
  const { receiver, id, release } = await heldHook({
    of: workspace,
    scope: "personal",
    owner: workspace.member,
    type: "recording_updated",
  });
  await recordAll(workspace, 30, { type: "recording_updated", subjects: [recordingId], recordingId });
  await receiver.waitFor(1);
  await db.pool.query("delete from recording_grants where recording_id = $1", [recordingId]);
  // What was checked within the last second is not checked again.
  await delay(1100);
  release();
  await allAre(id, "withheld", 29);
  assert.equal(receiver.requests.length, 1);
});

test("deleting a recording suppresses its waiting deliveries, also those being sent", async () => {
  const workspace = await makeWorkspace(db);
  const { recordingId } = await makeRecording(app, workspace.member.token);
  const { receiver, id, release } = await heldHook({ of: workspace, type: "recording_updated" });
  await recordAll(workspace, 30, { type: "recording_updated", subjects: [recordingId], recordingId });
  await receiver.waitFor(1);
  const deleted = await call(app, "DELETE", `/_/api/v1/recordings/${recordingId}`, undefined, {
    token: workspace.member.token,
    version: null,
  });
  assert.ok(deleted.status < 300, JSON.stringify(deleted.body));
  const rows = await deliveriesOf(id);
  assert.equal(rows.length, 30);
  assert.ok(rows.every(({ state, event_id }) => state === "withheld" && event_id === null));
  await delay(1100);
  release();
  await until("nobody is at work", async () => {
    const { rows: held } = await db.pool.query(
      "select 1 from hooks where id = $1 and leased_by is not null",
      [id],
    );
    return held.length === 0;
  });
  assert.ok((await deliveriesOf(id)).every((row) => row.payload === null && row.first_response === null));
  assert.equal(receiver.requests.length, 1);
});

test("deleting a recording clears its own deliveries and no others", async () => {
  const workspace = await makeWorkspace(db);
  const receiver = await startHookReceiver();
  receiver.otherwise((_request, response) => {
    response.end("received");
  });
  const { recordingId: gone } = await makeRecording(app, workspace.member.token);
  const { recordingId: other } = await makeRecording(app, workspace.member.token);
  const { id } = await makeHook({ url: receiver.url, of: workspace, type: "recording_updated" });
  const type = "recording_updated";
  await recordAll(workspace, 250, { type, subjects: [other, gone], recordingId: other });
  await db.pool.query("update events set recording_id = subject_id where type = $1", [type]);
  await allAre(id, "delivered", 250);
  const deleted = await call(app, "DELETE", `/_/api/v1/recordings/${gone}`, undefined, {
    token: workspace.member.token,
    version: null,
  });
  assert.ok(deleted.status < 300, JSON.stringify(deleted.body));
  const rows = await deliveriesOf(id);
  assert.equal(rows.length, 250);
  for (const row of rows) {
    const isGone = row.subject_id === gone;
    assert.deepEqual(
      [row.payload === null, row.first_response === null, row.event_id === null, row.state],
      [isGone, isGone, isGone, "delivered"],
    );
  }
});

test("a deleted event does not hold up the others", async () => {
  const { receiver, workspace, id, release } = await heldHook();
  const subjects = await recordAll(workspace, 60);
  await receiver.waitFor(1);
  // Ten of them are deleted before they are prepared.
  await post(`/hooks/${id}/disable`, undefined, workspace.token);
  await db.pool.query("delete from events where subject_id = any($1::uuid[])", [subjects.slice(20, 30)]);
  await delay(1100);
  release();
  await allAre(id, "delivered", 1);
  await post(`/hooks/${id}/enable`, undefined, workspace.token);
  const rows = await allAre(id, "delivered", 50);
  assert.deepEqual(
    rows.map((row) => [row.subject_id, row.state]),
    subjects.map((subject, n) => [subject, n >= 20 && n < 30 ? "withheld" : "delivered"]),
  );
});

test("a disabled hook keeps its pending deliveries and sends them once enabled", async () => {
  const { receiver, workspace, id, release } = await heldHook();
  await recordAll(workspace, 210);
  await receiver.waitFor(1);
  await post(`/hooks/${id}/disable`, undefined, workspace.token);
  await delay(1100);
  release();
  const isFree = async () => {
    const { rows } = await db.pool.query(
      "select 1 from hooks where id = $1 and leased_by is null and (leased_until is null or leased_until < now())",
      [id],
    );
    return rows.length === 1;
  };
  await allAre(id, "delivered", 1);
  assert.equal(receiver.requests.length, 1);
  assert.equal((await get(`/hooks/${id}`, workspace.token)).body.pending, 209);
  await until("its worker is gone", isFree);
  await post(`/hooks/${id}/enable`, undefined, workspace.token);
  const rows = await allAre(id, "delivered", 210);
  assert.equal(receiver.requests.length, 210);
  assert.equal(rows.length, 210);
});

test("deleting a hook deletes its pending deliveries", async () => {
  const { receiver, workspace, id, release } = await heldHook();
  await recordAll(workspace, 250);
  await receiver.waitFor(1);
  await db.pool.query("delete from hooks where id = $1", [id]);
  release();
  await delay(300);
  assert.deepEqual(await deliveriesOf(id), []);
});

test("a hook created meanwhile for the same URL sends later events of a subject after the waiting ones", async () => {
  const { receiver, workspace, id, release } = await heldHook();
  const [subject] = await recordAll(workspace, 60, { subjects: [unknownId()] });
  assert.ok(subject);
  await receiver.waitFor(1);
  const other = await makeHook({ url: receiver.url, of: workspace, type: "highlight_deleted" });
  await recordAll(workspace, 40, { type: "highlight_deleted", subjects: [subject] });
  await until("the other's are created", async () => (await deliveriesOf(other.id)).length === 40);
  release();
  await allAre(id, "delivered", 60);
  await allAre(other.id, "delivered", 40);
  const types = receiver.requests.map(({ body }) => JSON.parse(body).type);
  assert.equal(types.lastIndexOf("recording_deleted"), 59);
  assert.equal(types.indexOf("highlight_deleted"), 60);
});
