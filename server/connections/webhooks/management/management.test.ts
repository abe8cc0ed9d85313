import assert from "node:assert/strict";
import { test } from "node:test";
import { makeUser, unknownId } from "../../../../test/support/factories.ts";
import { startManagement } from "../test/management.ts";

const { app, db, workspace, stranger, makeHook, happen, deliveriesOf, saveState, hookRow, calm, get, post } =
  await startManagement({ worker: false, env: { PARLEY_PAGE_SIZE: "3" } });
const { admin, member } = workspace;

/** Every operation on one hook, with placeholders for ids. */
const operations: [method: "GET" | "POST", path: string, body?: object][] = [
  ["GET", ""],
  ["GET", "/deliveries"],
  ["GET", "/deliveries/:delivery"],
  ["POST", "/deliveries/:delivery/resend"],
  ["POST", "/replay", { since: new Date(Date.now() - 60_000).toISOString() }],
  ["POST", "/test"],
  ["POST", "/rotate-secret"],
  ["POST", "/disable"],
  ["POST", "/enable"],
];

async function run(
  [method, path, body]: (typeof operations)[number],
  hookId: string,
  token: string,
  deliveryId = unknownId(),
) {
  const address = `/hooks/${hookId}${path.replace(":delivery", deliveryId)}`;
  return method === "GET" ? get(address, token) : post(address, body, token);
}

test("list: only hooks of the token's scope, of every version, newest first, without secrets", async () => {
  const shared = await makeHook({ insertedAt: new Date("2021-01-01") });
  const newer = await makeHook({ version: "2026-10-01", type: "upload_added" });
  const own = await makeHook({ scope: "personal", owner: member });
  const admins = await makeHook({ scope: "personal", owner: admin });
  const strangers = await makeHook({ of: stranger });
  for (const [token, expected] of [
    [workspace.token, [shared, newer]],
    [member.token, [own]],
    [admin.token, [admins]],
    [stranger.token, [strangers]],
    [stranger.member.token, []],
  ] as const) {
    const { status, body, text } = await get("/hooks", token);
    assert.equal(status, 200, text);
    assert.deepEqual(
      body.hooks.map((hook: { id: string }) => hook.id),
      expected.map((hook) => hook.id),
    );
    for (const { secret } of [shared, newer, own, admins, strangers])
      assert.ok(!text.includes(secret.slice(6)));
    assert.ok(!/secret"/.test(text));
  }
  const { inserted_at, ...hook } = (await get(`/hooks/${newer.id}`)).body;
  assert.ok(inserted_at);
  assert.deepEqual(hook, {
    id: newer.id,
    enabled: true,
    hook_url: "http://hooks.example/in",
    hook_type: "upload_added",
    include: {},
    version: "2026-10-01",
    scope: "workspace",
    user_id: admin.id,
    disabled_reason: null,
    disabled_datetime: null,
    failing_since: null,
    paused_until: null,
    previous_secret_until: null,
    pending: 0,
    last_attempt: null,
  });
});

test("scopes: every operation on another user's hook is 404 and changes nothing", async () => {
  const personal = await makeHook({ scope: "personal", owner: member });
  const shared = await makeHook();
  const other = await makeUser(db, workspace);
  for (const [hook, tokens, own] of [
    [
      personal,
      [other.token, admin.token, workspace.token, stranger.token, stranger.member.token],
      member.token,
    ],
    [shared, [member.token, stranger.token, stranger.admin.token], workspace.token],
  ] as const) {
    const before = await hookRow(hook.id);
    const { body: delivery } = await post(`/hooks/${hook.id}/test`, undefined, own);
    await db.pool.query("update hooks set next_due_at = null where id = $1", [hook.id]);
    for (const token of tokens) {
      for (const operation of operations) {
        const { status, body } = await run(operation, hook.id, token, delivery.id);
        assert.deepEqual([status, body.error], [404, "not_found"], operation.join(" "));
        assert.match(body.detail, /no hook/);
      }
    }
    assert.deepEqual(await hookRow(hook.id), before);
    assert.equal((await deliveriesOf(hook.id)).length, 1);
    for (const operation of operations) {
      const { status, text } = await run(operation, hook.id, own, delivery.id);
      assert.equal(status, 200, `${operation.join(" ")}: ${text}`);
    }
  }
});

test("scopes: 401 without a token, 404 for an unknown hook and an invalid id", async () => {
  const hook = await makeHook();
  for (const operation of operations) {
    assert.equal((await run(operation, hook.id, "")).status, 401);
    assert.equal((await run(operation, unknownId(), workspace.token)).status, 404);
    assert.equal((await run(operation, "none", workspace.token)).status, 404);
  }
  const otherHook = await makeHook();
  const { body: delivery } = await post(`/hooks/${otherHook.id}/test`);
  for (const id of [unknownId(), delivery.id]) {
    assert.equal((await get(`/hooks/${hook.id}/deliveries/${id}`)).status, 404, "not of this hook");
    assert.equal((await post(`/hooks/${hook.id}/deliveries/${id}/resend`)).status, 404);
  }
});

test("details: the number of pending deliveries and the last attempt", async () => {
  const hook = await makeHook();
  const subjects = [await happen(), await happen(), await happen()];
  await saveState("delivered", subjects.slice(0, 1));
  await saveState("pending", subjects.slice(1, 2), 3);
  const { body } = await get(`/hooks/${hook.id}`);
  assert.equal(body.pending, 2);
  assert.deepEqual([body.last_attempt.status, body.last_attempt.error], [500, "the response was 500"]);
});

test("deliveries: newest first in pages, without repeats while new ones are created, and by state", async () => {
  const hook = await makeHook();
  const subjects: string[] = [];
  for (let index = 0; index < 7; index++) subjects.push(await happen());
  await saveState("exhausted", subjects.slice(1, 3), 2);
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { status, body, text } = await get(`/hooks/${hook.id}/deliveries?cursor=${cursor}`);
    assert.equal(status, 200, text);
    assert.ok(body.deliveries.length <= 3);
    seen.push(...body.deliveries.map((delivery: { subject_id: string }) => delivery.subject_id));
    cursor = body.cursor;
    await happen();
  }
  assert.deepEqual(seen, subjects.toReversed());
  const { body } = await get(`/hooks/${hook.id}/deliveries?state=exhausted`);
  const rows = await deliveriesOf(hook.id);
  assert.deepEqual(
    body.deliveries,
    [rows[2], rows[1]].map((row) => ({
      id: row.message_id,
      event_type: "recording_deleted",
      subject_id: row.subject_id,
      state: "exhausted",
      attempts: 2,
      created_datetime: row.created_at.toISOString(),
      due_datetime: null,
      settled_datetime: row.settled_at.toISOString(),
      last_status: 500,
      last_error: "the response was 500",
    })),
  );
  const { body: waiting } = await get(`/hooks/${hook.id}/deliveries?state=pending`);
  assert.ok(waiting.deliveries[0].due_datetime);
  for (const [query, error] of [
    ["state=lost", "invalid_input"],
    ["cursor=nonsense", "invalid_cursor"],
    [`cursor=${Buffer.from("events:1").toString("base64url")}`, "invalid_cursor"],
    [`cursor=${Buffer.from("deliveries:-1").toString("base64url")}`, "invalid_cursor"],
  ] as const) {
    const answer = await get(`/hooks/${hook.id}/deliveries?${query}`);
    assert.deepEqual([answer.status, answer.body.error], [400, error], query);
  }
});

test("delivery: its request and every attempt in order", async () => {
  const hook = await makeHook();
  const subject = await happen();
  await saveState("exhausted", [subject], 2);
  const [row] = await deliveriesOf(hook.id);
  const { status, body, text } = await get(`/hooks/${hook.id}/deliveries/${row.message_id.toUpperCase()}`);
  assert.equal(status, 200, text);
  assert.deepEqual(body.request, {
    url: "http://hooks.example/in",
    headers: { "webhook-id": row.message_id, "webhook-signature": "v1,2" },
    body: '{"old":true}',
  });
  assert.equal(body.attempts, 2);
  assert.deepEqual(
    body.attempts_log.map(({ started_datetime, ...attempt }: { started_datetime: string }) => {
      assert.ok(started_datetime);
      return attempt;
    }),
    [1, 2].map((attempt) => ({
      attempt,
      duration_ms: 12,
      status: 500,
      error: "the response was 500",
      answer: "words",
    })),
  );
});

test("delivery: its content is hidden once the hook's owner can no longer see the subject", async () => {
  const hook = await makeHook({ scope: "personal", owner: member });
  const subject = await happen({ audience: [member.id] });
  await saveState("delivered", [subject]);
  const [row] = await deliveriesOf(hook.id);
  const path = `/hooks/${hook.id}/deliveries/${row.message_id}`;
  const read = async () => {
    const { body } = await get(path, member.token);
    return [body.request.body, body.attempts_log[0].answer];
  };
  assert.deepEqual(await read(), ['{"old":true}', "words"]);
  await db.pool.query("update deliveries set state = 'withheld' where id = $1", [row.id]);
  assert.deepEqual(await read(), [null, null]);
  await db.pool.query("update deliveries set state = 'delivered' where id = $1", [row.id]);
  await db.pool.query("update events set audience = '{}' where subject_id = $1", [subject]);
  assert.deepEqual(await read(), [null, null]);
});

test("resend: a delivery of any other state is due at once, with a fresh schedule and the same id", async () => {
  for (const state of ["delivered", "exhausted", "gone", "pending"]) {
    const hook = await makeHook();
    await saveState(state, [await happen()], 4);
    await db.pool.query("update deliveries set due_at = now() + interval '1 day' where hook_id = $1", [
      hook.id,
    ]);
    await calm(hook.id);
    const [before] = await deliveriesOf(hook.id);
    const { status, body, text } = await post(`/hooks/${hook.id}/deliveries/${before.message_id}/resend`);
    assert.equal(status, 200, text);
    const [row] = await deliveriesOf(hook.id);
    assert.deepEqual(
      [body.id, body.state, body.attempts, body.settled_datetime],
      [before.message_id, "pending", 4, null],
    );
    assert.deepEqual([row.attempts_before, row.payload], [4, before.payload]);
    assert.ok(row.due_at <= new Date());
    assert.ok((await hookRow(hook.id)).next_due_at <= new Date());
  }
});

test("resend: 409 for suppressed deliveries and disabled hooks, and nothing changes", async () => {
  const hook = await makeHook();
  await saveState("withheld", [await happen()]);
  await calm(hook.id);
  const [row] = await deliveriesOf(hook.id);
  const path = `/hooks/${hook.id}/deliveries/${row.message_id}/resend`;
  const withheld = await post(path);
  assert.deepEqual([withheld.status, withheld.body.error], [409, "wrong_state"]);
  assert.match(withheld.body.detail, /withheld/);
  await saveState("delivered", [row.subject_id], 0);
  await post(`/hooks/${hook.id}/disable`);
  const disabled = await post(path);
  assert.deepEqual([disabled.status, disabled.body.error], [409, "wrong_state"]);
  assert.match(disabled.body.detail, /disabled by its owner.*enable the hook first/);
  assert.equal((await deliveriesOf(hook.id))[0].state, "delivered");
  assert.equal((await hookRow(hook.id)).next_due_at, null);
});

test("resend: 409 with the reason if payload and event were deleted, and nothing changes", async () => {
  const hook = await makeHook();
  await saveState("delivered", [await happen()]);
  await calm(hook.id);
  await db.pool.query("update deliveries set payload = null, event_id = null where hook_id = $1", [hook.id]);
  const [before] = await deliveriesOf(hook.id);
  const refused = await post(`/hooks/${hook.id}/deliveries/${before.message_id}/resend`);
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  assert.match(refused.body.detail, /event and payload were deleted/);
  assert.deepEqual(await deliveriesOf(hook.id), [before]);
  assert.equal((await hookRow(hook.id)).next_due_at, null);
});

test("test event: a delivery with the hook's type and owner and no subject", async () => {
  const hook = await makeHook({ type: "upload_added", version: "2026-10-01" });
  const { status, body, text } = await post(`/hooks/${hook.id}/test`);
  assert.equal(status, 200, text);
  const [row] = await deliveriesOf(hook.id);
  assert.deepEqual(
    [body.id, body.event_type, body.subject_id, body.state],
    [row.message_id, "upload_added", hook.id, "pending"],
  );
  assert.deepEqual(JSON.parse(row.payload), {
    type: "upload_added",
    user_id: admin.id,
    data: { test: true },
  });
  assert.ok((await hookRow(hook.id)).next_due_at <= new Date());
  await post(`/hooks/${hook.id}/disable`);
  assert.equal((await post(`/hooks/${hook.id}/test`)).status, 409);
  assert.equal((await deliveriesOf(hook.id)).length, 1);
});

test("rotate: the new secret is shown once and stored encrypted; the old one stays valid for the overlap", async () => {
  const hook = await makeHook();
  const began = Date.now();
  const { status, body, text } = await post(`/hooks/${hook.id}/rotate-secret`);
  assert.equal(status, 200, text);
  assert.match(body.secret, /^whsec_/);
  assert.notEqual(body.secret, hook.secret);
  const until = Date.parse(body.previous_secret_until);
  assert.ok(until >= began + 86_400_000 && until <= Date.now() + 86_400_000);
  const row = await hookRow(hook.id);
  assert.deepEqual(
    [app.encryptor.decrypt(row.secret), app.encryptor.decrypt(row.previous_secret)],
    [body.secret, hook.secret],
  );
  assert.ok(!row.secret.includes(Buffer.from(body.secret.slice(6))), "in clear");
  const shown = await get(`/hooks/${hook.id}`);
  assert.equal(shown.body.previous_secret_until, body.previous_secret_until);
  assert.ok(!shown.text.includes(body.secret.slice(6)));
  const again = await post(`/hooks/${hook.id}/rotate-secret`, { overlap_sec: 60 });
  const after = await hookRow(hook.id);
  assert.equal(app.encryptor.decrypt(after.previous_secret), body.secret);
  assert.equal(app.encryptor.decrypt(after.secret), again.body.secret);
  const ended = await post(`/hooks/${hook.id}/rotate-secret`, { overlap_sec: 0 });
  assert.equal(ended.body.previous_secret_until, null);
  assert.equal((await hookRow(hook.id)).previous_secret, null);
  for (const overlap_sec of [-1, 2_592_001, 1.5, "60"]) {
    const refused = await post(`/hooks/${hook.id}/rotate-secret`, { overlap_sec });
    assert.deepEqual([refused.status, refused.body.violations[0].pointer], [400, "/overlap_sec"]);
  }
});

test("disable and enable: pending deliveries are kept, failures are cleared, and both can be repeated", async () => {
  const hook = await makeHook();
  const subject = await happen();
  await db.pool.query("update hooks set failing_since = now() where id = $1", [hook.id]);
  const off = await post(`/hooks/${hook.id}/disable`);
  assert.deepEqual(
    [off.status, off.body.enabled, off.body.disabled_reason, off.body.pending],
    [200, false, "disabled by its owner", 1],
  );
  assert.ok(off.body.disabled_datetime);
  const again = await post(`/hooks/${hook.id}/disable`);
  assert.equal(again.body.disabled_datetime, off.body.disabled_datetime);
  await happen();
  assert.equal((await deliveriesOf(hook.id)).length, 1, "no deliveries are created for a disabled hook");
  await calm(hook.id);
  const on = await post(`/hooks/${hook.id}/enable`);
  assert.deepEqual(
    [on.status, on.body.enabled, on.body.disabled_reason, on.body.disabled_datetime, on.body.failing_since],
    [200, true, null, null, null],
  );
  const [row] = await deliveriesOf(hook.id);
  assert.equal(row.subject_id, subject);
  assert.deepEqual((await hookRow(hook.id)).next_due_at, row.due_at);
  assert.equal((await post(`/hooks/${hook.id}/enable`)).status, 200);
});
