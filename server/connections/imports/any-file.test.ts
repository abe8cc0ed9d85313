import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { encodeFile, type TestFile } from "../../processing/media/test/encode.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";

const app = await startTestApp();
const { manage, read, eventsOf } = dataTools(app);
const { member, token: workspaceToken } = await makeWorkspace(app.db);
const folder = mkdtempSync(join(tmpdir(), "parley-any-file-"));
after(() => rmSync(folder, { recursive: true }));

function encoded(file: TestFile): Buffer {
  const path = join(folder, "file");
  encodeFile(path, file);
  return readFileSync(path);
}

/** Imports files, sent one behind the other. */
async function bring(media: object, ...files: readonly Buffer[]) {
  const { body, status, text } = await manage("POST", "/recordings", member.token, { media });
  assert.equal(status, 200, text);
  const sent = await fetch(body.upload.url.replace("http://parley.test", app.url), {
    method: "PUT",
    headers: body.upload.headers,
    body: Buffer.concat(files),
  });
  assert.ok(sent.ok);
  return body.id as string;
}

const reached = (id: string, ...statuses: readonly string[]) =>
  until(
    `import ${id} is ${statuses.join(" or ")}`,
    async () => {
      const { body } = await manage("GET", `/imports/${id}`, member.token);
      return statuses.includes(body.status) ? body : undefined;
    },
    60_000,
  );

const ended = (id: string) => reached(id, "success", "failure");
const tone = (codec: string, from: number, to: number) => ({
  codec,
  sounds: (sec: number) => sec >= from && sec < to,
});

test("parts are joined, and the start time comes from the name", async () => {
  const parts = [
    encoded({ format: "wav", seconds: 7, audio: [tone("pcm_s16le", 0, 3)] }),
    encoded({ format: "ogg", seconds: 6, audio: [tone("libvorbis", 0, 3)] }),
  ];
  const id = await bring(
    {
      format: "wav",
      name: "2026-03-04 10-15-22.wav",
      time_zone: "Europe/Berlin",
      modified_datetime: "2026-05-01T00:00:00Z",
      parts: parts.map(({ length }) => ({ bytes: length })),
    },
    ...parts,
  );
  const { recording_id, failure, start } = await ended(id);
  assert.equal(failure, null);
  assert.deepEqual(start, { datetime: "2026-03-04T09:15:22.000Z", from: "name" });
  const { body } = await read(recording_id, member.token);
  assert.equal(body.start_datetime, "2026-03-04T09:15:22.000Z");
  assert.ok(Math.abs(body.duration_ms - 13_000) < 300, body.duration_ms);
  assert.equal(body.media_type, "audio");
  assert.equal(body.title, "2026-03-04 10-15-22", "the file's name");
});

test("parts that do not add up, are no recordings, or are too short in all are refused with the part", async () => {
  const wav = encoded({ format: "wav", seconds: 4, audio: [tone("pcm_s16le", 0, 4)] });
  for (const [bytes, files, reason] of [
    [[wav.length, wav.length], [wav], /have \d+ bytes in all, but/],
    [[wav.length, 4], [wav, Buffer.from("text")], /^Part 2: The file looks like a text/],
    [[wav.length, wav.length], [wav, wav], /8 seconds long; at least 10/],
  ] as const) {
    const id = await bring({ format: "wav", parts: bytes.map((count) => ({ bytes: count })) }, ...files);
    assert.match((await ended(id)).failure.reason, reason);
  }
});

test("with ask, a file with several audio tracks waits for the choice; each track becomes a speaker", async () => {
  const file = encoded({
    format: "matroska",
    audio: [
      { ...tone("aac", 0, 4), title: "Ada" },
      { ...tone("aac", 6, 9), title: "Ben" },
    ],
    tags: { creation_time: "2026-03-04T05:06:07.000000Z", title: "Board meeting" },
  });
  const id = await bring({ format: "mkv", audio_tracks: "ask" }, file);
  const staged = await reached(id, "staged", "failure");
  assert.deepEqual([staged.auto_promote, staged.start.from], [false, "container"]);
  assert.equal(staged.title, "Board meeting", "the title in the file");
  assert.deepEqual(
    staged.audio_tracks.tracks.map(({ title }: { title: string }) => title),
    ["Ada", "Ben"],
  );
  const chosen = await manage("PATCH", `/imports/${id}`, member.token, { audio_tracks: "speakers" });
  assert.equal(chosen.body.audio_tracks.choice, "speakers", chosen.text);
  const promoted = await fetch(`${app.url}/_/public-api/v2/uploads/${id}/promote`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${member.token}`,
      "public-api-version": "2026-10-01",
      "content-type": "application/json",
    },
    body: "{}",
  });
  assert.equal(promoted.status, 200);
  const { recording_id, failure } = await ended(id);
  assert.equal(failure, null);
  const { rows } = await app.db.pool.query(
    "select speaker_tracks from recording_media where recording_id = $1",
    [recording_id],
  );
  assert.deepEqual(rows[0].speaker_tracks, ["Ada", "Ben"]);
  assert.ok(await app.store.head(recordingObjectKey(recording_id, "speech.webm")));
  const late = await manage("PATCH", `/imports/${id}`, member.token, { audio_tracks: "mix" });
  assert.equal(late.status, 409);
});

test("an import without auto_promote can be reviewed, whatever its format", async () => {
  const id = (
    await manage("POST", "/recordings", member.token, { auto_promote: false, media: { format: "webm" } })
  ).body.id;
  const { body } = await manage("GET", `/imports/${id}`, member.token);
  assert.deepEqual(
    [body.auto_promote, body.progress, body.start, body.audio_tracks],
    [false, null, null, null],
  );
});

test("notes of an import become its creator's, and are not kept elsewhere; a transcript can be removed", async () => {
  const segments = [{ speaker_key: "Ada", start: 0, end: 1000, text: "Hello" }];
  const { body, text } = await manage("POST", "/recordings", member.token, {
    media: { format: "wav" },
    auto_promote: false,
    transcript: { language: "en", segments },
    notes: "  Ada: see the agenda ",
  });
  assert.equal(body.notes, "Ada: see the agenda", text);
  const changed = await manage("PATCH", `/imports/${body.id}`, member.token, {
    notes: "Ada: see the new agenda",
    transcript: null,
  });
  assert.equal(changed.body.notes, "Ada: see the new agenda", changed.text);
  const transcripts = await app.db.pool.query("select 1 from upload_transcripts where upload_id = $1", [
    body.id,
  ]);
  assert.equal(transcripts.rowCount, 0);
  const sent = await fetch(body.upload.url.replace("http://parley.test", app.url), {
    method: "PUT",
    headers: body.upload.headers,
    body: encoded({ format: "wav", seconds: 11, audio: [tone("pcm_s16le", 0, 3)] }),
  });
  assert.ok(sent.ok);
  await reached(body.id, "staged");
  const promoted = await fetch(`${app.url}/_/public-api/v2/uploads/${body.id}/promote`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${member.token}`,
      "public-api-version": "2026-10-01",
      "content-type": "application/json",
    },
    body: "{}",
  });
  assert.equal(promoted.status, 200);
  const { recording_id, notes, failure } = await ended(body.id);
  assert.deepEqual([failure, notes], [null, null]);
  const saved = await manage("GET", `/recordings/${recording_id}/private_notes`, member.token);
  assert.equal(saved.body.text, "Ada: see the new agenda");
  const refused = await manage("POST", "/recordings", workspaceToken, {
    media: { format: "wav" },
    recorder_ids: [member.id],
    notes: "Nobody's",
  });
  assert.equal(refused.status, 403, refused.text);
});

test("notes of an import are shown to and changed by their author alone, and don't outlast a failed import", async () => {
  const { body } = await manage("POST", "/recordings", member.token, {
    media: { format: "wav" },
    notes: "Ada: between us",
  });
  const seen = await manage("GET", `/imports/${body.id}`, workspaceToken);
  assert.deepEqual([seen.status, seen.body.notes], [200, null], seen.text);
  for (const notes of [null, "Bob: replaced"]) {
    const { status, text } = await manage("PATCH", `/imports/${body.id}`, workspaceToken, { notes });
    assert.equal(status, 403, text);
  }
  const changed = await manage("PATCH", `/imports/${body.id}`, workspaceToken, { audio_tracks: "speakers" });
  assert.deepEqual([changed.status, changed.body.notes], [200, null], changed.text);
  assert.equal((await manage("GET", `/imports/${body.id}`, member.token)).body.notes, "Ada: between us");
  const sent = await fetch(body.upload.url.replace("http://parley.test", app.url), {
    method: "PUT",
    headers: body.upload.headers,
    body: "this is no sound, but text",
  });
  assert.ok(sent.ok);
  const { status, notes } = await ended(body.id);
  assert.deepEqual([status, notes], ["failure", null]);
});

test("null leaves audio_tracks and highlights as they are", async () => {
  const highlights = [{ text: "Decision", timestamp: 0, duration: 1000 }];
  const { body } = await manage("POST", "/recordings", member.token, {
    media: { format: "wav" },
    highlights,
  });
  const { status, text } = await manage("PATCH", `/imports/${body.id}`, member.token, {
    audio_tracks: null,
    highlights: null,
  });
  assert.equal(status, 200, text);
  const { rows } = await app.db.pool.query(
    "select import_data ->> 'audio_tracks' as tracks, import_data #>> '{highlights,0,text}' as text from uploads where id = $1",
    [body.id],
  );
  assert.deepEqual(rows, [{ tracks: "mix", text: "Decision" }]);
});

test("removing an import's transcript is reported as a changed upload, once", async () => {
  const { body } = await manage("POST", "/recordings", member.token, {
    media: { format: "wav" },
    transcript: { language: "en", segments: [{ speaker_key: "Ada", start: 0, end: 1000, text: "Hello" }] },
  });
  const before = await eventsOf(body.id);
  for (let time = 0; time < 2; time += 1)
    assert.equal(
      (await manage("PATCH", `/imports/${body.id}`, member.token, { transcript: null })).status,
      200,
    );
  assert.deepEqual(await eventsOf(body.id), [...before, "upload_updated"]);
});

test("a recording that was cut off is kept up to there, and says so", async () => {
  const file = encoded({
    format: "mp4",
    seconds: 16,
    video: { codec: "libx264", keyframeSec: 1 },
    audio: [{ codec: "aac" }],
    options: { movflags: "frag_keyframe+empty_moov" },
  });
  const id = await bring({ name: "crashed.mp4" }, file.subarray(0, Math.floor(file.length * 0.8)));
  const { recording_id, failure, notice, title } = await ended(id);
  assert.equal(failure, null);
  assert.equal(title, "crashed");
  assert.match(notice, /^The file ends early: 1[1-3] seconds were kept/);
  const { body } = await manage("GET", `/recordings/${recording_id}`, member.token);
  assert.deepEqual(body.media.ends_early, { expected_ms: null });
});
