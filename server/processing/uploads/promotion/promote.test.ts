import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { call, startTestApp } from "../../../../test/support/app.ts";
import {
  makeUser,
  makeWorkspace,
  sampleTranscript,
  waitForRecording,
} from "../../../../test/support/factories.ts";
import { runJob } from "../../../../test/support/run-job.ts";
import { startWorker } from "../../../worker.ts";
import { deleteStaleUploadsKind } from "../lifecycle/stale.ts";
import { promoteUploadJob } from "./promote.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeWorkspace(app.db);
const log = pino({ level: "silent" });

async function createPromoting(): Promise<string> {
  const { body } = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "transcript", attributes: { transcript: sampleTranscript } },
    { token: workspace.member.token },
  );
  assert.equal(body.status, "promoting");
  return body.id;
}

async function recordingsOf(uploadId: string): Promise<number> {
  const rows = await app.db.kysely
    .selectFrom("events")
    .select("id")
    .where("type", "=", "upload_updated")
    .where("subject_id", "=", uploadId)
    .where(sql<boolean>`data ->> 'status' = 'success'`)
    .execute();
  return rows.length;
}

test("the job run ten times concurrently creates one recording", async () => {
  const uploadId = await createPromoting();
  await Promise.all(Array.from({ length: 10 }, () => promoteUploadJob(app, uploadId)));
  assert.equal(await recordingsOf(uploadId), 1);
  await promoteUploadJob(app, uploadId);
  assert.equal(await recordingsOf(uploadId), 1);
});

test("data that can't be stored fails the upload with a reason, and the failure is reported", async () => {
  const uploadId = await createPromoting();
  // A media type that the recordings table refuses stands for permanently invalid data.
  await app.db.pool.query(
    "alter table recordings add constraint refused check (title <> 'Refused') not valid",
  );
  try {
    await app.db.kysely.updateTable("uploads").set({ title: "Refused" }).where("id", "=", uploadId).execute();
    await assert.rejects(promoteUploadJob(app, uploadId));
  } finally {
    await app.db.pool.query("alter table recordings drop constraint refused");
  }
  const { body } = await call(app, "POST", `/uploads/${uploadId}`, {}, { token: workspace.member.token });
  assert.equal(body.status, "failure");
  assert.match(body.failure.reason, /could not be stored/);
  const last = await app.db.kysely
    .selectFrom("events")
    .select("data")
    .where("subject_id", "=", uploadId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  assert.equal((last.data as { status: string }).status, "failure");
});

test("a promotion whose job was lost is found by the sweep and finished", async () => {
  const uploadId = await createPromoting();
  await app.db.pool.query("delete from jobs where name = 'promote_upload'");
  await app.db.pool.query("update uploads set updated_at = now() - interval '1 hour' where id = $1", [
    uploadId,
  ]);
  const worker = startWorker({ ...app, log });
  try {
    await waitForRecording(app, workspace.member.token, uploadId);
  } finally {
    await worker.stop(5000);
  }
});

test("stale uploads are deleted, those that became recordings stay", async () => {
  const staged = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "transcript", auto_promote: false, attributes: { transcript: sampleTranscript } },
    { token: workspace.member.token },
  );
  const promoted = await createPromoting();
  await promoteUploadJob(app, promoted);
  await app.db.pool.query("update uploads set updated_at = now() - interval '31 days'");
  await runJob(app, deleteStaleUploadsKind);
  const gone = await call(app, "POST", `/uploads/${staged.body.id}`, {}, { token: workspace.member.token });
  assert.equal(gone.status, 404);
  const kept = await call(app, "POST", `/uploads/${promoted}`, {}, { token: workspace.member.token });
  assert.equal(kept.body.status, "success");
});

test("a user who joins while a recording is promoted sees it all the same", async () => {
  for (let round = 0; round < 10; round++) {
    const own = await makeWorkspace(app.db);
    const email = `joins${round}@${own.domain}`;
    const { body } = await call(
      app,
      "POST",
      "/uploads/create",
      { media_type: "transcript", attributes: { transcript: sampleTranscript, participants: [{ email }] } },
      { token: own.member.token },
    );
    const [joined] = await Promise.all([makeUser(app.db, own, { email }), promoteUploadJob(app, body.id)]);
    const { body: list } = await call(app, "POST", "/recordings", {}, { token: joined.token });
    assert.equal(list.recordings.length, 1, `round ${round}`);
  }
});
