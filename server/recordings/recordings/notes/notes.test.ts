import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { dataTools } from "../test/recordings.ts";

const app = await startTestApp();
const { manage, read, eventsOf, makeViewer } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const viewer = await makeViewer(workspace);
const other = await makeUser(app.db, workspace);

test("private notes belong to one user who can see the recording; no one else can read them", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const path = `/recordings/${recordingId}/private_notes`;
  assert.equal((await manage("PUT", path, other.token, { text: "mine" })).status, 404);
  assert.equal((await manage("GET", path, other.token)).status, 404);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });

  assert.deepEqual((await manage("GET", path, member.token)).body, { text: null });
  assert.equal((await manage("PUT", path, member.token, { text: "# Mine" })).status, 200);
  assert.equal((await manage("PUT", path, other.token, { text: "other's" })).status, 200);
  assert.deepEqual((await manage("GET", path, member.token)).body, { text: "# Mine" });
  assert.deepEqual((await manage("GET", path, other.token)).body, { text: "other's" });
  const notes = async (token: string) =>
    (await read(recordingId, token, { private_notes: true })).body.private_notes;
  assert.deepEqual(
    [await notes(member.token), await notes(other.token)],
    [{ text: "# Mine" }, { text: "other's" }],
  );

  const before = await eventsOf(recordingId);
  await manage("PUT", path, member.token, { text: "# Mine" });
  assert.deepEqual(await eventsOf(recordingId), before);
  assert.equal((await manage("DELETE", path, member.token)).status, 200);
  assert.equal((await manage("DELETE", path, member.token)).status, 200);
  assert.deepEqual(await eventsOf(recordingId), [...before, "recording_updated"]);
  assert.deepEqual([await notes(member.token), await notes(other.token)], [null, { text: "other's" }]);
});

test("private notes: a viewer reads what they wrote while they were a member, and writes no more", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  const path = `/recordings/${recordingId}/private_notes`;
  const once = await makeUser(app.db, workspace);
  await manage("PUT", path, once.token, { text: "kept" });
  await app.db.pool.query("update users set role = 'viewer' where id = $1", [once.id]);
  assert.deepEqual((await manage("GET", path, once.token)).body, { text: "kept" });
  assert.deepEqual((await manage("GET", path, viewer.token)).body, { text: null });
  assert.equal((await manage("PUT", path, once.token, { text: "more" })).status, 403);
  assert.equal((await manage("DELETE", path, once.token)).status, 403);
});

test("private notes: workspace tokens get 403, viewers for writing, blank or endless text 400", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  const path = `/recordings/${recordingId}/private_notes`;
  for (const method of ["GET", "PUT", "DELETE"]) {
    for (const token of method === "GET" ? [workspace.token] : [workspace.token, viewer.token]) {
      const { status, body } = await manage(
        method,
        path,
        token,
        method === "PUT" ? { text: "x" } : undefined,
      );
      assert.deepEqual([status, body.error], [403, "forbidden"], method);
    }
    assert.equal((await manage(method, path, null)).status, 401);
  }
  assert.equal((await manage("PUT", path, member.token, { text: " " })).status, 400);
  assert.equal((await manage("PUT", path, member.token, { text: "x".repeat(100_001) })).status, 400);
});

test("media: links to all that exists, each good for that alone; nothing for a transcript", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const path = `/recordings/${recordingId}/media`;
  const none = await manage("GET", path, member.token);
  const { expires_datetime, ...rest } = none.body;
  assert.ok(Date.parse(expires_datetime) > Date.now());
  assert.deepEqual(rest, { media: null, thumbnail_url: null, waveform_url: null, storyboard: null });

  const files = {
    "media.mp4": "a film",
    "thumbnail.jpg": "a picture",
    "waveform.json": '{"version":1}',
    "storyboard.json": '{"sheets":[]}',
    "storyboard-0.jpg": "sheet 0",
    "storyboard-1.jpg": "sheet 1",
  };
  for (const [name, content] of Object.entries(files))
    await app.store.put(recordingObjectKey(recordingId, name), Buffer.from(content));
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', true)",
    [recordingId],
  );
  const { status, body } = await manage("GET", path, member.token);
  assert.equal(status, 200);
  assert.deepEqual([body.media.content_type, body.media.size_bytes], ["video/mp4", 6]);
  const fetched = async (url: string) => {
    const answer = await fetch(url.replace("http://parley.test", app.url));
    return [answer.status, await answer.text(), answer.headers.get("content-type")];
  };
  assert.deepEqual(await fetched(body.media.url), [200, "a film", "video/mp4"]);
  assert.deepEqual(await fetched(body.thumbnail_url), [200, "a picture", "image/jpeg"]);
  assert.deepEqual(await fetched(body.waveform_url), [200, '{"version":1}', "application/json"]);
  assert.deepEqual(await fetched(body.storyboard.index_url), [200, '{"sheets":[]}', "application/json"]);
  assert.deepEqual(await fetched(body.storyboard.sheets[1].url), [200, "sheet 1", "image/jpeg"]);
  const elsewhere = body.waveform_url.replace("waveform.json", "storyboard.json");
  assert.equal((await fetched(elsewhere))[0], 403);
  const stolen = body.waveform_url.replace("waveform.json", "media.mp4");
  assert.equal((await fetched(stolen))[0], 404);
  const old = body.waveform_url.replace(/expires=\d+/, "expires=1000");
  assert.equal((await fetched(old))[0], 403);
  assert.equal((await manage("GET", path, other.token)).status, 404);
  assert.equal(
    (await manage("GET", `/recordings/${recordingId}`, member.token)).body.media.has_storyboard,
    true,
  );
});
