import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { sampleTranscript } from "../../../../test/support/factories.ts";
import { defaultTimeoutMs } from "../../../platform/jobs/define.ts";
import { claimJob } from "../../../platform/jobs/queries.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { renderTimeoutMs } from "../../media/render/index.ts";
import { promoteUploadJob } from "../promotion/promote.ts";
import { validateUploadJob } from "../promotion/validate-file.ts";
import { startUploads, sweepLog } from "../test/uploads.ts";
import { failStuckUploads, minAttempts, retryStuckUploads } from "./sweeps.ts";

const { app, member, create, staged } = await startUploads({ worker: false });
const token = member.token;
const { log, lines, details } = sweepLog();
const deps = { ...app, log };
const longAgo = "now() - interval '25 hours'";

async function sweep(): Promise<void> {
  await retryStuckUploads(deps);
  await failStuckUploads(deps);
}

function set(id: string, assignments: string) {
  return app.db.pool.query(`update uploads set ${assignments} where id = $1`, [id]);
}

async function row(id: string) {
  return (await app.db.pool.query("select * from uploads where id = $1", [id])).rows[0];
}

/** An upload whose file is there and waits for validation. */
async function processing(): Promise<string> {
  const { id } = (await create({ media_type: "video" })).body;
  await app.store.put(uploadFileKey(id), Buffer.from("a file"));
  await set(id, "status = 'processing', received_at = now()");
  return id;
}

test("an upload whose job is lost gets another", async () => {
  const id = await processing();
  await set(id, "updated_at = now() - interval '2 minutes'");
  await retryStuckUploads(deps);
  const { rows } = await app.db.pool.query(
    "select data from jobs where name = 'validate_upload' and run_id is null and key = $1",
    [id],
  );
  assert.deepEqual(rows, [{ data: { uploadId: id } }]);
});

test("only uploads that many attempts over all the time have not moved are failed; the log names their last error", async () => {
  const id = await processing();
  // No worker for a day, or a long queue.
  await set(id, `updated_at = ${longAgo}`);
  await sweep();
  assert.equal((await row(id)).status, "processing");
  // One attempt before the workers went away.
  await set(id, `work_started_at = ${longAgo}, work_attempts = ${minAttempts - 1}`);
  await sweep();
  assert.equal((await row(id)).status, "processing");
  // Many attempts, but not for long.
  await set(id, `work_started_at = now() - interval '23 hours', work_attempts = 1000`);
  await sweep();
  assert.equal((await row(id)).status, "processing");
  // A worker is processing it.
  await set(id, `work_started_at = ${longAgo}, work_attempts = ${minAttempts}, work_error = 'ENOSPC'`);
  while ((await claimJob(app.db.pool, "validate_upload", "anyone")) !== undefined);
  await sweep();
  assert.equal((await row(id)).status, "processing");
  // It was: its heartbeat has stopped.
  await app.db.pool.query("update jobs set heartbeat_at = now() - interval '1 minute'");
  lines.length = 0;
  await sweep();
  const given = (await call(app, "POST", `/uploads/${id}`, {}, { token })).body;
  assert.equal(given.status, "failure");
  assert.match(given.failure.reason, /could not finish this upload within 1440 minutes/);
  assert.doesNotMatch(given.failure.reason, /ENOSPC/);
  assert.equal(details.at(-1)?.lastError, "ENOSPC");
  assert.equal(await app.store.head(uploadFileKey(id)), null);
});

test("attempts: each is counted with its error, and the next status starts from zero", async () => {
  const id = await processing();
  const broken = { ...app, store: { ...app.store, head: () => Promise.reject(fault("EIO")) } };
  for (let attempt = 1; attempt <= 2; attempt++) {
    await assert.rejects(validateUploadJob(broken, id), { code: "EIO" });
    const { work_attempts, work_error, work_started_at } = await row(id);
    assert.deepEqual([work_attempts, work_error], [attempt, "EIO"]);
    assert.ok(Math.abs(Date.now() - work_started_at.getTime()) < 60_000);
  }
  const { work_started_at: first } = await row(id);
  await set(id, "work_started_at = work_started_at - interval '1 hour'");
  await assert.rejects(validateUploadJob(broken, id));
  assert.equal(
    (await row(id)).work_started_at.getTime(),
    first.getTime() - 3_600_000,
    "the first one counts",
  );
  await validateUploadJob(app, id);
  const { status, work_attempts, work_started_at, work_error } = await row(id);
  assert.deepEqual([status, work_attempts, work_started_at, work_error], ["failure", 0, null, null]);
});

test("attempts: a failed promotion of a transcript counts as well", async () => {
  const { body } = await staged({ transcript: sampleTranscript });
  await call(app, "POST", `/uploads/${body.id}/promote`, {}, { token });
  const kysely: typeof app.db.kysely = Object.create(app.db.kysely, {
    transaction: { value: () => ({ execute: () => Promise.reject(fault("57014")) }) },
    updateTable: { value: app.db.kysely.updateTable.bind(app.db.kysely) },
  });
  await assert.rejects(promoteUploadJob({ ...app, db: { ...app.db, kysely } }, body.id), { code: "57014" });
  const { status, work_attempts, work_error } = await row(body.id);
  assert.deepEqual([status, work_attempts, work_error], ["promoting", 1, "57014"]);
});

function fault(code: string): Error {
  return Object.assign(new Error("it did not work"), { code });
}

test("the longest rendering ends before its job counts as stuck, and that before the upload is failed", () => {
  const longest = renderTimeoutMs({ durationMs: 24 * 86_400_000, isStoredForm: false });
  assert.ok(longest < defaultTimeoutMs - 3_600_000, "with an hour for fetching and storing at least");
  assert.ok(defaultTimeoutMs < app.config.processingTtlMs);
});
