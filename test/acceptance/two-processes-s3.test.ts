import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call, olderVersion } from "../support/call.ts";
import { noS3Server, startS3Server } from "../support/s3-server.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const s3 = await startS3Server();
after(() => s3?.stop());

function fixture(name: string): ArrayBuffer {
  const { buffer, byteOffset, length } = readFileSync(new URL(`../fixtures/media/${name}`, import.meta.url));
  return buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
}

if (s3 === null) {
  test("two processes and one bucket", { skip: noS3Server });
} else {
  const env = {
    PARLEY_STORAGE: "s3",
    PARLEY_S3_ENDPOINT: s3.endpoint,
    PARLEY_S3_BUCKET: await s3.bucket(),
    PARLEY_S3_NOTIFICATION_TOKEN: "the-token-of-the-bucket",
    PARLEY_SWEEP_INTERVAL: "500ms",
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const api = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
  const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
  const other = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
  after(async () => {
    await worker.dispose();
    await other.dispose();
    await api.dispose();
  });
  await api.start();
  const workspace = await parley(api, "workspace", "create", "--name", "Bucket");
  await parley(api, "user", "create", "--email", "b@bucket.example", "--name", "B", "--workspace", workspace);
  const token = await parley(api, "token", "create", "--email", "b@bucket.example");

  const get = async (id: string) => (await call(api, "POST", `/uploads/${id}`, {}, { token })).body;
  const begin = async (mediaType: string) =>
    (await call(api, "POST", "/uploads/create", { media_type: mediaType }, { token })).body;
  const put = (url: string, name: string, headers: Record<string, string>) =>
    fetch(url, { method: "PUT", body: fixture(name), headers });
  /** @param pauseMs between two looks, more than usual where a job waits for the heartbeats of a killed process to expire. */
  const untilFinal = (id: string, pauseMs = 0) =>
    until(
      `upload ${id} has succeeded or failed`,
      async () => {
        const upload = await get(id);
        if (upload.status === "success" || upload.status === "failure") return upload;
        await delay(pauseMs);
        return undefined;
      },
      90_000,
    );

  test("a file is uploaded directly to the bucket once, detected there, and downloaded through the server", async () => {
    await worker.start();
    const { id, media } = await begin("video");
    assert.ok(media.upload.url.startsWith(s3.endpoint), media.upload.url);
    assert.equal(media.upload.headers["If-None-Match"], "*");
    assert.equal((await put(media.upload.url, "good-index-at-end.mp4", {})).status, 403);
    assert.equal((await put(media.upload.url, "good-index-at-end.mp4", media.upload.headers)).status, 200);
    assert.equal((await put(media.upload.url, "good-cbr.mp3", media.upload.headers)).status, 412);
    const upload = await untilFinal(id);
    assert.equal(upload.status, "success", upload.failure?.reason);

    const download = await call(api, "GET", `/recordings/${upload.recording_id}/download`, undefined, {
      token,
    });
    const location = download.headers.get("location") ?? "";
    const served = location.replace("localhost", "127.0.0.1");
    const file = await fetch(served);
    assert.deepEqual([file.status, file.url], [200, served]);
    assert.equal((await file.text()).slice(4, 8), "ftyp");
    const part = await fetch(served, { headers: { range: "bytes=4-7" } });
    assert.deepEqual([part.status, await part.text()], [206, "ftyp"]);
    assert.equal(file.headers.get("content-type"), "video/mp4");
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename="Video recording of /);
    const { body: recording } = await call(api, "POST", `/recordings/${upload.recording_id}`, {}, { token });
    const picture = await fetch(recording.thumbnail_url.replace("localhost", "127.0.0.1"));
    assert.deepEqual([picture.status, picture.headers.get("content-type")], [200, "image/jpeg"]);
  });

  test("the file of Upload Recording is sent through the server, once", async () => {
    const { body } = await call(
      api,
      "POST",
      "/recordings/upload",
      { filename: "a.m4a" },
      { token, version: olderVersion },
    );
    const url = body.url.replace("localhost", "127.0.0.1");
    assert.equal((await put(url, "onestep-aac.m4a", {})).status, 200);
    assert.equal((await put(url, "onestep-aac.m4a", {})).status, 412);
    const upload = await untilFinal(body.uuid);
    assert.equal(upload.status, "success", upload.failure?.reason);
  });

  test("a fragmented file and an invalid one are validated from the bucket", async () => {
    const [good, bad] = [await begin("video"), await begin("video")];
    await put(good.media.upload.url, "good-fragmented.mp4", good.media.upload.headers);
    await put(bad.media.upload.url, "bad-short-silent-high.mp4", bad.media.upload.headers);
    assert.equal((await untilFinal(good.id)).failure, undefined);
    assert.match((await untilFinal(bad.id)).failure.reason, /at least 10 s/);
  });

  test("a bucket notification triggers an immediate check for the file; without the token it is refused", async () => {
    await worker.stop();
    const { id, media } = await begin("audio");
    await put(media.upload.url, "good-cbr.mp3", media.upload.headers);
    const notify = (authorization: string, key: string) =>
      fetch(`${api.url}/_/storage/notifications`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ Records: [{ eventName: "ObjectCreated:Put", s3: { object: { key } } }] }),
      });
    const key = `uploads/${id}/file`;
    assert.equal((await notify("Bearer wrong", key)).status, 401);
    assert.equal((await get(id)).status, "awaiting");
    assert.equal((await notify("Bearer the-token-of-the-bucket", encodeURIComponent(key))).status, 200);
    assert.equal((await get(id)).status, "processing");
    await worker.start();
    assert.equal((await untilFinal(id)).status, "success");
  });

  test("when one of two workers is killed, the other finishes its uploads", async () => {
    await other.start();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      const { id, media } = await begin("video");
      await put(media.upload.url, "good-index-at-end.mp4", media.upload.headers);
      ids.push(id);
    }
    await until("a worker has started a job", async () =>
      (await Promise.all(ids.map(get))).some((u) => u.status === "promoting"),
    );
    await worker.kill();
    for (const id of ids) assert.equal((await untilFinal(id, 500)).status, "success");
  });
}
