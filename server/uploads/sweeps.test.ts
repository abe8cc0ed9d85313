import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { call } from "../../test/support/app.ts";
import { sampleTranscript, unknownId } from "../../test/support/factories.ts";
import { until } from "../../test/support/until.ts";
import { recordingObjectKey, uploadFileKey } from "../storage/layout.ts";
import { failExpiredUploads, noticeArrivals } from "./arrival.ts";
import { removeOrphans } from "./orphans.ts";
import { promoteUploadJob } from "./promote.ts";
import { failExpiredMedia, tendLingering } from "./sweeps.ts";
import { startUploads } from "./testing.ts";

const started = await startUploads({ worker: false });
const { app, member, create } = started;
const token = member.token;
const log = { error() {} } as never;

async function begin(): Promise<string> {
  return (await create({ media_type: "video", auto_promote: false })).body.id;
}

async function get(id: string) {
  return (await call(app, "POST", `/uploads/${id}`, {}, { token })).body;
}

function set(id: string, assignments: string) {
  return app.db.pool.query(`update uploads set ${assignments} where id = $1`, [id]);
}

function putFile(key: string) {
  return app.store.put(key, Buffer.from("a file"), {});
}

/** As judging leaves it. */
async function stage(id: string, expires: string): Promise<void> {
  await putFile(uploadFileKey(id));
  await set(id, `status = 'staged', received_at = now(), media_expires_at = ${expires}`);
}

test("a file that arrived without a word is noticed, and looked for less and less often", async () => {
  const arrived = await begin();
  const absent = await begin();
  await putFile(uploadFileKey(arrived));
  await app.db.pool.query("update uploads set next_check_at = now() where id = any($1)", [[arrived, absent]]);
  await set(absent, "created_at = now() - interval '1 hour'");
  await noticeArrivals(app, 2000);
  assert.equal((await get(arrived)).status, "processing");
  assert.equal((await get(absent)).status, "awaiting");
  const { rows } = await app.db.pool.query(
    "select extract(epoch from next_check_at - now())::int as wait from uploads where id = $1",
    [absent],
  );
  assert.ok(rows[0].wait > 50 && rows[0].wait <= 60, String(rows[0].wait));
});

test("a file sent in pieces that were never put together is finished", async () => {
  const id = await begin();
  await app.store.append(uploadFileKey(id), 0, Readable.from([Buffer.from("all of it")]));
  await set(id, "next_check_at = now(), resumable_length = 10");
  await noticeArrivals(app, 2000);
  assert.equal((await get(id)).status, "awaiting", "one byte is missing");
  await set(id, "next_check_at = now(), resumable_length = 9");
  await noticeArrivals(app, 2000);
  assert.equal((await get(id)).status, "processing");
  assert.equal((await app.store.head(uploadFileKey(id)))?.size, 9);
});

test("an upload without a file fails when the grace after its URL's expiry is over, not before", async () => {
  const [early, late, saved, resuming] = [await begin(), await begin(), await begin(), await begin()];
  await set(early, "url_expires_at = now() - interval '23 hours'");
  await set(late, "url_expires_at = now() - interval '25 hours'");
  await set(saved, "url_expires_at = now() - interval '25 hours'");
  await set(resuming, "url_expires_at = now() - interval '25 hours', active_at = now() - interval '1 hour'");
  await putFile(uploadFileKey(saved));
  assert.equal((await get(early)).media.status, "url_expired");
  await failExpiredUploads(app);
  assert.equal((await get(early)).status, "awaiting");
  const failed = await get(late);
  assert.equal(failed.status, "failure");
  assert.match(failed.failure.reason, /No file arrived before the upload URL expired at 20\d\d-/);
  assert.equal((await get(saved)).status, "processing", "its file is there after all");
  assert.equal((await get(resuming)).status, "awaiting", "its sender is at work");
});

test("a staged file expires: it can't be promoted any more, the upload fails and the file goes", async () => {
  const [kept, gone] = [await begin(), await begin()];
  await stage(kept, "now() + interval '1 minute'");
  await stage(gone, "now() - interval '1 second'");
  const expired = await get(gone);
  assert.deepEqual([expired.status, expired.media.status], ["staged", "media_expired"]);
  const promoted = await call(app, "POST", `/uploads/${gone}/promote`, {}, { token });
  assert.equal(promoted.status, 409);
  assert.match(promoted.body.detail, /expired/);
  await failExpiredMedia(app);
  assert.equal((await get(kept)).media.status, "uploaded");
  const failed = await get(gone);
  assert.equal(failed.status, "failure");
  assert.match(failed.failure.reason, /expired at .* before the upload was promoted/);
  assert.equal(await app.store.head(uploadFileKey(gone)), null);
  assert.notEqual(await app.store.head(uploadFileKey(kept)), null);
});

test("an upload whose job is lost gets another, and one that no job finishes is given up", async () => {
  const id = await begin();
  await set(id, "status = 'processing', received_at = now(), updated_at = now() - interval '2 minutes'");
  await app.jobs.boss.deleteAllJobs("judge_upload");
  await tendLingering({ ...app, log });
  const { rows } = await app.db.pool.query(
    "select data from pgboss.job where name = 'judge_upload' and state = 'created' and singleton_key = $1",
    [id],
  );
  assert.deepEqual(rows, [{ data: { uploadId: id } }]);
  await set(id, "updated_at = now() - interval '25 hours'");
  await tendLingering({ ...app, log });
  const given = await get(id);
  assert.equal(given.status, "failure");
  assert.match(given.failure.reason, /could not finish this upload within 1440 minutes/);
});

test("orphans: what belongs to nothing is removed, and nothing else", async () => {
  const transcript = await create({ attributes: { transcript: sampleTranscript } });
  await promoteUploadJob(app, transcript.body.id);
  const { recording_id: recordingId } = await get(transcript.body.id);
  const [awaiting, failed, promoting] = [await begin(), await begin(), await begin()];
  for (const id of [awaiting, failed, promoting]) await putFile(uploadFileKey(id));
  await set(failed, "status = 'failure'");
  await set(promoting, "status = 'promoting'");
  const { rows } = await app.db.pool.query(
    "select id, planned_recording_id as planned from uploads where id = any($1)",
    [[failed, promoting]],
  );
  const planned = (id: string): string => rows.find((row) => row.id === id).planned;
  const kept = [
    uploadFileKey(awaiting),
    uploadFileKey(promoting),
    recordingObjectKey(planned(promoting), "media.mp4"),
    recordingObjectKey(recordingId, "media.mp4"),
    "parley/secret",
    "uploads/something-else",
  ];
  const orphaned = [
    uploadFileKey(failed),
    uploadFileKey(unknownId()),
    recordingObjectKey(planned(failed), "media.mp4"),
    recordingObjectKey(unknownId(), "thumbnail.jpg"),
  ];
  for (const key of [...kept, ...orphaned]) if (key !== "parley/secret") await putFile(key);
  assert.equal(await removeOrphans(app.db, app.store), orphaned.length);
  for (const key of kept) assert.notEqual(await app.store.head(key), null, key);
  for (const key of orphaned) assert.equal(await app.store.head(key), null, key);
  await until("a second sweep finds nothing", async () => (await removeOrphans(app.db, app.store)) === 0);
});
