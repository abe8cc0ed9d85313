import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { makeUser, type TestUser } from "../../../../test/support/factories.ts";
import { fetchDescribed } from "../../../../test/support/openapi.ts";
import { until } from "../../../../test/support/until.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { promoteUploadJob } from "../promotion/promote.ts";
import { promoteMediaJob } from "../promotion/promote-media.ts";
import { validateUploadJob } from "../promotion/validate-file.ts";
import { startUploads, sweepLog } from "../test/uploads.ts";
import { noticeArrivals } from "../transfer/arrival.ts";
import { accessEndedReason, endUploadsOfDeactivated } from "./end-access.ts";

const { app, workspace, create, staged, events } = await startUploads({ worker: false });
const { log } = sweepLog();
const bytes = Buffer.alloc(300_000, "parley");
const pieceHeaders = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };

const reach = (url: string) => url.replace(/^http:\/\/parley\.test/, app.url);

function deactivate({ id }: TestUser) {
  return call(app, "POST", `/_/api/v1/users/${id}/deactivate`, undefined, {
    token: workspace.admin.token,
    version: null,
  });
}

async function row(id: string) {
  return (await app.db.pool.query("select * from uploads where id = $1", [id])).rows[0];
}

async function countRecordings(): Promise<number> {
  return (await app.db.pool.query("select count(*)::int as count from recordings")).rows[0].count;
}

/** A request that has sent half of its body; `done` resolves with the status, or null when the connection was cut. */
function sendHalf(url: string, method: string, headers: Record<string, string>) {
  const request = httpRequest(reach(url), {
    method,
    headers: { ...headers, "content-length": String(bytes.length) },
  });
  const done = new Promise<number | null>((resolve) => {
    request.on("error", () => resolve(null));
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
  });
  request.write(bytes.subarray(0, 150_000));
  return { request, done };
}

test("files for the uploads of a deactivated user are refused by PUT and by tus", async () => {
  const user = await makeUser(app.db, workspace);
  const { media } = (await create({ media_type: "video" }, user.token)).body;
  assert.equal((await deactivate(user)).body.ended_uploads, 1);
  const put = await fetchDescribed(reach(media.upload.url), {
    method: "PUT",
    headers: media.upload.headers,
    body: bytes,
  });
  assert.equal(put.status, 403);
  assert.match(JSON.stringify(await put.json()), /was deactivated/);
  for (const [method, headers] of [
    ["POST", { "upload-length": "300000" }],
    ["HEAD", {}],
    ["PATCH", { ...pieceHeaders, "upload-offset": "0" }],
  ] as const) {
    const answer = await fetch(reach(media.upload.tus_url), {
      method,
      headers: { "tus-resumable": "1.0.0", ...headers },
      ...(method === "PATCH" ? { body: bytes } : {}),
    });
    assert.equal(answer.status, 403, method);
  }
});

test("a viewer's upload URLs accept no file", async () => {
  const user = await makeUser(app.db, workspace);
  const { media } = (await create({ media_type: "video" }, user.token)).body;
  await app.db.pool.query("update users set role = 'viewer' where id = $1", [user.id]);
  const put = await fetchDescribed(reach(media.upload.url), {
    method: "PUT",
    headers: media.upload.headers,
    body: bytes,
  });
  assert.equal(put.status, 403);
  assert.match(JSON.stringify(await put.json()), /is now a viewer/);
});

test("a running PUT and a running tus PATCH are cut off within a second of the deactivation, and nothing is kept", async () => {
  const user = await makeUser(app.db, workspace);
  const whole = (await create({ media_type: "video" }, user.token)).body;
  const pieces = (await create({ media_type: "video" }, user.token)).body;
  const begun = await fetch(reach(pieces.media.upload.tus_url), {
    method: "POST",
    headers: { "tus-resumable": "1.0.0", "upload-length": String(bytes.length) },
  });
  assert.equal(begun.status, 201);
  const put = sendHalf(whole.media.upload.url, "PUT", whole.media.upload.headers);
  const patch = sendHalf(pieces.media.upload.tus_url, "PATCH", { ...pieceHeaders, "upload-offset": "0" });
  await until("both are being served", async () => {
    const { rowCount } = await app.db.pool.query("select 1 from resumable_leases where upload_id = $1", [
      pieces.id,
    ]);
    return rowCount === 1 && (await row(whole.id)).put_active_at !== null;
  });
  await deactivate(user);
  const deactivatedAt = Date.now();
  const [putStatus] = await Promise.all([put.done, patch.done]);
  assert.ok(Date.now() - deactivatedAt < 1000, "cut off in time");
  assert.ok(putStatus === null || putStatus === 403, String(putStatus));
  // The PATCH may end with its current offset; the next one is refused.
  const next = await fetch(reach(pieces.media.upload.tus_url), {
    method: "PATCH",
    headers: { ...pieceHeaders, "upload-offset": "150000" },
    body: bytes.subarray(150_000),
  });
  assert.equal(next.status, 403);
  put.request.destroy();
  patch.request.destroy();
  await endUploadsOfDeactivated({ ...app, log });
  for (const { id } of [whole, pieces]) {
    const { status, failure_reason, received_at } = await row(id);
    assert.deepEqual([status, failure_reason, received_at], ["failure", accessEndedReason, null]);
    assert.equal(await app.store.head(uploadFileKey(id)), null);
  }
});

test("a file that reached the bucket is not accepted for a deactivated user", async () => {
  const user = await makeUser(app.db, workspace);
  const { id } = (await create({ media_type: "video" }, user.token)).body;
  await app.store.put(uploadFileKey(id), bytes, {});
  await deactivate(user);
  await app.db.pool.query("update uploads set next_check_at = now() - interval '1 second' where id = $1", [
    id,
  ]);
  await noticeArrivals({ ...app, log }, 1000);
  assert.equal((await row(id)).received_at, null);
  await endUploadsOfDeactivated({ ...app, log });
  assert.equal((await row(id)).status, "failure");
  assert.equal(await app.store.head(uploadFileKey(id)), null);
});

test("no job promotes an upload of a deactivated user, and every unfinished one fails with the reason", async () => {
  const user = await makeUser(app.db, workspace);
  const transcript = async (autoPromote: boolean) => {
    const { body } = await staged({}, user.token);
    if (autoPromote) await call(app, "POST", `/uploads/${body.id}/promote`, {}, { token: user.token });
    return body.id as string;
  };
  const promoting = await transcript(true);
  const waiting = await transcript(false);
  const media = (await create({ media_type: "video" }, user.token)).body.id;
  await app.store.put(uploadFileKey(media), bytes, {});
  await app.db.pool.query(
    "update uploads set status = 'promoting', received_at = now(), facts = '{\"audio\": null}' where id = $1",
    [media],
  );
  const processing = (await create({ media_type: "audio" }, user.token)).body.id;
  await app.store.put(uploadFileKey(processing), bytes, {});
  await app.db.pool.query("update uploads set status = 'processing', received_at = now() where id = $1", [
    processing,
  ]);
  const before = await countRecordings();
  await deactivate(user);
  const deps = { ...app, config: app.config };
  await promoteUploadJob(deps, promoting);
  assert.equal((await row(promoting)).failure_reason, accessEndedReason);
  await promoteMediaJob(
    {
      ...deps,
      render: async ({ inputPath }) => ({
        mediaPath: inputPath,
        speechPath: null,
        contentType: "video/mp4" as const,
        durationMs: 10_000,
        width: null,
        height: null,
        stageMs: {},
        thumbnail: null,
        waveform: { path: inputPath },
        storyboard: null,
        failures: [],
      }),
    },
    media,
  );
  assert.equal((await row(media)).failure_reason, accessEndedReason);
  await endUploadsOfDeactivated({ ...app, log });
  await validateUploadJob(deps, processing);
  for (const id of [promoting, waiting, media, processing]) {
    const { status, failure_reason } = await row(id);
    assert.deepEqual([status, failure_reason], ["failure", accessEndedReason]);
    assert.deepEqual((await events(id)).at(-1), ["upload_updated", "failure"]);
    assert.equal(await app.store.head(uploadFileKey(id)), null);
  }
  assert.equal(await countRecordings(), before);
  const { rows } = await app.db.pool.query(
    "select details from audit_log where action = 'user_deactivated' and subject_id = $1",
    [user.id],
  );
  assert.equal(rows[0].details.uploads, 4);
});

test("a promotion and a deactivation at the same moment: one comes first, and neither fails with a deadlock", async () => {
  for (let round = 0; round < 6; round += 1) {
    const user = await makeUser(app.db, workspace);
    const { id } = (await staged({}, user.token)).body;
    await call(app, "POST", `/uploads/${id}/promote`, {}, { token: user.token });
    const [, ended] = await Promise.all([promoteUploadJob(app, id), deactivate(user)]);
    assert.equal(ended.status, 200, ended.text);
    const { status, recording_id } = await row(id);
    assert.equal(recording_id !== null, status === "success");
    assert.ok(status === "success" || status === "failure", status);
  }
});
