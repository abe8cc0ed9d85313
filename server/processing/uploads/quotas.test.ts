import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion } from "../../../test/support/app.ts";
import {
  insertRecording,
  makeUser,
  makeWorkspace,
  sampleTranscript,
} from "../../../test/support/factories.ts";
import { recordStoredFiles } from "../integrity/stored-files.ts";
import { findUsedBytes } from "./quotas.ts";
import { startUploads } from "./test/uploads.ts";

const quota = 500_000;
const { app, member, create, staged } = await startUploads({
  worker: false,
  env: { PARLEY_OPEN_UPLOADS_PER_USER: "5", PARLEY_STORAGE_PER_WORKSPACE: "500kB" },
});
const file = Buffer.alloc(300_000, "parley");
const reach = (url: string): string => url.replace(/^http:\/\/parley\.test/, app.url);

/** A user in their own workspace, with nothing stored yet. */
async function newcomer() {
  const workspace = await makeWorkspace(app.db);
  const begin = async () => {
    const { status, body, text } = await create({ media_type: "video" }, workspace.member.token);
    assert.equal(status, 200, text);
    return body.media.upload as { url: string; tus_url: string; headers: Record<string, string> };
  };
  return {
    workspace,
    token: workspace.member.token,
    begin,
    used: () => findUsedBytes(app.db.kysely, workspace.id),
  };
}

const put = (target: { url: string; headers: Record<string, string> }, body: Buffer | ReadableStream) =>
  fetch(reach(target.url), { method: "PUT", headers: target.headers, body, duplex: "half" } as RequestInit);

async function refusalOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error: string; detail: string };
  assert.deepEqual([response.status, body.error], [403, "quota_exceeded"]);
  return body.detail;
}

test("open uploads: concurrent requests get exactly as many as the quota allows, and finished ones free slots", async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => create({ media_type: "video" })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 5);
  const refused = answers.find(({ status }) => status !== 200);
  assert.deepEqual([refused?.status, refused?.body.error], [403, "quota_exceeded"]);
  assert.match(refused?.body.detail, /^the limit of 5 open uploads is reached; /);
  // The same with every other way to create one.
  assert.equal((await staged()).body.error, "quota_exceeded");
  const older = await call(
    app,
    "POST",
    "/recordings/upload",
    { filename: "a.mp4" },
    { token: member.token, version: olderVersion },
  );
  assert.equal(older.body.error, "quota_exceeded");
  const imported = await call(
    app,
    "POST",
    "/_/api/v1/recordings",
    { transcript: sampleTranscript },
    { token: member.token, version: null },
  );
  assert.equal(imported.body.error, "quota_exceeded", imported.text);
  await app.db.pool.query("update uploads set status = 'failure' where id = $1", [
    answers.find(({ status }) => status === 200)?.body.id,
  ]);
  assert.equal((await staged()).status, 200);
  assert.equal((await staged()).status, 403);
});

test("open uploads: another user is not affected, and transcripts being promoted don't count", async () => {
  const { workspace, token } = await newcomer();
  for (let n = 0; n < 7; n++)
    assert.equal((await create({ attributes: { transcript: sampleTranscript } }, token)).status, 200);
  const other = await makeUser(app.db, workspace);
  assert.equal((await create({ media_type: "audio" }, other.token)).status, 200);
});

test("storage: of two concurrent files that don't fit together, one is refused before its first byte", async () => {
  const { begin, used } = await newcomer();
  const answers = await Promise.all([put(await begin(), file), put(await begin(), file)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 403]);
  const refused = answers.find(({ status }) => status === 403);
  assert.ok(refused);
  assert.match(
    await refusalOf(refused),
    /^the workspace's storage is full: 300000 of 500000 bytes are used .* the file needs 300000; permanently delete recordings, also from the trash, or ask the operator for more storage$/,
  );
  assert.equal(await used(), 300_000);
});

test("storage: a file of unknown length gets the free space, and releases it when it is larger", async () => {
  const { begin, used } = await newcomer();
  assert.equal((await put(await begin(), file)).status, 200);
  const stream = (length: number) => new Blob([Buffer.alloc(length)]).stream();
  const target = await begin();
  assert.match(await refusalOf(await put(target, stream(250_000))), /larger than the 200000 bytes free/);
  assert.equal(await used(), 300_000);
  assert.equal((await put(target, stream(200_000))).status, 200);
  assert.equal(await used(), quota);
});

test("storage: resumable uploads reserve space when they begin, and a terminated one releases it", async () => {
  const { begin, used } = await newcomer();
  const tus = { "tus-resumable": "1.0.0" };
  const post = (url: string, length: number) =>
    fetch(reach(url), { method: "POST", headers: { ...tus, "upload-length": String(length) } });
  const [first, second] = [await begin(), await begin()];
  assert.equal((await post(first.tus_url, 400_000)).status, 201);
  assert.equal(await used(), 400_000);
  assert.match(await refusalOf(await post(second.tus_url, 200_000)), /the file needs 200000/);
  // Starting again replaces the reservation.
  assert.equal((await post(first.tus_url, 350_000)).status, 201);
  assert.equal(await used(), 350_000);
  const ended = await fetch(reach(first.tus_url), { method: "DELETE", headers: tus });
  assert.equal(ended.status, 204);
  assert.equal((await post(second.tus_url, 200_000)).status, 201);
  // A length that is announced later has to fit as well.
  const deferred = await fetch(reach(first.tus_url), {
    method: "POST",
    headers: { ...tus, "upload-defer-length": "1" },
  });
  assert.equal(deferred.status, 201);
  const announced = await fetch(reach(first.tus_url), {
    method: "PATCH",
    headers: {
      ...tus,
      "upload-offset": "0",
      "upload-length": "400000",
      "content-type": "application/offset+octet-stream",
    },
    body: Buffer.alloc(1000),
  });
  await refusalOf(announced);
});

test("storage: when it is full, no upload with a file can be created, in either version; transcripts still can", async () => {
  const { begin, token, workspace } = await newcomer();
  const waiting = await begin();
  assert.equal((await put(waiting, Buffer.alloc(quota))).status, 200);
  const refused = await create({ media_type: "video" }, token);
  assert.deepEqual([refused.status, refused.body.error], [403, "quota_exceeded"]);
  assert.match(refused.body.detail, /storage is full: 500000 of 500000 bytes/);
  const older = await call(
    app,
    "POST",
    "/recordings/upload",
    { filename: "a.mp4" },
    { token, version: olderVersion },
  );
  assert.equal(older.body.error, "quota_exceeded");
  assert.equal((await create({ attributes: { transcript: sampleTranscript } }, token)).status, 200);
  await app.db.pool.query("update uploads set status = 'failure' where workspace_id = $1", [workspace.id]);
  assert.equal((await create({ media_type: "video" }, token)).status, 200);
});

test("storage: files of recordings and clips count from the transaction that records them to the one that deletes them", async () => {
  const { token, used, workspace } = await newcomer();
  const recordingId = await insertRecording(app.db, { workspace_id: workspace.id });
  const { rows } = await app.db.pool.query<{ id: string }>(
    `with highlight as (
      insert into highlights (id, workspace_id, recording_id, text, start_ms, duration_ms)
      values (gen_random_uuid(), $2, $1, 'H', 0, 1000) returning id)
    insert into clips (recording_id, highlight_id, start_ms, end_ms) select $1, id, 0, 1000 from highlight returning id`,
    [recordingId, workspace.id],
  );
  const clipId = rows[0]?.id ?? "";
  const sha256 = Buffer.alloc(32);
  const add = (key: string, bytes: number, clip?: string) =>
    recordStoredFiles(app.db.kysely, { recordingId, ...(clip === undefined ? {} : { clipId: clip }) }, [
      { key: `recordings/${recordingId}/${key}`, bytes, sha256 },
    ]);
  await add("media.mp4", 300_000);
  await add(`clips/${clipId}/media.mp4`, 200_000, clipId);
  assert.equal(await used(), quota);
  assert.equal((await create({ media_type: "video" }, token)).body.error, "quota_exceeded");
  await app.db.pool.query("delete from clips where id = $1", [clipId]);
  assert.equal(await used(), 300_000);
  assert.equal((await create({ media_type: "video" }, token)).status, 200);
  await app.db.pool.query("delete from recordings where id = $1", [recordingId]);
  assert.equal(await used(), 0);
});
