import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeWorkspace } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { removeOrphans } from "../../operations/storage-maintenance/orphans.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { applyRetention } from "./sweep.ts";
import { exists, filesBelow, makeOld, manage } from "./test/retention.ts";

// The worker does not come to its sweep here: the tests call it when they want it.
const app = await startTestApp({ env: { PARLEY_SWEEP_INTERVAL: "1d" } });
const { db } = app;
const { pool } = db;
const log = pino({ level: "silent" });
const sweep = (store: ObjectStore = app.store) => applyRetention({ db, store, log });

async function makeRule(token: string, conditions: object): Promise<string> {
  const { body, status, text } = await manage(app, "POST", "/retention/rules", token, {
    name: "r",
    ...conditions,
  });
  assert.equal(status, 200, text);
  return body.id;
}

/** As if the days that a rule waits had gone by. */
const ripen = (ruleId: string) =>
  pool.query("update retention_rules set acts_from = now() - interval '1 s' where id = $1", [ruleId]);

test("a rule acts a day after it was created, and a day after each change", async () => {
  const { admin } = await makeWorkspace(db);
  const id = await makeOld(app, admin.token, 40);
  const rule = await makeRule(admin.token, { older_than_days: 30 });
  await sweep();
  assert.ok(await exists(app, id));
  await ripen(rule);
  const { body } = await manage(app, "PATCH", `/retention/rules/${rule}`, admin.token, {
    older_than_days: 29,
  });
  const inMs = Date.parse(body.acts_from_datetime) - Date.now();
  assert.ok(inMs > 86_000_000 && inMs <= 86_400_000 + 1000, `${inMs}`);
  await sweep();
  assert.ok(await exists(app, id));
  await ripen(rule);
  await sweep();
  assert.equal(await exists(app, id), false);
});

test("two workers at once delete each recording once", async () => {
  const { admin, id: workspaceId } = await makeWorkspace(db);
  const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => makeOld(app, admin.token, 40 + n)));
  for (const conditions of [{ older_than_days: 30 }, { older_than_days: 31 }])
    await ripen(await makeRule(admin.token, conditions));
  await Promise.all([sweep(), sweep(), sweep()]);
  const { rows } = await pool.query(
    `select (select count(*)::integer from recordings where workspace_id = $1) as left,
      (select count(*)::integer from retention_receipts where workspace_id = $1 and (receipt ->> 'is_complete')::boolean) as receipts,
      (select count(distinct subject_id)::integer from events where type = 'recording_deleted' and workspace_id = $1) as told,
      (select count(*)::integer from events where type = 'recording_deleted' and workspace_id = $1) as events`,
    [workspaceId],
  );
  assert.deepEqual(rows, [{ left: 0, receipts: ids.length, told: ids.length, events: ids.length }]);
});

/** Locks recordings, starts a sweep, runs the given change, and then lets the sweep continue. */
async function whileSweepWaits(
  recordingId: string,
  happen: (run: (sql: string) => Promise<unknown>) => Promise<unknown>,
) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select 1 from recordings where id = $1 for update", [recordingId]);
    const swept = sweep();
    await until("the sweep waits for the recording", async () => {
      const { rows } = await pool.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return rows.length > 0;
    });
    await happen((sql) => client.query(sql));
    await client.query("commit");
    await swept;
  } finally {
    client.release();
  }
}

test("a rule, hold or share changed while the rule is applied takes effect at once", async () => {
  const workspace = await makeWorkspace(db);
  const { admin, member } = workspace;
  const team = await makeTeam(db, workspace, [member]);
  const id = await makeOld(app, member.token, 40, { team_id: team.id });
  const rule = await makeRule(admin.token, { older_than_days: 30, team_id: team.id });
  await ripen(rule);
  const changed = (set: string) => () => pool.query(`update retention_rules set ${set} where id = '${rule}'`);
  await whileSweepWaits(id, changed("is_enabled = false"));
  assert.ok(await exists(app, id), "switched off");
  await changed("is_enabled = true, acts_from = now() - interval '1 s'")();
  await whileSweepWaits(id, changed("older_than_days = 50"));
  assert.ok(await exists(app, id), "it is too young now");
  await changed("older_than_days = 30")();
  await whileSweepWaits(id, (run) => run(`delete from recording_teams where recording_id = '${id}'`));
  assert.ok(await exists(app, id), "it is the team's no more");
  await pool.query("insert into recording_teams (recording_id, team_id) values ($1, $2)", [id, team.id]);
  await whileSweepWaits(id, (run) =>
    run(`insert into legal_holds values ('${id}', '${workspace.id}', 'x', '${admin.id}')`),
  );
  assert.ok(await exists(app, id), "it is held");
  await pool.query("delete from legal_holds where recording_id = $1", [id]);
  await whileSweepWaits(id, () => manage(app, "DELETE", `/retention/rules/${rule}`, admin.token));
  assert.ok(await exists(app, id), "the rule has gone");
});

test("killed between rows and files: the receipt says so, and the orphan sweep removes the files", async () => {
  const { admin } = await makeWorkspace(db);
  const id = await makeOld(app, admin.token, 40);
  await app.store.put(recordingObjectKey(id, "media.mp4"), Buffer.from("bytes"));
  await ripen(await makeRule(admin.token, { older_than_days: 30 }));
  // A process that dies there never comes back from the store.
  const dying = new Proxy(app.store, {
    get: (store, name) =>
      name === "list"
        ? () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })
        : Reflect.get(store, name),
  });
  void sweep(dying);
  await until("the rows are gone", async () => !(await exists(app, id)));
  const receiptOf = async () =>
    (await manage(app, "GET", "/retention/receipts", admin.token)).body.receipts[0].receipt;
  assert.deepEqual([(await receiptOf()).is_complete, (await receiptOf()).removed.objects], [false, 0]);
  assert.equal((await filesBelow(app, `recordings/${id}/`)).length, 1);
  await removeOrphans(db, app.store, log);
  assert.deepEqual(await filesBelow(app, `recordings/${id}/`), []);
});

test("a recording that can't be deleted does not block the others", async () => {
  const { admin } = await makeWorkspace(db);
  const [stuck, other] = [await makeOld(app, admin.token, 41), await makeOld(app, admin.token, 40)];
  // What no feature does: a row that hangs on the recording and does not go with it.
  await pool.query(`create table hanger (recording_id uuid references recordings (id))`);
  await pool.query("insert into hanger values ($1)", [stuck]);
  await ripen(await makeRule(admin.token, { older_than_days: 30 }));
  await sweep();
  assert.deepEqual([await exists(app, stuck), await exists(app, other)], [true, false]);
  await pool.query("drop table hanger");
  await sweep();
  assert.equal(await exists(app, stuck), false);
});
