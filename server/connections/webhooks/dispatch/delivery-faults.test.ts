import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { insertHook, makeRecording, makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { ok, retryAfter, slow, startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { confirmClock } from "../../../platform/jobs/clock-guard.ts";
import { prepare } from "./prepare.ts";

/** A clock that the tests set. */
const clock = {
  ms: Date.parse("2030-01-01T00:00:00Z"),
  now: () => new Date(clock.ms),
};
const app = await startTestApp({ clock, env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { db } = app;
const second = 1000;

async function happen(
  workspaceId: string,
  type: "recording_deleted" | "story_deleted" = "recording_deleted",
  subjectId = unknownId(),
): Promise<void> {
  await db.kysely
    .transaction()
    .execute((tx) =>
      recordEvent(tx, { workspaceId, type, subjectId, audience: [], data: { id: subjectId } }),
    );
  app.jobs.wake();
}

async function deliveriesOf(hookId: string) {
  return (await db.pool.query("select * from deliveries where hook_id = $1 order by id", [hookId])).rows;
}

const hookRow = async (id: string) =>
  (await db.pool.query("select * from hooks where id = $1", [id])).rows[0];

test("a hook whose secret can't be decrypted fails by the schedule with a reason, and holds up no other hook of its URL", async () => {
  const receiver = await startHookReceiver();
  const broken = await insertHook(app, {
    hook_url: receiver.url,
    secret: createEncryptor("another secret").encrypt("whsec_c2VjcmV0"),
  });
  const sibling = await insertHook(app, {
    workspace_id: broken.workspace_id,
    hook_url: receiver.url,
    hook_type: "story_deleted",
  });
  const subject = unknownId();
  await happen(broken.workspace_id, "recording_deleted", subject);
  await happen(broken.workspace_id, "story_deleted", subject);
  await receiver.waitFor(1);
  const attempted = (attempts: number) =>
    until(`attempt ${attempts} is saved`, async () => {
      const [found] = await deliveriesOf(broken.id);
      return found?.attempts === attempts ? found : undefined;
    });
  const first = await attempted(1);
  assert.equal(first.state, "pending");
  assert.match(first.first_error, /secret of the hook can't be decrypted.*rotate/);
  assert.equal(first.first_status, null);
  await until("the rule of five days applies", async () => (await hookRow(broken.id)).failing_since !== null);
  const waitSec = (first.due_at.getTime() - clock.ms) / second;
  assert.ok(waitSec >= 5 && waitSec <= 6.1, `${waitSec} s`);
  clock.ms = first.due_at.getTime() + second;
  await attempted(2);
  await until(
    "the sibling's is delivered",
    async () => (await deliveriesOf(sibling.id))[0].state === "delivered",
  );
  assert.equal(receiver.requests.length, 1);
  await db.pool.query("update hooks set secret = $2 where id = $1", [
    broken.id,
    app.encryptor.encrypt(broken.signingSecret),
  ]);
  clock.ms += 3600 * second;
  await until("it is delivered once it can be signed for", async () => {
    return (await deliveriesOf(broken.id))[0].state === "delivered";
  });
});

test("a payload that can't be rendered fails alone, with a reason; without a database nothing fails", async () => {
  const workspace = await makeWorkspace(db);
  const { recordingId } = await makeRecording(app, workspace.member.token);
  const hook = { ...(await insertHook(app, { workspace_id: workspace.id })) };
  const logged: object[] = [];
  const deps = {
    db,
    signer: app.signer,
    config: app.config,
    log: { error: (line: object) => void logged.push(line) },
  };
  const delivery = {
    message_id: unknownId(),
    event_type: "recording_updated",
    recording_id: null,
    payload: null,
    attempts: 0,
    attempts_before: 0,
    data: "{}",
    can_receive: true,
  } as const;
  const due = [
    { ...delivery, id: "1", subject_id: "no id of anything" },
    { ...delivery, id: "2", subject_id: recordingId },
    { ...delivery, id: "3", subject_id: unknownId() },
  ];
  const { prepared, suppressed } = await prepare(deps, { ...hook, hook_type: "recording_updated" }, due);
  assert.deepEqual(
    prepared.map(({ delivery: { id }, body, problem }) => [id, body !== null, problem !== null]),
    [
      ["1", false, true],
      ["2", true, false],
    ],
  );
  assert.match(prepared[0]?.problem ?? "", /could not be rendered/);
  assert.deepEqual(
    suppressed.map(({ id }) => id),
    ["3"],
  );
  assert.equal(logged.length, 1);
  const unreachable = { pool: { query: () => Promise.reject(new Error("Connection terminated")) } };
  await assert.rejects(
    prepare({ ...deps, db: unreachable as never }, { ...hook, hook_type: "recording_updated" }, due),
    /Connection terminated/,
  );
});

test("Retry-After pauses everything of the hook, for an hour at most", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise(retryAfter("600", 429));
  const hook = await insertHook(app, { hook_url: receiver.url });
  await happen(hook.workspace_id);
  const paused = await until("the pause is saved", async () => {
    const row = await hookRow(hook.id);
    return row.paused_until === null ? undefined : row;
  });
  assert.ok(Math.abs(paused.paused_until.getTime() - clock.ms - 600 * second) <= second);
  await happen(hook.workspace_id);
  await until("the next event has its delivery", async () => (await deliveriesOf(hook.id)).length === 2);
  clock.ms += 590 * second;
  const witness = await insertHook(app, { hook_url: receiver.url });
  await happen(witness.workspace_id);
  await receiver.waitFor(2);
  const attempts = (await deliveriesOf(hook.id)).map((row) => row.attempts);
  assert.deepEqual(attempts, [1, 0], "nothing else was tried meanwhile");
  receiver.otherwise(retryAfter("86400"));
  clock.ms += 700 * second;
  await receiver.waitFor(3);
  const again = await until("the longer pause is saved", async () => {
    const row = await hookRow(hook.id);
    return row.paused_until > paused.paused_until ? row : undefined;
  });
  assert.ok(again.paused_until.getTime() - clock.ms <= 3601 * second);
  receiver.otherwise(ok);
  clock.ms += 25 * 3600 * second;
  await until("all is delivered", async () =>
    (await deliveriesOf(hook.id)).every((row) => row.state === "delivered"),
  );
});

test("a thousand slow receivers delay a fast one by seconds at most", async () => {
  const slowOne = await startHookReceiver();
  slowOne.otherwise(slow(12_000));
  const healthy = await startHookReceiver();
  const first = await insertHook(app, { hook_url: `${slowOne.url}/0` });
  await db.pool.query(
    `insert into hooks select (jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid(), 'hook_url', $2 || n))).*
     from hooks h, generate_series(1, 999) n where h.id = $1`,
    [first.id, `${slowOne.url}/`],
  );
  await happen(first.workspace_id);
  // As many as there are slots.
  await slowOne.waitFor(512);
  const other = await insertHook(app, { hook_url: healthy.url });
  for (let round = 1; round <= 3; round += 1) {
    const began = performance.now();
    await happen(other.workspace_id);
    await healthy.waitFor(round);
    const tookMs = performance.now() - began;
    assert.ok(tookMs < 8000, `${tookMs.toFixed(0)} ms`);
  }
  await db.pool.query("delete from hooks where workspace_id = $1", [first.workspace_id]);
  await slowOne.close();
});

test("a clock that jumped disables no hook for five days of failure; once it is confirmed, the rule applies", async () => {
  const receiver = await startHookReceiver();
  receiver.otherwise((_request, response) => {
    response.writeHead(500).end();
  });
  const hook = await insertHook(app, { hook_url: receiver.url });
  await until(
    "a worker has stored the time",
    async () => ((await db.pool.query("select 1 from clock_guard")).rowCount ?? 0) > 0,
  );
  await db.pool.query("update clock_guard set seen_at = seen_at - interval '60 days'");
  await db.pool.query("update hooks set failing_since = $2 where id = $1", [
    hook.id,
    new Date(clock.ms - 60 * 86_400 * second),
  ]);
  await happen(hook.workspace_id);
  const attempted = (attempts: number) =>
    until(`attempt ${attempts} is saved`, async () => {
      const [found] = await deliveriesOf(hook.id);
      return found?.attempts === attempts ? found : undefined;
    });
  await attempted(1);
  assert.equal((await hookRow(hook.id)).disabled_at, null);
  await confirmClock(db);
  clock.ms += 3600 * second;
  await attempted(2);
  await until(
    "the hook is disabled",
    async () => (await hookRow(hook.id)).disabled_reason === "every attempt of five days failed",
  );
});
