import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { insertRecording, sampleTranscript, unknownId } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { removeOrphans } from "../../../operations/storage-maintenance/orphans.ts";
import { recordingObjectKey, uploadFileKey } from "../../../platform/storage/layout.ts";
import { promoteUploadJob } from "../promotion/promote.ts";
import { startUploads, sweepLog } from "../test/uploads.ts";
import { failExpiredUploads, noticeArrivals } from "../transfer/arrival.ts";
import { finishUploadJob } from "../transfer/finish-pieces.ts";
import { takeLease } from "../transfer/resumable-queries.ts";
import { deleteStaleUploads } from "./stale.ts";
import { failExpiredMedia } from "./sweeps.ts";

const { app, workspace, member, create } = await startUploads({ worker: false });
const token = member.token;
const { log, lines } = sweepLog();
const deps = { ...app, log };

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

/** As validation leaves it. */
async function stage(id: string, expires: string): Promise<void> {
  await putFile(uploadFileKey(id));
  await set(id, `status = 'staged', received_at = now(), media_expires_at = ${expires}`);
}

test("a file that arrived unannounced is noticed, and checked for less and less often", async () => {
  const arrived = await begin();
  const absent = await begin();
  await putFile(uploadFileKey(arrived));
  await app.db.pool.query(
    "update uploads set next_check_at = now() - interval '1 second' where id = any($1)",
    [[arrived, absent]],
  );
  await set(absent, "created_at = now() - interval '1 hour'");
  await noticeArrivals(deps, 2000);
  assert.equal((await get(arrived)).status, "processing");
  assert.equal((await get(absent)).status, "awaiting");
  const { rows } = await app.db.pool.query(
    "select extract(epoch from next_check_at - now())::int as wait from uploads where id = $1",
    [absent],
  );
  assert.ok(rows[0].wait > 50 && rows[0].wait <= 60, String(rows[0].wait));
});

/** Ids of the uploads that wait for their pieces to be joined. */
async function toFinish(): Promise<string[]> {
  const { rows } = await app.db.pool.query(
    "select key from jobs where name = 'join_upload_parts' and run_id is null",
  );
  return rows.map((row) => row.key);
}

/** All pieces of a nine-byte file, as left by a server that is killed right after the last. */
async function sendPieces(id: string, announced = 9): Promise<void> {
  await app.store.append(uploadFileKey(id), 0, Readable.from([Buffer.from("all of it")]));
  await set(id, `next_check_at = now() - interval '1 second', resumable_length = ${announced}`);
}

test("a file whose pieces were never joined is finished by a job, when no sender is active", async () => {
  const id = await begin();
  await sendPieces(id, 10);
  await noticeArrivals(deps, 2000);
  assert.deepEqual(await toFinish(), [], "one byte is missing");
  await set(id, "next_check_at = now() - interval '1 second', resumable_length = 9");
  await takeLease(app.db.kysely, id, unknownId(), 60_000);
  await noticeArrivals(deps, 2000);
  assert.deepEqual(await toFinish(), [], "its sender does it itself");
  await finishUploadJob(deps, id);
  assert.equal((await get(id)).status, "awaiting");
  const lease = await app.db.pool.query("select wanted from resumable_leases where upload_id = $1", [id]);
  assert.equal(lease.rows[0].wanted, false, "nor is it asked to stop");
  // The sender's server was killed: the lease has expired.
  await app.db.pool.query("update resumable_leases set expires_at = now() - interval '1 second'");
  await set(id, "next_check_at = now() - interval '1 second'");
  await noticeArrivals(deps, 2000);
  assert.deepEqual(await toFinish(), [id]);
  assert.equal((await get(id)).status, "awaiting", "nothing is joined in the sweep itself");
  await finishUploadJob(deps, id);
  assert.equal((await get(id)).status, "processing");
  assert.equal((await app.store.head(uploadFileKey(id)))?.size, 9);
  await finishUploadJob(deps, id);
  await finishUploadJob(deps, unknownId());
});

test("an upload without a file fails when the grace period after its URL's expiry is over, not before", async () => {
  const [early, late, saved, resuming] = [await begin(), await begin(), await begin(), await begin()];
  const [putting, inPieces] = [await begin(), await begin()];
  await set(early, "url_expires_at = now() - interval '23 hours'");
  await set(late, "url_expires_at = now() - interval '25 hours'");
  await set(saved, "url_expires_at = now() - interval '25 hours'");
  await set(resuming, "url_expires_at = now() - interval '25 hours', active_at = now() - interval '1 hour'");
  await set(
    putting,
    "url_expires_at = now() - interval '25 hours', put_active_at = now() - interval '1 hour'",
  );
  await sendPieces(inPieces);
  await set(inPieces, "url_expires_at = now() - interval '25 hours'");
  await putFile(uploadFileKey(saved));
  assert.equal((await get(early)).media.status, "url_expired");
  await failExpiredUploads(deps);
  assert.equal((await get(early)).status, "awaiting");
  const failed = await get(late);
  assert.equal(failed.status, "failure");
  assert.match(failed.failure.reason, /No file arrived before the upload URL expired at 20\d\d-/);
  assert.equal((await get(saved)).status, "processing", "its file is there after all");
  assert.equal((await get(resuming)).status, "awaiting", "its sender is at work");
  assert.equal((await get(putting)).status, "awaiting", "its sender is at work");
  assert.equal((await get(inPieces)).status, "awaiting", "all of it has come");
  assert.ok((await toFinish()).includes(inPieces));
});

test("a recording made in the browser waits 30 days for its rest, then becomes what has arrived", async () => {
  const ids = [await begin(), await begin(), await begin()];
  const [waiting = "", over = "", empty = ""] = ids;
  for (const id of ids)
    await set(
      id,
      `url_expires_at = now() - interval '31 days', updated_at = now() - interval '90 days',
      import_data = '{"source": "local_capture"}'`,
    );
  for (const id of [waiting, over]) {
    await sendPieces(id);
    await set(id, "resumable_length = null");
  }
  await set(waiting, "active_at = now() - interval '29 days'");
  await set(over, "active_at = now() - interval '31 days'");
  await deleteStaleUploads(app.db.kysely, { staleUploadTtlMs: 86_400_000, uploadExpiryGraceMs: 0 });
  await failExpiredUploads(deps);
  const { rows } = await app.db.pool.query(
    "select id, status, resumable_length from uploads where id = any($1) order by array_position($1, id)",
    [ids],
  );
  assert.deepEqual(rows, [
    { id: waiting, status: "awaiting", resumable_length: null },
    { id: over, status: "awaiting", resumable_length: "9" },
  ]);
  assert.deepEqual((await toFinish()).includes(over), true);
  await finishUploadJob(deps, over);
  assert.equal((await get(over)).status, "processing");
  assert.equal((await get(empty)).status, 404, "nothing of it had arrived");
});

test("an upload whose sender arrives during the sweep is not failed", async () => {
  const id = await begin();
  await set(id, "url_expires_at = now() - interval '25 hours'");
  const head: typeof app.store.head = async (key) => {
    if (key.includes(id)) await set(id, "put_active_at = now()");
    return app.store.head(key);
  };
  await failExpiredUploads({ ...deps, store: { ...app.store, head } });
  assert.equal((await get(id)).status, "awaiting");
});

test("one failing item does not stop the others: arrivals, expired URLs, expired media, orphans", async () => {
  const [bad, good] = [await begin(), await begin()];
  const troubled = { ...deps, store: storeThatFailsFor(bad) };
  lines.length = 0;
  const both = async (assignments: string): Promise<void> => {
    await set(bad, `${assignments} - interval '1 hour'`);
    await set(good, assignments);
  };
  await putFile(uploadFileKey(good));
  await both("next_check_at = now() - interval '1 second'");
  await noticeArrivals(troubled, 2000);
  assert.equal((await get(good)).status, "processing");

  const late = await begin();
  await set(bad, "url_expires_at = now() - interval '30 hours'");
  await set(late, "url_expires_at = now() - interval '25 hours'");
  await failExpiredUploads(troubled);
  assert.deepEqual([(await get(bad)).status, (await get(late)).status], ["awaiting", "failure"]);

  await stage(good, "now() - interval '1 second'");
  await stage(bad, "now() - interval '1 minute'");
  await failExpiredMedia(troubled);
  assert.equal((await get(good)).status, "failure");
  assert.equal(await app.store.head(uploadFileKey(good)), null);

  await putFile(uploadFileKey(good));
  await removeOrphans(app.db, troubled.store, log);
  assert.equal(await app.store.head(uploadFileKey(good)), null);
  assert.equal(lines.length, 4, lines.join("\n"));
  await app.store.delete(uploadFileKey(bad));
});

/** A store that fails for all objects of one upload. */
function storeThatFailsFor(id: string): typeof app.store {
  const failing =
    <A extends readonly unknown[], R>(method: (key: string, ...rest: A) => Promise<R>) =>
    (key: string, ...rest: A): Promise<R> =>
      key.includes(id) ? Promise.reject(new Error("input/output error")) : method(key, ...rest);
  return { ...app.store, head: failing(app.store.head), delete: failing(app.store.delete) };
}

test("a staged file expires: it can't be promoted any more, the upload fails and the file is removed", async () => {
  const [kept, gone] = [await begin(), await begin()];
  await stage(kept, "now() + interval '1 minute'");
  await stage(gone, "now() - interval '1 second'");
  const expired = await get(gone);
  assert.deepEqual([expired.status, expired.media.status], ["staged", "media_expired"]);
  const promoted = await call(app, "POST", `/uploads/${gone}/promote`, {}, { token });
  assert.equal(promoted.status, 409);
  assert.match(promoted.body.detail, /expired/);
  await failExpiredMedia(deps);
  assert.equal((await get(kept)).media.status, "uploaded");
  const failed = await get(gone);
  assert.equal(failed.status, "failure");
  assert.match(failed.failure.reason, /expired at .* before the upload was promoted/);
  assert.equal(await app.store.head(uploadFileKey(gone)), null);
  assert.notEqual(await app.store.head(uploadFileKey(kept)), null);
});

test("stale: deleted when enough time has passed since the last change or deadline", async () => {
  const recordingId = await insertRecording(app.db, { workspace_id: workspace.id });
  const ids = Object.fromEntries(
    await Promise.all(
      Object.entries({
        deleted: "url_expires_at = now() - interval '32 days'",
        failed: "status = 'failure', url_expires_at = now() - interval '50 days'",
        longUrl: "url_expires_at = now() - interval '29 days 12 hours'",
        inGrace: "url_expires_at = now() - interval '30 days 12 hours'",
        longStaged: "status = 'staged', media_expires_at = now() + interval '1 day'",
        resuming: "url_expires_at = now() - interval '32 days', active_at = now() - interval '1 hour'",
        putting: "url_expires_at = now() - interval '32 days', put_active_at = now() - interval '1 hour'",
        done: `status = 'success', recording_id = '${recordingId}'`,
        withoutRecording: "status = 'success'",
      }).map(async ([name, assignments]) => {
        const id = await begin();
        await set(id, `${assignments}, updated_at = now() - interval '40 days'`);
        return [name, id] as const;
      }),
    ),
  );
  assert.equal(await deleteStaleUploads(app.db.kysely, app.config), 3);
  const { rows } = await app.db.pool.query("select id from uploads where id = any($1)", [Object.values(ids)]);
  const left = rows.map((row) => Object.keys(ids).find((name) => ids[name] === row.id));
  assert.deepEqual(left.sort(), ["done", "inGrace", "longStaged", "longUrl", "putting", "resuming"]);
});

test("orphans: orphaned objects are removed, and nothing else", async () => {
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
  assert.equal(await removeOrphans(app.db, app.store, log), orphaned.length);
  for (const key of kept) assert.notEqual(await app.store.head(key), null, key);
  for (const key of orphaned) assert.equal(await app.store.head(key), null, key);
  await until(
    "a second sweep finds nothing",
    async () => (await removeOrphans(app.db, app.store, log)) === 0,
  );
});
