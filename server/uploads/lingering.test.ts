import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../test/support/app.ts";
import { sampleTranscript } from "../../test/support/factories.ts";
import { jobExpirySeconds } from "../jobs/queue.ts";
import { renderTimeoutMs } from "../media/render/index.ts";
import { uploadFileKey } from "../storage/layout.ts";
import { judgeUploadJob } from "./judge.ts";
import { promoteUploadJob } from "./promote.ts";
import { fewestAttempts, tendLingering } from "./sweeps.ts";
import { startUploads, sweepLog } from "./testing.ts";

const { app, member, create, staged } = await startUploads({ worker: false });
const token = member.token;
const { log, lines, details } = sweepLog();
const deps = { ...app, log };
const longAgo = "now() - interval '25 hours'";

function set(id: string, assignments: string) {
  return app.db.pool.query(`update uploads set ${assignments} where id = $1`, [id]);
}

async function row(id: string) {
  return (await app.db.pool.query("select * from uploads where id = $1", [id])).rows[0];
}

/** An upload whose file is there and is to be judged. */
async function processing(): Promise<string> {
  const { id } = (await create({ media_type: "video" })).body;
  await app.store.put(uploadFileKey(id), Buffer.from("a file"));
  await set(id, "status = 'processing', received_at = now()");
  return id;
}

test("an upload whose job is lost gets another", async () => {
  const id = await processing();
  await set(id, "updated_at = now() - interval '2 minutes'");
  await tendLingering(deps);
  const { rows } = await app.db.pool.query(
    "select data from pgboss.job where name = 'judge_upload' and state = 'created' and singleton_key = $1",
    [id],
  );
  assert.deepEqual(rows, [{ data: { uploadId: id } }]);
});

test("given up: only what many attempts over all the time have not moved; the log says in what they ended", async () => {
  const id = await processing();
  // No worker for a day, or a long queue.
  await set(id, `updated_at = ${longAgo}`);
  await tendLingering(deps);
  assert.equal((await row(id)).status, "processing");
  // One attempt before the workers went away.
  await set(id, `work_started_at = ${longAgo}, work_attempts = ${fewestAttempts - 1}`);
  await tendLingering(deps);
  assert.equal((await row(id)).status, "processing");
  // Many attempts, but not for long.
  await set(id, `work_started_at = now() - interval '23 hours', work_attempts = 1000`);
  await tendLingering(deps);
  assert.equal((await row(id)).status, "processing");
  // A worker is at it.
  await set(id, `work_started_at = ${longAgo}, work_attempts = ${fewestAttempts}, work_error = 'ENOSPC'`);
  const [taken] = await app.jobs.boss.fetch<{ uploadId: string }>("judge_upload", { batchSize: 100 });
  assert.ok(taken !== undefined);
  await tendLingering(deps);
  assert.equal((await row(id)).status, "processing");
  // It was: its heart has stopped.
  await app.db.pool.query("update pgboss.job set heartbeat_on = now() - interval '1 minute'");
  lines.length = 0;
  await tendLingering(deps);
  const given = (await call(app, "POST", `/uploads/${id}`, {}, { token })).body;
  assert.equal(given.status, "failure");
  assert.match(given.failure.reason, /could not finish this upload within 1440 minutes/);
  assert.doesNotMatch(given.failure.reason, /ENOSPC/);
  assert.equal(details.at(-1)?.lastError, "ENOSPC");
  assert.equal(await app.store.head(uploadFileKey(id)), null);
});

test("attempts: each is counted with its error, and the next status begins at nothing", async () => {
  const id = await processing();
  const broken = { ...app, store: { ...app.store, head: () => Promise.reject(fault("EIO")) } };
  for (let attempt = 1; attempt <= 2; attempt++) {
    await assert.rejects(judgeUploadJob(broken, id), { code: "EIO" });
    const { work_attempts, work_error, work_started_at } = await row(id);
    assert.deepEqual([work_attempts, work_error], [attempt, "EIO"]);
    assert.ok(Math.abs(Date.now() - work_started_at.getTime()) < 60_000);
  }
  const { work_started_at: first } = await row(id);
  await set(id, "work_started_at = work_started_at - interval '1 hour'");
  await assert.rejects(judgeUploadJob(broken, id));
  assert.equal(
    (await row(id)).work_started_at.getTime(),
    first.getTime() - 3_600_000,
    "the first one counts",
  );
  await judgeUploadJob(app, id);
  const { status, work_attempts, work_started_at, work_error } = await row(id);
  assert.deepEqual([status, work_attempts, work_started_at, work_error], ["failure", 0, null, null]);
});

test("attempts: a transcript's promotion that fails counts as well", async () => {
  const { body } = await staged({ transcript: sampleTranscript });
  await call(app, "POST", `/uploads/${body.id}/promote`, {}, { token });
  const kysely = {
    transaction: () => ({ execute: () => Promise.reject(fault("57014")) }),
    updateTable: app.db.kysely.updateTable.bind(app.db.kysely),
  } as unknown as typeof app.db.kysely;
  await assert.rejects(promoteUploadJob({ ...app, db: { ...app.db, kysely } }, body.id), { code: "57014" });
  const { status, work_attempts, work_error } = await row(body.id);
  assert.deepEqual([status, work_attempts, work_error], ["promoting", 1, "57014"]);
});

function fault(code: string): Error {
  return Object.assign(new Error("it did not work"), { code });
}

test("the longest rendering ends before its job is taken to hang, and that before it is given up", () => {
  const longest = renderTimeoutMs({ durationMs: 24 * 86_400_000, isStoredForm: false });
  assert.ok(longest < jobExpirySeconds * 1000 - 3_600_000, "with an hour for fetching and storing at least");
  assert.ok(jobExpirySeconds * 1000 < app.config.processingTtlMs);
});
