import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { setS3Credentials } from "../../../test/support/s3-credentials.ts";
import { noS3Server, startS3Server } from "../../../test/support/s3-server.ts";
import { until } from "../../../test/support/until.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";

const s3 = await startS3Server();
after(() => s3?.stop());

if (s3 === null) {
  test("imports from a bucket", { skip: noS3Server });
} else {
  setS3Credentials(s3);
  const bucket = await s3.bucket();
  const app = await startTestApp({
    env: {
      PARLEY_STORAGE: "s3",
      PARLEY_S3_ENDPOINT: s3.endpoint,
      PARLEY_S3_BUCKET: bucket,
      PARLEY_S3_PREFIX: "parley",
    },
  });
  const { manage } = dataTools(app);
  const { id: workspaceId, admin } = await makeWorkspace(app.db);

  test("a file in the bucket, named by its s3 address, becomes a recording; waveform and storyboard are served here", async () => {
    const key = `imports/${workspaceId}/board.mp4`;
    const file = readFileSync(new URL("../../../test/fixtures/media/good-faststart.mp4", import.meta.url));
    await app.store.put(key, file);
    const { body } = await manage("POST", "/recordings", admin.token, {
      media: { url: `s3://${bucket}/parley/${key}` },
    });
    const done = await until(
      "the import has ended",
      async () => {
        const { body: now } = await manage("GET", `/imports/${body.id}`, admin.token);
        return ["success", "failure"].includes(now.status) ? now : undefined;
      },
      60_000,
    );
    assert.equal(done.status, "success", done.failure?.reason);
    const media = (await manage("GET", `/recordings/${done.recording_id}/media`, admin.token)).body;
    const reach = (url: string, headers = {}) =>
      fetch(url.replace("http://parley.test", app.url), { redirect: "manual", headers });
    const download = await reach(media.media.url);
    assert.equal(download.status, 200, "downloads are served here");
    assert.equal((await download.arrayBuffer()).byteLength, media.media.size_bytes);
    const part = await reach(media.media.url, { range: "bytes=4-7" });
    assert.deepEqual([part.status, await part.text()], [206, "ftyp"], "players are served here");
    const { thumbnail_url, waveform_url, storyboard } = media;
    for (const url of [thumbnail_url, waveform_url, storyboard.index_url, storyboard.sheets[0].url])
      assert.equal((await reach(url)).status, 200, url);
    await manage("DELETE", `/recordings/${done.recording_id}`, admin.token);
    for (const url of [media.media.url, thumbnail_url, waveform_url])
      assert.equal((await reach(url)).status, 404, `${url} after the recording was deleted`);
  });
}
