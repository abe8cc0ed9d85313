import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { sampleTranscript } from "../../../test/support/factories.ts";
import { removeOrphans } from "../../operations/storage-maintenance/orphans.ts";
import { uploadFileKey } from "../../platform/storage/layout.ts";
import { deleteStaleUploads } from "./lifecycle/stale.ts";
import { removeFile } from "./lifecycle/upload-file.ts";
import { findUploadById } from "./media-queries.ts";
import { promoteUploadJob } from "./promotion/promote.ts";
import { startUploads, sweepLog } from "./test/uploads.ts";
import { removeTranscriptCopies } from "./transcript-copies.ts";

const { app, member, create } = await startUploads({ worker: false });
const { token } = member;
const include = { attributes: true, transcript: true };

const get = (id: string) => call(app, "POST", `/uploads/${id}`, { include }, { token });
const age = (id: string) =>
  app.db.pool.query("update uploads set updated_at = now() - interval '31 days' where id = $1", [id]);
const copies = async (id: string) =>
  (await app.db.pool.query("select 1 from upload_transcripts where upload_id = $1", [id])).rows.length;

/** A transcript upload that has become a recording: one speaker is a participant, the other is not. */
async function succeeded(): Promise<string> {
  const { body } = await create({
    attributes: {
      transcript: sampleTranscript,
      participants: [{ name: "Ada", speaker_key: "s2" }],
    },
  });
  await promoteUploadJob({ db: app.db, jobs: app.jobs, config: app.config }, body.id);
  return body.id;
}

test("a succeeded upload's copy of the transcript is removed after a while, and Get Upload shows the same as before", async () => {
  const [id, young] = [await succeeded(), await succeeded()];
  const before = await get(id);
  assert.equal(before.body.status, "success");
  assert.equal(before.body.attributes.transcript.segments.length, 3);
  await age(id);
  const aged = await get(id);
  assert.equal(await removeTranscriptCopies(app.db, app.config), 1);
  assert.deepEqual([await copies(id), await copies(young)], [0, 1]);
  const now = await get(id);
  assert.deepEqual(now.body, aged.body);
  assert.deepEqual(now.body.attributes, before.body.attributes);
  assert.equal(await removeTranscriptCopies(app.db, app.config), 0);
  const { body } = await call(app, "POST", "/uploads", { include }, { token });
  assert.deepEqual(
    body.uploads.find((one: { id: string }) => one.id === id),
    now.body,
  );
});

test("a succeeded upload lives as long as its recording: only deleting the recording deletes it", async () => {
  const id = await succeeded();
  await age(id);
  await deleteStaleUploads(app.db.kysely, app.config);
  const { status, body } = await get(id);
  assert.equal(status, 200);
  const admin = await call(app, "DELETE", `/_/api/v1/recordings/${body.recording_id}`, undefined, {
    token,
    version: null,
  });
  assert.equal(admin.status, 200, admin.text);
  assert.equal((await get(id)).status, 404);
  assert.equal(await copies(id), 0);
});

test("a succeeded upload without a recording is deleted like a stale one", async () => {
  const id = await succeeded();
  await app.db.pool.query("update uploads set recording_id = null where id = $1", [id]);
  await deleteStaleUploads(app.db.kysely, app.config);
  assert.equal((await get(id)).status, 200, "not yet");
  await age(id);
  await deleteStaleUploads(app.db.kysely, app.config);
  assert.equal((await get(id)).status, 404);
});

test("the empty object that blocks a bucket's URL is removed once the URL has expired", async () => {
  // Only a bucket has such URLs; the rest of the store is the same.
  const bucket = Object.create(app.store, { kind: { value: "s3" } }) as typeof app.store;
  const { body } = await create({ media_type: "video" });
  await app.store.put(uploadFileKey(body.id), Buffer.from("the file"));
  await app.db.pool.query("update uploads set status = 'success' where id = $1", [body.id]);
  const row = await findUploadById(app.db.kysely, body.id);
  assert.ok(row);
  await removeFile(bucket, row);
  const { log } = sweepLog();
  await removeOrphans(app.db, bucket, log);
  assert.equal((await app.store.head(uploadFileKey(body.id)))?.size, 0);
  await app.db.pool.query("update uploads set url_expires_at = now() - interval '1 second' where id = $1", [
    body.id,
  ]);
  assert.equal(await removeOrphans(app.db, bucket, log), 1);
  assert.equal(await app.store.head(uploadFileKey(body.id)), null);
});
