import assert from "node:assert/strict";
import { test } from "node:test";
import { fanOut } from "../deliveries/fan-out.ts";
import { startManagement } from "../test/management.ts";

const { db, workspace, makeHook, happen, deliveriesOf, saveState, hookRow, calm, get, post } =
  await startManagement({ worker: false });
const { member } = workspace;

const minute = 60_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** Changes the time of the events of these subjects. */
async function backdate(subjectIds: readonly string[], ms: number): Promise<void> {
  await db.pool.query("update events set occurred_at = $2 where subject_id = any($1::uuid[])", [
    subjectIds,
    new Date(Date.now() - ms),
  ]);
}

/** The subjects of a hook's due deliveries, in the order a worker starts them. */
async function dueOf(hookId: string): Promise<string[]> {
  const { rows } = await db.pool.query(
    "select subject_id from deliveries where hook_id = $1 and state = 'pending' and due_at <= now() order by due_at, id",
    [hookId],
  );
  return rows.map((row) => row.subject_id);
}

/** A hook with one delivery in each state, by subject. */
async function makeStates(type: "recording_deleted" | "story_deleted" = "recording_deleted") {
  const hook = await makeHook({ type });
  const subjects: Record<string, string> = {};
  for (const state of ["delivered", "exhausted", "pending", "gone", "withheld"]) {
    const subject = await happen({ type });
    subjects[state] = subject;
    await saveState(state, [subject], 3);
  }
  await db.pool.query("update deliveries set due_at = now() + interval '1 day' where hook_id = $1", [
    hook.id,
  ]);
  await calm(hook.id);
  return { hook, subjects };
}

test("replay failed: exhausted and gone deliveries of the range, in order, with the same ids and a fresh schedule", async () => {
  const { hook, subjects } = await makeStates();
  const before = await deliveriesOf(hook.id);
  const { status, body, text } = await post(`/hooks/${hook.id}/replay`, { since: ago(minute) });
  assert.equal(status, 200, text);
  assert.deepEqual(body, { count: 2 });
  assert.deepEqual(await dueOf(hook.id), [subjects.exhausted, subjects.gone]);
  const rows = await deliveriesOf(hook.id);
  assert.deepEqual(
    rows.map((row) => [row.message_id, row.payload]),
    before.map((row) => [row.message_id, row.payload]),
  );
  assert.deepEqual(
    rows
      .filter((row) => row.due_at <= new Date())
      .map((row) => [row.attempts, row.attempts_before, row.settled_at]),
    [
      [3, 3, null],
      [3, 3, null],
    ],
  );
  assert.ok((await hookRow(hook.id)).next_due_at <= new Date());
  assert.deepEqual((await post(`/hooks/${hook.id}/replay`, { since: ago(minute) })).body, { count: 0 });
});

test("replay: events from since, inclusive, to until, exclusive", async () => {
  const hook = await makeHook();
  const subjects = [await happen(), await happen(), await happen()];
  await saveState("exhausted", subjects);
  for (const [index, subject] of subjects.entries()) await backdate([subject], (10 - index) * minute);
  const { rows } = await db.pool.query("select occurred_at from events where subject_id = $1", [subjects[1]]);
  const middle = rows[0].occurred_at.getTime();
  const at = (ms: number) => new Date(ms).toISOString();
  const replay = async (body: object) => (await post(`/hooks/${hook.id}/replay`, body)).body.count;
  assert.equal(await replay({ since: at(middle + 1), until: at(middle + 2) }), 0);
  assert.equal(await replay({ since: at(middle - 1), until: at(middle) }), 0);
  assert.equal(await replay({ since: at(middle), until: at(middle + 1) }), 1);
  assert.deepEqual(await dueOf(hook.id), [subjects[1]]);
  assert.equal(await replay({ since: at(middle - 3 * minute) }), 2);
});

test("replay all: every delivery that is not suppressed, and events without one, in the order of events", async () => {
  const since = ago(0);
  const { hook, subjects } = await makeStates();
  await post(`/hooks/${hook.id}/disable`);
  const missed = [await happen(), await happen()];
  await post(`/hooks/${hook.id}/enable`);
  const last = await happen();
  await saveState("delivered", [last]);
  // One event in the middle has no delivery: the new one must not be sent after later ones.
  await db.pool.query("delete from deliveries where subject_id = $1 and hook_id = $2", [
    subjects.exhausted,
    hook.id,
  ]);
  const { body } = await post(`/hooks/${hook.id}/replay`, { since, which: "all" });
  const expected = [subjects.delivered, subjects.exhausted, subjects.pending, subjects.gone, ...missed, last];
  assert.equal(body.count, expected.length);
  assert.deepEqual(await dueOf(hook.id), expected);
  const rows = await deliveriesOf(hook.id);
  assert.equal(rows.find((row) => row.subject_id === subjects.withheld).state, "withheld");
  assert.equal(new Set(rows.map((row) => row.event_id)).size, rows.length);
  assert.ok(rows.every((row) => row.event_id !== null));
});

test("replay undelivered: failed deliveries and events without one, and nothing that was delivered", async () => {
  const { hook, subjects } = await makeStates();
  await post(`/hooks/${hook.id}/disable`);
  const missed = await happen();
  const other = await happen({ type: "story_deleted" });
  await post(`/hooks/${hook.id}/enable`);
  await db.pool.query("update deliveries set due_at = now() + interval '1 day' where hook_id = $1", [
    hook.id,
  ]);
  const { body } = await post(`/hooks/${hook.id}/replay`, { since: ago(minute), which: "undelivered" });
  assert.ok(body.count >= 3);
  const due = await dueOf(hook.id);
  assert.equal(due.length, body.count);
  for (const subject of [subjects.exhausted, subjects.gone, missed]) assert.ok(due.includes(subject ?? ""));
  for (const subject of [subjects.delivered, subjects.pending, subjects.withheld, other])
    assert.ok(!due.includes(subject ?? ""));
});

test("replay: a personal hook gets only missed events whose subject its owner can see", async () => {
  const hook = await makeHook({ scope: "personal", owner: member, type: "highlight_deleted" });
  await post(`/hooks/${hook.id}/disable`, undefined, member.token);
  const visible = await happen({ type: "highlight_deleted", audience: [member.id] });
  await happen({ type: "highlight_deleted", audience: [workspace.admin.id] });
  await happen({ type: "highlight_deleted", recordingId: workspace.id, audience: [] });
  await post(`/hooks/${hook.id}/enable`, undefined, member.token);
  const { body } = await post(`/hooks/${hook.id}/replay`, { since: ago(minute), which: "all" }, member.token);
  assert.equal(body.count, 1);
  assert.deepEqual(await dueOf(hook.id), [visible]);
});

test("replay: concurrent replays never create two deliveries of one event", async () => {
  const hook = await makeHook({ type: "story_updated" });
  await post(`/hooks/${hook.id}/disable`);
  await db.pool.query(
    `insert into events (event_id, workspace_id, type, subject_id, data)
     select gen_random_uuid(), $1, 'story_updated', gen_random_uuid(), '{}'
     from generate_series(1, 21000)`,
    [workspace.id],
  );
  while ((await fanOut(db)).events > 0);
  await post(`/hooks/${hook.id}/enable`);
  const body = { since: ago(minute), which: "all" };
  const answers = await Promise.all([1, 2, 3].map(() => post(`/hooks/${hook.id}/replay`, body)));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const rows = await deliveriesOf(hook.id);
  assert.equal(rows.length, 21_000);
  assert.equal(new Set(rows.map((row) => row.event_id)).size, 21_000);
  const { rows: ordered } = await db.pool.query(
    "select count(*)::integer as wrong from (select event_id, lag(event_id) over (order by due_at, id) as before from deliveries where hook_id = $1) x where event_id <= before",
    [hook.id],
  );
  assert.equal(ordered[0].wrong, 0, "in the order of events, across batches");
});

test("replay: a delivery locked by another transaction is skipped without waiting", async () => {
  const { hook, subjects } = await makeStates("story_deleted");
  const client = await db.pool.connect();
  try {
    await client.query("begin");
    await client.query("select 1 from deliveries where subject_id = $1 and hook_id = $2 for update", [
      subjects.pending,
      hook.id,
    ]);
    const { body } = await post(`/hooks/${hook.id}/replay`, { since: ago(minute), which: "all" });
    assert.ok(body.count >= 3);
    assert.ok(!(await dueOf(hook.id)).includes(subjects.pending ?? ""));
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("replay: 400 for an invalid range with the reason, 409 while the hook is disabled", async () => {
  const hook = await makeHook();
  const day = 24 * 60 * minute;
  for (const [body, pointer, detail] of [
    [{}, "/since", /required/],
    [{ since: "yesterday" }, "/since", /ISO 8601/],
    [{ since: ago(31 * day) }, "/since", /kept for 30 days/],
    [{ since: ago(-minute) }, "/since", /future/],
    [{ since: ago(minute), until: ago(2 * minute) }, "/until", /later than since/],
    [{ since: ago(minute), which: "some" }, "/which", /failed, undelivered, all/],
  ] as const) {
    const answer = await post(`/hooks/${hook.id}/replay`, body);
    assert.deepEqual([answer.status, answer.body.error], [400, "invalid_input"], JSON.stringify(body));
    assert.equal(answer.body.violations[0].pointer, pointer);
    assert.match(answer.body.violations[0].detail, detail);
  }
  await post(`/hooks/${hook.id}/disable`);
  const answer = await post(`/hooks/${hook.id}/replay`, { since: ago(minute) });
  assert.deepEqual([answer.status, answer.body.error], [409, "wrong_state"]);
  assert.equal((await get(`/hooks/${hook.id}`)).body.enabled, false);
});
