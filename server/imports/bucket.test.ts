import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { startTestApp } from "../../test/support/app.ts";
import { makeWorkspace } from "../../test/support/factories.ts";
import { noS3Server, startS3Server } from "../../test/support/s3-server.ts";
import { until } from "../../test/support/until.ts";
import { dataTools } from "../recordings/test/recordings.ts";

// Runs alone: it sets the credentials of S3 for the whole process.

const s3 = await startS3Server();
after(() => s3?.stop());

if (s3 === null) {
  test("imports from a bucket", { skip: noS3Server });
} else {
  process.env.AWS_ACCESS_KEY_ID = s3.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
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
    const file = readFileSync(new URL("../../test/fixtures/media/good-faststart.mp4", import.meta.url));
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
    assert.ok(media.media.url.startsWith(s3?.endpoint ?? ""));
    assert.equal((await fetch(media.media.url)).status, 200);
    for (const url of [media.waveform_url, media.storyboard.index_url, media.storyboard.sheets[0].url]) {
      const answer = await fetch(url.replace("http://parley.test", app.url), { redirect: "manual" });
      assert.equal(answer.status, 200, url);
    }
  });
}
