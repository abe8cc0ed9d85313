import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { insertHook } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { confirmClock, createClockGuard, readClockState } from "./clock-guard.ts";

const minuteMs = 60_000;
const app = await startTestApp({ worker: false });
const { db } = app;
const lines: string[] = [];
const log = { warn: (line: string) => lines.push(line), info: (line: string) => lines.push(line) };
// biome-ignore lint/suspicious/noExplicitAny: the guard only calls these with a line of text.
const guard = createClockGuard(db, log as any, minuteMs);

beforeEach(async () => {
  lines.length = 0;
  await db.pool.query("delete from clock_guard");
  await db.pool.query("delete from events");
});

/** Moves what the guard has stored into the past, as if the clock had jumped ahead by as much. */
async function jump(interval: string): Promise<void> {
  await db.pool.query("update clock_guard set seen_at = seen_at - $1::interval", [interval]);
}

async function addEvents(count: number, age: string, to = db): Promise<void> {
  await to.pool.query(
    `with workspace as (
       insert into workspaces (id, name, members_id) values (gen_random_uuid(), 'W', gen_random_uuid()) returning id)
     insert into events (event_id, workspace_id, type, subject_id, data, occurred_at)
     select gen_random_uuid(), workspace.id, 'story_deleted', gen_random_uuid(), '{}', now() - $2::interval
     from workspace, generate_series(1, $1)`,
    [count, age],
  );
}

test("a clock that runs is trusted, also after a restart or a night", async () => {
  assert.equal(await guard.mayDelete(), true);
  await jump("30 minutes");
  assert.equal(await guard.mayDelete(), true);
  await addEvents(1000, "1 day");
  await addEvents(150, "31 days");
  await jump("10 hours");
  assert.equal(await guard.mayDelete(), true, "a seventh of the history is what a long night may cost");
  assert.deepEqual(lines, []);
});

test("a jump of 60 days stops deletion by age with a warning, until an operator confirms it", async () => {
  await guard.mayDelete();
  await jump("60 days");
  assert.equal(await guard.mayDelete(), false);
  assert.equal(await guard.mayDelete(), false);
  assert.match(
    lines.join("\n"),
    /^the clock jumped from .* to .*Deletion by age is paused.*parley clock confirm.*$/,
  );
  assert.equal((await readClockState(db)).isTrusted, false);
  assert.equal(await guard.isTrusted(), false);
  await confirmClock(db);
  assert.equal(await guard.isTrusted(), true);
  assert.equal(await guard.mayDelete(), true);
  assert.equal((await readClockState(db)).isTrusted, true);
});

test("between the intervals a jump is noticed before anything is stored about it", async () => {
  assert.equal(await guard.isTrusted(), true, "nothing is stored yet");
  await guard.mayDelete();
  assert.equal(await guard.isTrusted(), true);
  await jump("2 hours");
  assert.equal(await guard.isTrusted(), false);
  assert.equal((await readClockState(db)).isTrusted, true);
});

test("a shorter jump stops deletion when it would cost an unusual share of the history", async () => {
  await guard.mayDelete();
  await addEvents(100, "1 day");
  await addEvents(100, "31 days");
  await jump("2 days");
  assert.equal(await guard.mayDelete(), false);
});

test("a clock that is corrected is trusted again", async () => {
  await guard.mayDelete();
  await jump("60 days");
  assert.equal(await guard.mayDelete(), false);
  // The same as a clock that goes back by 60 days.
  await db.pool.query(
    "update clock_guard set jumped_from = jumped_from + '60 days', jumped_to = jumped_to + '60 days', seen_at = seen_at + '60 days'",
  );
  assert.equal(await guard.mayDelete(), true);
  assert.equal((await readClockState(db)).isTrusted, true);
});

test("deletion continues once as much time has really passed, in however many intervals", async () => {
  await guard.mayDelete();
  await jump("5 days");
  assert.equal(await guard.mayDelete(), false);
  for (let hours = 1; hours < 120; hours += 1) {
    await db.pool.query("update clock_guard set passed = passed + '1 hour'");
    if (hours < 119) assert.equal(await guard.mayDelete(), false, `after ${hours} hours`);
  }
  await db.pool.query("update clock_guard set passed = passed + '2 hours'");
  assert.equal(await guard.mayDelete(), true);
});

test("a second jump, or time in which no worker looked, does not count as time that passed", async () => {
  await guard.mayDelete();
  await jump("10 days");
  assert.equal(await guard.mayDelete(), false);
  await jump("20 days");
  assert.equal(await guard.mayDelete(), false);
  const { rows } = await db.pool.query("select extract(epoch from passed)::int as passed from clock_guard");
  assert.ok(rows[0].passed < 60, `${rows[0].passed} s`);
});

test("a worker deletes old history after the jump only when the clock was confirmed", async () => {
  const other = await startTestApp({
    env: { PARLEY_SWEEP_INTERVAL: "200ms" },
    recurring: ["delete_old_history"],
  });
  const count = async () => (await other.db.pool.query("select 1 from events")).rowCount;
  await until(
    "a worker has looked at the clock",
    async () => ((await other.db.pool.query("select 1 from clock_guard")).rowCount ?? 0) > 0,
  );
  await other.db.pool.query("update clock_guard set seen_at = seen_at - interval '60 days'");
  await until("the jump is noticed", async () => !(await readClockState(other.db)).isTrusted);
  await addEvents(200, "40 days", other.db);
  const seenAt = async () =>
    (await other.db.pool.query("select seen_at from clock_guard")).rows[0].seen_at.getTime();
  // Two whole intervals.
  for (const _ of [1, 2]) {
    const before = await seenAt();
    await until("another interval has passed", async () => (await seenAt()) > before);
  }
  assert.equal(await count(), 200);
  await confirmClock(other.db);
  await until("the history is deleted", async () => (await count()) === 0);
});

test("a worker disables no hooks by a clock that jumped", async () => {
  const other = await startTestApp({
    env: { PARLEY_SWEEP_INTERVAL: "200ms" },
    recurring: ["disable_expired_hooks"],
  });
  await until(
    "a worker has looked at the clock",
    async () => ((await other.db.pool.query("select 1 from clock_guard")).rowCount ?? 0) > 0,
  );
  await other.db.pool.query("update clock_guard set seen_at = seen_at - interval '60 days'");
  await until("the jump is noticed", async () => !(await readClockState(other.db)).isTrusted);
  const hook = await insertHook(other, { access_until: new Date(Date.now() - 30 * 24 * 60 * minuteMs) });
  const isDisabled = async () =>
    (await other.db.pool.query("select 1 from hooks where id = $1 and disabled_at is not null", [hook.id]))
      .rowCount === 1;
  const seenAt = async () =>
    (await other.db.pool.query("select seen_at from clock_guard")).rows[0].seen_at.getTime();
  for (const _ of [1, 2]) {
    const before = await seenAt();
    await until("another interval has passed", async () => (await seenAt()) > before);
  }
  assert.equal(await isDisabled(), false);
  await confirmClock(other.db);
  await until("the hook is disabled", isDisabled);
});
