import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { insertHook, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { fanOut } from "../../connections/webhooks/deliveries/fan-out.ts";
import { correctFutureDeliveries } from "../../connections/webhooks/deliveries/history.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { claimJob, correctFutureJobs } from "./queries.ts";

const dayMs = 86_400_000;
const app = await startTestApp({ worker: false });
const { pool } = app.db;

test("times that a clock ahead by 60 days left behind are corrected; usual times stay", async () => {
  const key = unknownId();
  await app.db.kysely
    .transaction()
    .execute((tx) => app.jobs.enqueue(tx, "validate_upload", { uploadId: key }, key));
  await pool.query("update jobs set due_at = now() + interval '60 days' where key = $1", [key]);
  await pool.query(
    "insert into job_turns (queue, owner, started_at) values ('validate_upload', 'one', now() + interval '60 days')",
  );
  const workspace = await makeWorkspace(app.db);
  const hooks = [
    await insertHook(app, { workspace_id: workspace.id, hook_url: "https://stuck.example/" }),
    await insertHook(app, { workspace_id: workspace.id, hook_url: "https://usual.example/" }),
  ];
  await app.db.kysely.transaction().execute((tx) =>
    recordEvent(tx, {
      workspaceId: workspace.id,
      type: "recording_deleted",
      subjectId: unknownId(),
      audience: [],
      data: {},
    }),
  );
  await fanOut(app.db);
  const idOf = (host: string) => hooks.find(({ hook_url }) => hook_url.includes(host))?.id;
  const wait = async (host: string, interval: string) => {
    const values = [idOf(host), interval];
    await pool.query("update deliveries set due_at = now() + $2::interval where hook_id = $1", values);
    await pool.query(
      "update hooks set next_due_at = now() + $2::interval, failing_since = now() where id = $1",
      values,
    );
  };
  await wait("stuck", "60 days");
  await wait("usual", "20 hours");

  await correctFutureJobs(pool);
  await correctFutureDeliveries(pool, { now: new Date(), maxWaitMs: 2 * dayMs });

  const one = async (query: string, values: unknown[] = []) => (await pool.query(query, values)).rows[0];
  assert.deepEqual(await one("select due_at <= now() as is_due from jobs where key = $1", [key]), {
    is_due: true,
  });
  assert.equal((await pool.query("select 1 from job_turns")).rowCount, 0);
  const isDue = (host: string) =>
    one(
      `select next_due_at <= now() as hook,
         (select bool_and(due_at <= now()) from deliveries where hook_id = h.id) as deliveries
       from hooks h where id = $1`,
      [idOf(host)],
    );
  assert.deepEqual(await isDue("stuck"), { hook: true, deliveries: true });
  assert.deepEqual(await isDue("usual"), { hook: false, deliveries: false });
  assert.deepEqual((await claimJob(pool, "validate_upload", "anyone"))?.data, {
    uploadId: key,
  });
});
