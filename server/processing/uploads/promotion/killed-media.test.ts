import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { uploadFinished } from "../../../platform/telemetry/signals.ts";
import { renderCompanionsJob } from "../../integrity/companions.ts";
import { MediaFailedError, MediaKilledError, renderMedia } from "../../media/render/index.ts";
import { startUploads } from "../test/uploads.ts";
import { promoteMediaJob } from "./promote-media.ts";
import { validateUploadJob } from "./validate-file.ts";

const { app, member, create } = await startUploads({ worker: false });

async function row(id: string) {
  return (await app.db.pool.query("select * from uploads where id = $1", [id])).rows[0];
}

/** An upload that a job is to turn into a recording. */
async function promoting(mediaType = "audio", name = "good-cbr.mp3"): Promise<string> {
  const { id } = (await create({ media_type: mediaType })).body;
  const file = new URL(`../../../../test/fixtures/media/${name}`, import.meta.url);
  await app.store.put(uploadFileKey(id), readFileSync(file));
  await app.db.pool.query("update uploads set status = 'processing', received_at = now() where id = $1", [
    id,
  ]);
  await validateUploadJob(app, id);
  assert.equal((await row(id)).status, "promoting");
  return id;
}

const killed = { ...app, render: () => Promise.reject(new MediaKilledError("ended by SIGKILL")) };

test("killed from outside: retried four times, then the file is reported to need too much memory", async () => {
  const id = await promoting();
  for (let kills = 1; kills < 5; kills++) {
    await assert.rejects(promoteMediaJob(killed, id), MediaKilledError);
    const { status, work_kills } = await row(id);
    assert.deepEqual([status, work_kills], ["promoting", kills]);
  }
  await promoteMediaJob(killed, id);
  const { status, failure_reason } = await row(id);
  assert.equal(status, "failure");
  assert.match(failure_reason, /more memory than the server has/);
  assert.equal(await app.store.head(uploadFileKey(id)), null);
});

test("a file that can't be rendered fails with what the media library reported, for the log and admins", async () => {
  const id = await promoting();
  const failures: unknown[] = [];
  const end = uploadFinished.subscribe(({ failure }) => failures.push(failure));
  const render = () =>
    Promise.reject(new MediaFailedError("The sound can't be read.", "End of file (-541478725)"));
  await promoteMediaJob({ ...app, render }, id);
  end();
  assert.deepEqual(failures, [
    {
      uploadId: id,
      stage: "promoting",
      reason: "The sound can't be read.",
      detail: "End of file (-541478725)",
      bytes: 24_417,
      container: "mp3",
    },
  ]);
});

test("killed three times and then not: a recording like any other", async () => {
  const id = await promoting();
  for (let kills = 1; kills < 5; kills++) await assert.rejects(promoteMediaJob(killed, id));
  await promoteMediaJob(app, id);
  assert.equal((await row(id)).status, "success");
});

test("an attempt that fails without ending the process does not count as a kill", async () => {
  const id = await promoting();
  const full = { ...app, render: () => Promise.reject(new Error("no space left")) };
  for (let attempt = 0; attempt < 6; attempt++) await assert.rejects(promoteMediaJob(full, id));
  const { status, work_kills, work_attempts } = await row(id);
  assert.deepEqual([status, work_kills, work_attempts], ["promoting", 0, 6]);
  // The cause of the failure is fixed.
  await promoteMediaJob({ ...app, render: renderMedia }, id);
  assert.equal((await row(id)).status, "success");
});

test("a thumbnail that fails leaves the recording without one; the job that is queued creates it", async () => {
  const id = await promoting("video", "good-faststart.mp4");
  const render: typeof renderMedia = async (...args) => {
    const failures = [{ companion: "thumbnail", detail: "scale a picture" }] as const;
    return { ...(await renderMedia(...args)), thumbnail: null, failures };
  };
  await promoteMediaJob({ ...app, render }, id);
  const { status, recording_id: recordingId } = await row(id);
  assert.equal(status, "success");
  const url = async () =>
    (await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token })).body.thumbnail_url;
  assert.equal(await url(), null);
  const { rows } = await app.db.pool.query(
    "select data from jobs where name = 'render_companions' and run_id is null",
  );
  assert.deepEqual(rows, [{ data: { recordingId } }]);
  await renderCompanionsJob(app, recordingId);
  assert.match(await url(), /thumbnail\.jpg/);
});
