import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { gone, ok, startHookReceiver, status } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { startManagement } from "../test/management.ts";

/** With a worker that makes two attempts for each delivery. */
const { app, db, workspace, makeHook, happen, deliveriesOf, hookRow, get, post } = await startManagement({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8", PARLEY_HOOK_RETRY_SCHEDULE: "0.05" },
});

function statesAre(hookId: string, expected: readonly string[]) {
  return until(`deliveries are ${expected}`, async () => {
    const states = (await deliveriesOf(hookId)).map((row) => row.state);
    return states.join() === expected.join();
  });
}

/** Records an event and waits for its deliveries. */
async function happenLive(): Promise<string> {
  const subject = await happen();
  app.jobs.wake();
  return subject;
}

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

test("replay sends exhausted deliveries again in order, resend sends one, each with its id and payload", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(500));
  const hook = await makeHook({ url: receiver.url });
  const since = ago(0);
  const subjects = [await happenLive(), await happenLive(), await happenLive()];
  await statesAre(hook.id, ["exhausted", "exhausted", "exhausted"]);
  const failed = receiver.requests.length;
  assert.equal(failed, 6);
  receiver.otherwise(ok);
  const { body } = await post(`/hooks/${hook.id}/replay`, { since });
  assert.equal(body.count, 3);
  await statesAre(hook.id, ["delivered", "delivered", "delivered"]);
  const again = receiver.requests.slice(failed);
  assert.deepEqual(
    again.map((request) => JSON.parse(request.body).data.id),
    subjects,
  );
  const idsAndBytes = (requests: typeof again) =>
    new Set(requests.map((request) => `${request.headers["webhook-id"]} ${request.body}`));
  assert.deepEqual(idsAndBytes(again), idsAndBytes(receiver.requests.slice(0, failed)));
  const [row] = await deliveriesOf(hook.id);
  await post(`/hooks/${hook.id}/deliveries/${row.message_id}/resend`);
  await receiver.waitFor(failed + 4);
  assert.equal(receiver.requests.at(-1)?.headers["webhook-id"], row.message_id);
  const shown = await until("it is logged", async () => {
    const answer = await get(`/hooks/${hook.id}/deliveries/${row.message_id}`);
    return answer.body.attempts === 4 && answer.body;
  });
  assert.deepEqual(
    shown.attempts_log.map((attempt: { attempt: number; status: number; answer: string }) => [
      attempt.attempt,
      attempt.status,
      attempt.answer,
    ]),
    [
      [1, 500, ""],
      [2, 500, ""],
      [3, 200, "ok"],
      [4, 200, "ok"],
    ],
  );
  assert.equal(shown.request.body, receiver.requests.at(-1)?.body);
  assert.equal(
    shown.request.headers["webhook-signature"],
    receiver.requests.at(-1)?.headers["webhook-signature"],
  );
});

test("a resend that fails is retried by a fresh schedule", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(status(500));
  const hook = await makeHook({ url: receiver.url });
  await happenLive();
  await statesAre(hook.id, ["exhausted"]);
  const [row] = await deliveriesOf(hook.id);
  await post(`/hooks/${hook.id}/deliveries/${row.message_id}/resend`);
  await receiver.waitFor(4);
  await statesAre(hook.id, ["exhausted"]);
  assert.equal((await deliveriesOf(hook.id))[0].attempts, 4);
});

test("a test event is signed; after rotation both secrets verify, without overlap only the new one", async () => {
  const receiver = await startHookReceiver();
  const hook = await makeHook({ url: receiver.url });
  const verified = async (count: number, secrets: readonly string[]) => {
    await post(`/hooks/${hook.id}/test`);
    const request = (await receiver.waitFor(count))[count - 1];
    return secrets.map((secret) => {
      try {
        return new Webhook(secret).verify(request?.body ?? "", request?.headers ?? {});
      } catch {
        return null;
      }
    });
  };
  const event = { type: "recording_deleted", user_id: workspace.admin.id, data: { test: true } };
  assert.deepEqual(await verified(1, [hook.secret]), [event]);
  const { secret: second } = (await post(`/hooks/${hook.id}/rotate-secret`)).body;
  assert.deepEqual(await verified(2, [hook.secret, second]), [event, event]);
  const { secret: third } = (await post(`/hooks/${hook.id}/rotate-secret`, { overlap_sec: 0 })).body;
  assert.deepEqual(await verified(3, [hook.secret, second, third]), [null, null, event]);
  const { text } = await get(`/hooks/${hook.id}/deliveries`);
  for (const secret of [hook.secret, second, third]) assert.ok(!text.includes(secret.slice(6)));
});

test("a hook disabled by 410 gets pending events once enabled, and missed ones by replay", async () => {
  const receiver = await startHookReceiver();
  receiver.script(gone);
  const hook = await makeHook({ url: receiver.url });
  const since = ago(0);
  const first = await happenLive();
  const off = await until("it is disabled", async () => {
    const { body } = await get(`/hooks/${hook.id}`);
    return !body.enabled && body;
  });
  assert.match(off.disabled_reason, /410/);
  const missed = await happenLive();
  const again = await post(`/hooks/${hook.id}/replay`, { since });
  assert.equal(again.status, 409);
  const on = await post(`/hooks/${hook.id}/enable`);
  assert.deepEqual([on.body.enabled, on.body.failing_since], [true, null]);
  const { body } = await post(`/hooks/${hook.id}/replay`, { since, which: "undelivered" });
  assert.equal(body.count, 2);
  await receiver.waitFor(3);
  assert.deepEqual(
    receiver.requests.slice(1).map((request) => JSON.parse(request.body).data.id),
    [first, missed],
  );
  await statesAre(hook.id, ["delivered", "delivered"]);
});

test("disable: pending deliveries stay until the hook is enabled, then are sent", async () => {
  const receiver = await startHookReceiver();
  const hook = await makeHook({ url: receiver.url });
  await post(`/hooks/${hook.id}/disable`);
  await db.pool.query(
    "insert into deliveries (message_id, hook_id, event_type, subject_id, payload) values (gen_random_uuid(), $1, 'recording_deleted', $1, '{}')",
    [hook.id],
  );
  const witness = await startHookReceiver();
  await makeHook({ url: witness.url });
  await happenLive();
  await witness.waitFor(1);
  assert.equal(receiver.requests.length, 0);
  await post(`/hooks/${hook.id}/enable`);
  await statesAre(hook.id, ["delivered"]);
  await until("nothing is due", async () => (await hookRow(hook.id)).next_due_at === null);
  assert.equal((await get(`/hooks/${hook.id}`)).body.failing_since, null);
});
