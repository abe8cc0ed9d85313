import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BufferSource, Input as MediaFile, MP4 } from "mediabunny";
import { call, olderVersion } from "../../../../test/support/app.ts";
import { sampleTranscript } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { recordingObjectKey, uploadFileKey } from "../../../platform/storage/layout.ts";
import { uploadFinished } from "../../../platform/telemetry/signals.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const { app, member, create, events } = await startUploads({
  env: { PARLEY_SWEEP_INTERVAL: "200ms" },
  recurring: ["fail_expired_media", "retry_stuck_uploads"],
});

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../../../test/fixtures/media/${name}`, import.meta.url));
}

const token = member.token;

async function get(id: string, include: Input = {}) {
  return (await call(app, "POST", `/uploads/${id}`, { include }, { token })).body;
}

function reach(url: string): string {
  return url.replace(/^http:\/\/parley\.test/, app.url);
}

/** Sends a file to a new upload. @returns the upload's id. */
async function send(mediaType: "video" | "audio", file: Buffer, input: Input = {}): Promise<string> {
  const { body } = await create({ media_type: mediaType, ...input });
  const { url, headers } = body.media.upload;
  assert.equal((await fetch(reach(url), { method: "PUT", body: file, headers })).status, 200);
  return body.id;
}

/** Waits until the upload is in one of these statuses. */
function settled(id: string, ...statuses: string[]) {
  return until(
    `upload ${id} is ${statuses.join(" or ")}`,
    async () => {
      const upload = await get(id);
      return statuses.includes(upload.status) ? upload : undefined;
    },
    60_000,
  );
}

async function keysBelow(prefix: string): Promise<string[]> {
  const keys = [];
  for await (const { key } of app.store.list(prefix)) keys.push(key.slice(prefix.length));
  return keys;
}

async function download(recordingId: string): Promise<Buffer> {
  const answer = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, { token });
  assert.equal(answer.status, 302, answer.text);
  return Buffer.from(await (await fetch(reach(answer.headers.get("location") ?? ""))).arrayBuffer());
}

test("a video becomes a recording that plays while it loads, with all its files", async () => {
  const id = await send("video", fixture("good-index-at-end.mp4"), {
    attributes: { title: "All hands", start_datetime: "2026-05-04T10:00:00Z" },
  });
  const upload = await settled(id, "success", "failure");
  assert.equal(upload.status, "success", upload.failure?.reason);
  assert.deepEqual(
    (await events(id)).map(([, status]) => status),
    ["initial", "awaiting", "processing", "staged", "promoting", "success"],
  );
  const { body: recording } = await call(app, "POST", `/recordings/${upload.recording_id}`, {}, { token });
  assert.equal(recording.title, "All hands");
  assert.deepEqual([recording.media_type, recording.source], ["video", "upload"]);
  assert.equal(recording.start_datetime, "2026-05-04T10:00:00.000Z");
  assert.ok(
    recording.duration_ms >= 11_900 && recording.duration_ms <= 12_200,
    String(recording.duration_ms),
  );
  assert.equal(
    Date.parse(recording.end_datetime) - Date.parse(recording.start_datetime),
    recording.duration_ms,
  );
  const picture = await fetch(reach(recording.thumbnail_url));
  assert.deepEqual([picture.status, picture.headers.get("content-type")], [200, "image/jpeg"]);

  const file = await download(upload.recording_id);
  assert.ok(file.indexOf("moov") < file.indexOf("mdat"), "the index stands before the media");
  const played = new MediaFile({ source: new BufferSource(file), formats: [MP4] });
  assert.equal(Math.round((await played.computeDuration()) * 10), 120);
  const kept = (await keysBelow(`recordings/${upload.recording_id}/`)).sort();
  assert.deepEqual(kept, [
    "media.mp4",
    "storyboard-0.jpg",
    "storyboard.json",
    "thumbnail.jpg",
    "waveform.json",
  ]);
  await until(
    "the file as it was sent is gone",
    async () => (await app.store.head(uploadFileKey(id))) === null,
  );
});

test("an mp3 with a constant bit rate becomes an audio recording, byte for byte", async () => {
  const sent = fixture("good-cbr.mp3");
  const id = await send("audio", sent);
  const upload = await settled(id, "success", "failure");
  assert.equal(upload.status, "success", upload.failure?.reason);
  const { body: recording } = await call(app, "POST", `/recordings/${upload.recording_id}`, {}, { token });
  assert.deepEqual([recording.media_type, recording.thumbnail_url], ["audio", null]);
  assert.ok((await download(upload.recording_id)).equals(sent));
  const { body: transcript } = await call(
    app,
    "GET",
    `/recordings/${upload.recording_id}/transcript`,
    undefined,
    { token },
  );
  assert.deepEqual(transcript, []);
});

test("with auto_promote false a checked file waits, can be edited, and becomes a recording on request", async () => {
  const id = await send("video", fixture("good-faststart.mp4"), { auto_promote: false });
  const staged = await settled(id, "staged", "failure");
  assert.equal(staged.media.status, "uploaded", staged.failure?.reason);
  const days = (Date.parse(staged.media.expires_at) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days < 7.1, String(days));
  const edited = await call(
    app,
    "PATCH",
    `/uploads/${id}`,
    { attributes: { title: "Edited", transcript: sampleTranscript } },
    { token },
  );
  assert.deepEqual([edited.status, edited.body.title], [200, "Edited"]);
  const promoted = await call(app, "POST", `/uploads/${id}/promote`, {}, { token });
  assert.deepEqual(
    [promoted.status, promoted.body.status, promoted.body.media],
    [200, "promoting", undefined],
  );
  const done = await settled(id, "success", "failure");
  const { body: transcript } = await call(
    app,
    "GET",
    `/recordings/${done.recording_id}/transcript`,
    undefined,
    { token },
  );
  assert.equal(transcript.length, sampleTranscript.segments.length);
});

test("an invalid file fails with every violation listed, is reported once with what was measured, and is not kept", async () => {
  const file = fixture("bad-short-silent-high.mp4");
  const failures: object[] = [];
  const end = uploadFinished.subscribe(({ failure }) => failures.push(failure ?? {}));
  const id = await send("video", file);
  const { status, failure, media } = await settled(id, "success", "failure");
  assert.deepEqual([status, media], ["failure", undefined]);
  end();
  const detail = "8.000 s: h264 64x1080";
  const facts = { stage: "processing", bytes: file.length, container: "mp4", detail };
  assert.deepEqual(
    failures.filter((one) => "uploadId" in one && one.uploadId === id),
    [{ uploadId: id, reason: failure.reason, ...facts }],
  );
  for (const part of [/at least 10 s/, /audio/i, /720/]) assert.match(failure.reason, part);
  await until("the file is gone", async () => (await app.store.head(uploadFileKey(id))) === null);
  assert.deepEqual((await events(id)).at(-1), ["upload_updated", "failure"]);
});

test("a video sent as audio, and the other way round, fails", async () => {
  const video = await settled(await send("audio", fixture("good-faststart.mp4")), "success", "failure");
  assert.match(video.failure.reason, /mp3/);
  const audio = await settled(await send("video", fixture("good-cbr.mp3")), "success", "failure");
  assert.match(audio.failure.reason, /mp4/);
});

test("the older operation accepts all four formats and stores two", async () => {
  for (const [name, extension, mediaType, stored] of [
    ["onestep-h264-aac.mov", "mov", "video", "mp4"],
    ["onestep-mpeg4-pcm.mov", "mov", "video", "mp4"],
    ["good-faststart.mp4", "mp4", "video", "mp4"],
    ["good-cbr.mp3", "mp3", "audio", "mp3"],
    ["onestep-aac.m4a", "m4a", "audio", "mp3"],
    ["onestep-alac.m4a", "m4a", "audio", "mp3"],
  ] as const) {
    const { body } = await call(
      app,
      "POST",
      "/recordings/upload",
      { filename: `talk.${extension}` },
      { token, version: olderVersion },
    );
    assert.equal((await fetch(reach(body.url), { method: "PUT", body: fixture(name) })).status, 200);
    const upload = await settled(body.uuid, "success", "failure");
    assert.equal(upload.status, "success", `${name}: ${upload.failure?.reason}`);
    const { body: recording } = await call(app, "POST", `/recordings/${upload.recording_id}`, {}, { token });
    assert.deepEqual([recording.title, recording.media_type], ["talk", mediaType], name);
    assert.ok(recording.duration_ms >= 10_000, name);
    assert.ok(
      (await app.store.head(recordingObjectKey(upload.recording_id, `media.${stored}`))) !== null,
      name,
    );
    const { rows } = await app.db.pool.query(
      "select data->>'status' as status, data->>'recording_id' as recording from events where subject_id = $1 and type = 'upload_status' order by id",
      [body.uuid],
    );
    assert.deepEqual(
      [...new Set(rows.map((row) => row.status))],
      ["awaiting", "processing", "promoting", "success"],
    );
    assert.equal(rows.at(-1).recording, upload.recording_id);
  }
});

test("the older operation reports an invalid file by upload_status", async () => {
  const { body } = await call(
    app,
    "POST",
    "/recordings/upload",
    { filename: "talk.mp4" },
    { token, version: olderVersion },
  );
  await fetch(reach(body.url), { method: "PUT", body: fixture("bad-short.mp4") });
  await settled(body.uuid, "failure");
  const { rows } = await app.db.pool.query(
    "select data from events where subject_id = $1 and type = 'upload_status' order by id desc limit 1",
    [body.uuid],
  );
  assert.equal(rows[0].data.status, "failure");
  assert.match(rows[0].data.error, /at least 10 s/);
});
