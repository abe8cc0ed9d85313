import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { runJob } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { companionFailed } from "../../platform/telemetry/signals.ts";
import { damageTrack, fixture } from "../media/render/test/support.ts";
import { startUploads, sweepLog } from "../uploads/test/uploads.ts";
import { checkFilesKind, checkNextFile, verifyFiles } from "./check.ts";
import { repairCompanions } from "./companions.ts";
import { fingerprintOf } from "./stored-files.ts";

const { app, member, create } = await startUploads();
const { db, store } = app;

/** A recording made from a real file. @returns its id. */
async function recordingOf(
  name: string,
  mediaType: string,
  file: Buffer = readFileSync(fixture(name)),
): Promise<string> {
  const { body } = await create({ media_type: mediaType });
  const { url, headers } = body.media.upload;
  const put = await fetch(url.replace(/^http:\/\/parley\.test/, app.url), {
    method: "PUT",
    body: file,
    headers,
  });
  assert.equal(put.status, 200);
  return until(
    "the recording is there",
    async () =>
      (await call(app, "POST", `/uploads/${body.id}`, {}, { token: member.token })).body.recording_id ??
      undefined,
    60_000,
  );
}

async function storedKeys(recordingId: string): Promise<string[]> {
  const { rows } = await db.pool.query("select key from stored_files where recording_id = $1 order by key", [
    recordingId,
  ]);
  return rows.map(({ key }) => key);
}

async function keysBelow(recordingId: string): Promise<string[]> {
  const keys = [];
  for await (const { key } of store.list(`recordings/${recordingId}/`)) keys.push(key);
  return keys.sort();
}

const id = await recordingOf("good-faststart.mp4", "video");
const mediaKey = recordingObjectKey(id, "media.mp4");

test("every file of a recording is stored with its size and SHA-256", async () => {
  assert.deepEqual(await storedKeys(id), await keysBelow(id));
  const { rows } = await db.pool.query(
    "select key, bytes::int as bytes, sha256 from stored_files where recording_id = $1",
    [id],
  );
  for (const { key, bytes, sha256 } of rows) {
    const found = await fingerprintOf((await store.get(key)).body);
    assert.deepEqual({ bytes, sha256 }, found, key);
  }
  assert.deepEqual(await verifyFiles({ db, store }), []);
});

test("a flipped byte, a truncated file and a missing file are reported until restored", async () => {
  const intact = Buffer.concat(await (await store.get(mediaKey)).body.toArray());
  const flipped = Buffer.from(intact);
  flipped[1000] = (flipped[1000] ?? 0) ^ 1;
  for (const [damage, harm] of [
    ["content", () => store.put(mediaKey, flipped)],
    ["size", () => store.put(mediaKey, intact.subarray(0, -1))],
    ["missing", () => store.delete(mediaKey)],
  ] as const) {
    await harm();
    assert.deepEqual(await verifyFiles({ db, store }), [{ key: mediaKey, recordingId: id, damage }]);
    const { rows } = await db.pool.query("select damage from stored_files where key = $1", [mediaKey]);
    assert.deepEqual(rows, [{ damage }]);
  }
  await store.put(mediaKey, intact);
  assert.deepEqual(await verifyFiles({ db, store }), []);
});

test("a video whose sound is damaged is a recording without a waveform, which a job and a repair try again", async () => {
  const failures: object[] = [];
  const end = companionFailed.subscribe(({ recordingId, companion }) =>
    failures.push({ recordingId, companion }),
  );
  const broken = await recordingOf("", "video", damageTrack(fixture("good-faststart.mp4"), "audio"));
  const { body } = await call(app, "POST", `/recordings/${broken}`, {}, { token: member.token });
  assert.match(body.thumbnail_url, /thumbnail\.jpg/);
  assert.ok(!(await keysBelow(broken)).includes(recordingObjectKey(broken, "waveform.json")));
  const failure = { recordingId: broken, companion: "waveform" };
  // Once when it was created, and once by the job.
  await until("it was tried again", () => failures.length === 2);
  const { created, failed } = await repairCompanions(app);
  end();
  assert.deepEqual(failures, [failure, failure, failure]);
  assert.ok(created.every((key) => key.includes(broken)));
  assert.equal(failed[0]?.key, recordingObjectKey(broken, "media.mp4"));
  await db.pool.query("delete from recordings where id = $1", [broken]);
});

test("repair creates thumbnail, waveform and storyboard where they are missing or damaged, unless the media is", async () => {
  const before = await keysBelow(id);
  await store.delete(recordingObjectKey(id, "thumbnail.jpg"));
  await store.put(recordingObjectKey(id, "storyboard-0.jpg"), Buffer.from("damaged"));
  assert.equal((await verifyFiles({ db, store })).length, 2);
  await db.pool.query("update recordings set has_thumbnail = false where id = $1", [id]);
  await db.pool.query("update recording_media set has_storyboard = false where recording_id = $1", [id]);
  const { created, failed } = await repairCompanions(app);
  assert.deepEqual(failed, []);
  assert.deepEqual(created.sort(), before.filter((key) => key !== mediaKey).sort());
  assert.deepEqual(await keysBelow(id), before);
  assert.deepEqual(await verifyFiles({ db, store }), []);
  const { body } = await call(app, "POST", `/recordings/${id}`, {}, { token: member.token });
  assert.match(body.thumbnail_url, /thumbnail\.jpg/);
  assert.deepEqual(await repairCompanions(app), { created: [], failed: [] });

  const intact = Buffer.concat(await (await store.get(mediaKey)).body.toArray());
  await store.delete(recordingObjectKey(id, "waveform.json"));
  await store.put(mediaKey, intact.subarray(100));
  assert.equal((await verifyFiles({ db, store })).length, 2);
  assert.deepEqual(await repairCompanions(app), { created: [], failed: [] });
  await store.put(mediaKey, intact);
  await verifyFiles({ db, store });
  assert.equal((await repairCompanions(app)).failed.length, 0);
  assert.deepEqual(await verifyFiles({ db, store }), []);
});

test("files of a recording from before fingerprints get theirs when they are verified", async () => {
  await db.pool.query("delete from stored_files where recording_id = $1", [id]);
  assert.deepEqual(await verifyFiles({ db, store }), []);
  assert.deepEqual(await storedKeys(id), await keysBelow(id));
});

test("the background check gives files from before fingerprints theirs, and reports those that are missing", async () => {
  const lost = await recordingOf("good-cbr.mp3", "audio");
  const lostKey = recordingObjectKey(lost, "media.mp3");
  await store.delete(lostKey);
  await db.pool.query("delete from stored_files");
  const { log, details } = sweepLog();
  await runJob(app, checkFilesKind, {}, { log });
  assert.deepEqual(await storedKeys(id), await keysBelow(id));
  assert.deepEqual(details, [{ key: lostKey, recordingId: lost, damage: "missing" }]);
  await db.pool.query("delete from recordings where id = $1", [lost]);
});

test("a missing file of such a recording is reported every time, and damage to its other files, too", async () => {
  await db.pool.query("delete from stored_files where recording_id = $1", [id]);
  const intact = Buffer.concat(await (await store.get(mediaKey)).body.toArray());
  const thumbnailKey = recordingObjectKey(id, "thumbnail.jpg");
  const thumbnail = Buffer.concat(await (await store.get(thumbnailKey)).body.toArray());
  await store.delete(mediaKey);
  const missing = { key: mediaKey, recordingId: id, damage: "missing" };
  assert.deepEqual(await verifyFiles({ db, store }), [missing]);
  await store.put(thumbnailKey, Buffer.concat([thumbnail, Buffer.from("x")]));
  assert.deepEqual(await verifyFiles({ db, store }), [
    missing,
    { key: thumbnailKey, recordingId: id, damage: "size" },
  ]);
  await store.put(thumbnailKey, thumbnail);
  await store.put(mediaKey, intact);
  assert.deepEqual(await verifyFiles({ db, store }), []);
  assert.deepEqual(await storedKeys(id), await keysBelow(id));
});

test("a file that can't be read is damaged; a store that can't be used says nothing about its files", async () => {
  const failing = (probe: () => Promise<void>) => ({
    ...store,
    probe,
    get: (key: string) =>
      key === mediaKey
        ? Promise.reject(Object.assign(new Error("i/o error"), { code: "EIO" }))
        : store.get(key),
  });
  const checkedAt = async () =>
    (await db.pool.query("select checked_at from stored_files where key = $1", [mediaKey])).rows[0]
      .checked_at;
  const before = await checkedAt();
  await assert.rejects(verifyFiles({ db, store: failing(() => Promise.reject(new Error("unreachable"))) }), {
    code: "EIO",
  });
  assert.deepEqual(await checkedAt(), before, "the file stays due");
  assert.deepEqual(await verifyFiles({ db, store: failing(() => Promise.resolve()) }), [
    { key: mediaKey, recordingId: id, damage: "unreadable" },
  ]);
  assert.deepEqual(await verifyFiles({ db, store }), []);
});

test("the background check stores the fingerprints of older recordings, and stops reading when told to", async () => {
  await db.pool.query("delete from stored_files where recording_id = $1", [id]);
  const { log, lines } = sweepLog();
  const stopped = AbortSignal.abort(new Error("the server is stopping"));
  await runJob(app, checkFilesKind, {}, { log, signal: stopped });
  assert.deepEqual(await storedKeys(id), []);
  await runJob(app, checkFilesKind, {}, { log });
  assert.deepEqual(await storedKeys(id), await keysBelow(id));
  assert.deepEqual(lines, []);
});

test("the background check reads what was not read for a month, and logs damage without stopping", async () => {
  const { log, lines, details } = sweepLog();
  assert.equal(
    await checkNextFile({ db, store }, new Date(Date.now() - 86_400_000)),
    null,
    "all was just read",
  );
  await db.pool.query("update stored_files set checked_at = now() - interval '31 days'");
  const intact = Buffer.concat(await (await store.get(mediaKey)).body.toArray());
  await store.put(mediaKey, Buffer.concat([intact, Buffer.from("x")]));
  await runJob(app, checkFilesKind, {}, { log });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /a stored file is damaged: its size differs/);
  assert.deepEqual(details[0], { key: mediaKey, recordingId: id, damage: "size" });
  const { rows } = await db.pool.query(
    "select 1 from stored_files where checked_at < now() - interval '1 day'",
  );
  assert.equal(rows.length, 0, "the files after the damaged one were checked, too");
  await store.put(mediaKey, intact);
});

test("deleting a recording permanently leaves no fingerprints", async () => {
  await db.pool.query("update workspaces set trash_days = 0");
  const other = await recordingOf("good-cbr.mp3", "audio");
  assert.ok((await storedKeys(other)).length > 0);
  const { status } = await call(app, "DELETE", `/_/api/v1/recordings/${other}`, undefined, {
    token: member.token,
  });
  assert.equal(status, 200);
  assert.deepEqual(await storedKeys(other), []);
});
