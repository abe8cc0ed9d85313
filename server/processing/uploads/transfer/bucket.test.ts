import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { noS3Server, startS3Server } from "../../../../test/support/s3-server.ts";
import { removeOrphans } from "../../../operations/storage-maintenance/orphans.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { promoteMediaJob } from "../promotion/promote-media.ts";
import { validateUploadJob } from "../promotion/validate-file.ts";
import { startUploads, sweepLog } from "../test/uploads.ts";

const s3 = await startS3Server();
after(() => s3?.stop());

if (s3 === null) {
  test("uploads in a bucket", { skip: noS3Server });
} else {
  setS3Credentials(s3);
  const { app, member, create } = await startUploads({
    worker: false,
    env: {
      PARLEY_STORAGE: "s3",
      PARLEY_S3_ENDPOINT: s3.endpoint,
      PARLEY_S3_BUCKET: await s3.bucket(),
      PARLEY_S3_NOTIFICATION_TOKEN: "the-token-of-the-bucket",
      PARLEY_S3_DOWNLOADS: "bucket",
    },
  });
  const { log } = sweepLog();
  const token = member.token;
  const reach = (url: string): string => url.replace("http://parley.test", app.url);
  const sizeOf = async (id: string) => (await app.store.head(uploadFileKey(id)))?.size;
  const put = (target: { url: string; headers: Record<string, string> }, name: string) =>
    fetch(target.url, {
      method: "PUT",
      headers: target.headers,
      body: readFileSync(new URL(`../../../../test/fixtures/media/${name}`, import.meta.url)),
    });

  /** Sends a file straight to the bucket, which sends a notification. */
  async function send(mediaType: string, name: string) {
    const { id, media } = (await create({ media_type: mediaType })).body;
    assert.ok(media.upload.url.startsWith(s3?.endpoint ?? ""));
    assert.equal((await put(media.upload, name)).status, 200);
    const bucket = app.config.s3?.bucket;
    const notified = await fetch(`${app.url}/_/storage/notifications?token=the-token-of-the-bucket`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Records: [{ s3: { bucket, object: { key: uploadFileKey(id) } } }] }),
    });
    assert.equal(notified.status, 200);
    await validateUploadJob(app, id);
    return { id: id as string, target: media.upload };
  }

  const get = async (id: string) => (await call(app, "POST", `/uploads/${id}`, {}, { token })).body;

  test("accepts one file, also after the upload has ended: its key stays taken as long as its URL is valid", async () => {
    const good = await send("audio", "good-cbr.mp3");
    await promoteMediaJob(app, good.id);
    assert.equal((await get(good.id)).status, "success");
    const bad = await send("video", "bad-short.mp4");
    assert.equal((await get(bad.id)).status, "failure");
    for (const { id, target } of [good, bad]) {
      assert.equal(await sizeOf(id), 0);
      assert.equal((await put(target, "good-cbr.mp3")).status, 412);
    }
    // Killed before it was removed: the sweep does the same.
    await app.store.put(uploadFileKey(bad.id), Buffer.from("a file"));
    assert.equal(await removeOrphans(app.db, app.store, log), 1);
    assert.equal(await sizeOf(bad.id), 0);
    assert.equal(await removeOrphans(app.db, app.store, log), 0);
    await app.db.pool.query(
      "update uploads set url_expires_at = now() - interval '1 second' where id = any($1)",
      [[good.id, bad.id]],
    );
    assert.equal(await removeOrphans(app.db, app.store, log), 2);
    assert.equal(await sizeOf(good.id), undefined);
  });

  test("a worker that was taken for dead and copies late: the recording keeps its file", async () => {
    const { id } = await send("audio", "good-cbr.mp3");
    const { rows } = await app.db.pool.query("select planned_recording_id as id from uploads where id = $1", [
      id,
    ]);
    const size = await sizeOf(id);
    const { render, goOn, begun } = renderThatWaits();
    const late = promoteMediaJob({ ...app, render }, id);
    await begun;
    await promoteMediaJob(app, id);
    goOn();
    await late;
    assert.equal((await get(id)).status, "success");
    assert.equal(await sizeOf(id), 0);
    assert.equal((await app.store.head(`recordings/${rows[0].id}/media.mp3`))?.size, size);
  });

  /** Renders when the test says so. */
  function renderThatWaits() {
    const begun = Promise.withResolvers<void>();
    const going = Promise.withResolvers<void>();
    const render: NonNullable<Parameters<typeof promoteMediaJob>[0]["render"]> = async (...args) => {
      const { renderMedia } = await import("../../media/render/index.ts");
      begun.resolve();
      await going.promise;
      return renderMedia(...args);
    };
    return { render, begun: begun.promise, goOn: going.resolve };
  }

  test("download: HEAD works on every URL, and with PARLEY_S3_DOWNLOADS=bucket GET redirects to the bucket", async () => {
    const { id } = await send("video", "good-index-at-end.mp4");
    await promoteMediaJob(app, id);
    const { recording_id: recordingId } = await get(id);
    const path = `/recordings/${recordingId}/download`;
    const ours = await call(app, "HEAD", path, undefined, { token });
    assert.equal(ours.status, 302);
    const link = ours.headers.get("location") ?? "";
    assert.ok(link.startsWith("http://parley.test/_/media/recordings/"), link);
    const head = await fetch(reach(link), { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-type"), "video/mp4");
    assert.match(head.headers.get("content-disposition") ?? "", /^attachment/);
    const led = await fetch(reach(link), { redirect: "manual" });
    assert.equal(led.status, 302);
    const direct = new URL(led.headers.get("location") ?? "");
    assert.equal(direct.origin, s3?.endpoint);
    const seconds = Number(direct.searchParams.get("X-Amz-Expires"));
    assert.ok(seconds > 50 && seconds <= 60, `its URL can't be revoked, and lives for ${seconds} s`);
    const file = Buffer.from(await (await fetch(reach(link))).arrayBuffer());
    assert.equal(file.length, Number(head.headers.get("content-length")));
    const again = await call(app, "GET", path, undefined, { token });
    assert.equal(new URL(again.headers.get("location") ?? "").host, "parley.test", "checked at each request");

    await app.store.delete(`recordings/${recordingId}/media.mp4`);
    assert.equal((await fetch(reach(link), { method: "HEAD" })).status, 404);
  });

  test("thumbnail: served by the server, and browsers may cache it for a minute", async () => {
    const { id } = await send("video", "good-faststart.mp4");
    await promoteMediaJob(app, id);
    const { recording_id: recordingId } = await get(id);
    const { thumbnail_url } = (await call(app, "POST", `/recordings/${recordingId}`, {}, { token })).body;
    const follow = (method: string) => fetch(reach(thumbnail_url), { method, redirect: "manual" });
    const image = await follow("GET");
    assert.deepEqual(
      ["cache-control", "content-type"].map((name) => image.headers.get(name)),
      ["private, max-age=60", "image/jpeg"],
    );
    assert.equal(image.status, 200, "served here, so that it ends with the access");
    assert.equal((await follow("HEAD")).status, 200);
  });
}
