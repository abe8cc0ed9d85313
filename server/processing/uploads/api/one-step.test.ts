import assert from "node:assert/strict";
import { test } from "node:test";
import { call, currentVersion, olderVersion } from "../../../../test/support/app.ts";
import { makeUser, unknownId } from "../../../../test/support/factories.ts";
import { fetchDescribed } from "../../../../test/support/openapi.ts";
import { type Input, startUploads } from "../test/uploads.ts";
import { extensionOf } from "./one-step.ts";

const { app, workspace, member, stranger, countUploads } = await startUploads({ worker: false });

function begin(input: Input, token = member.token, version = olderVersion) {
  return call(app, "POST", "/recordings/upload", input, { token, version });
}

async function statusEvents(uploadId: string) {
  const rows = await app.db.kysely
    .selectFrom("events")
    .select("data")
    .where("subject_id", "=", uploadId)
    .where("type", "=", "upload_status")
    .orderBy("id")
    .execute();
  return rows.map((row) => row.data);
}

test("created: returns where the file goes and its limits, and accepts it without headers, once", async () => {
  const { status, body } = await begin({ filename: "C:\\Meetings\\Planning Q3.MOV" });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).sort(), ["max_duration_sec", "max_upload_bytes", "url", "uuid"]);
  assert.deepEqual([body.max_duration_sec, body.max_upload_bytes], [10_800, 4_294_967_296]);
  const url = body.url.replace("http://parley.test", app.url);
  assert.equal((await fetchDescribed(url, { method: "PUT", body: "a file" })).status, 200);
  assert.equal((await fetchDescribed(url, { method: "PUT", body: "another" })).status, 412);

  const upload = await call(
    app,
    "POST",
    `/uploads/${body.uuid}`,
    { include: { attributes: true } },
    { token: member.token },
  );
  assert.equal(upload.body.title, "Planning Q3");
  assert.deepEqual(
    [upload.body.media_type, upload.body.status, upload.body.auto_promote],
    ["video", "processing", true],
  );
  assert.deepEqual(upload.body.attributes.recorder_ids, [member.id]);
  const common = { uuid: body.uuid, recording_id: null, error: null };
  assert.deepEqual(await statusEvents(body.uuid), [
    { ...common, status: "awaiting", message: "Waiting for the file.", progress: 0 },
    { ...common, status: "processing", message: "The file has arrived and is being checked.", progress: 10 },
  ]);
});

test("Get Upload and List Uploads show the PUT headers of an upload created by the older operation", async () => {
  const { body } = await begin({ filename: "headers.mp4" });
  const upload = await call(app, "POST", `/uploads/${body.uuid}`, {}, { token: member.token });
  assert.deepEqual(upload.body.media.upload.headers, { "If-None-Match": "*" });
  const { uploads } = (await call(app, "POST", "/uploads", {}, { token: member.token })).body;
  const listed = uploads.find(({ id }: { id: string }) => id === body.uuid);
  assert.deepEqual(listed.media.upload.headers, { "If-None-Match": "*" });

  const { url, headers } = listed.media.upload;
  const put = (content: string) =>
    fetchDescribed(url.replace("http://parley.test", app.url), { method: "PUT", body: content, headers });
  assert.equal((await put("a file")).status, 200);
  assert.equal((await put("another")).status, 412);
});

test("a workspace token names the owner", async () => {
  const owner = await makeUser(app.db, workspace);
  const { body } = await begin({ filename: "a.mp3", user_id: owner.id.toUpperCase() }, workspace.token);
  const upload = await call(
    app,
    "POST",
    `/uploads/${body.uuid}`,
    { include: { attributes: true } },
    { token: workspace.token },
  );
  assert.deepEqual([upload.body.media_type, upload.body.attributes.recorder_ids], ["audio", [owner.id]]);
});

test("invalid input is refused with every violation, and nothing is created", async () => {
  const before = await countUploads();
  const faults = async (input: Input, token?: string) => {
    const { status, body } = await begin(input, token);
    assert.equal(status, 400);
    return body.violations.map(
      (fault: { pointer: string; detail: string }) => `${fault.pointer} ${fault.detail}`,
    );
  };
  assert.deepEqual(await faults({}), ["/filename is required (a string)"]);
  assert.deepEqual(await faults({ filename: "notes.avi" }), [
    "/filename must end in .mov, .mp4, .mp3 or .m4a",
  ]);
  assert.deepEqual(await faults({ filename: "mp4" }, workspace.token), [
    "/filename must end in .mov, .mp4, .mp3 or .m4a",
    "/user_id is required with a workspace token: name the user who will own the recording",
  ]);
  for (const user_id of [unknownId(), stranger.member.id])
    assert.deepEqual(await faults({ filename: "a.mp4", user_id }, workspace.token), [
      "/user_id is not a user of this workspace; see List Users",
    ]);
  assert.deepEqual(await faults({ filename: "a.mp4", user_id: stranger.member.id }), [
    "/user_id must be your own with a personal token",
  ]);
  assert.equal((await begin({ filename: "a.mp4" }, "parley_pat_wrong")).status, 401);
  assert.equal(await countUploads(), before);
  assert.equal((await begin({ filename: "a.mp4", user_id: member.id })).status, 200);
});

test("the operation is not part of the current version, nor mistaken for a recording's id", async () => {
  const { status, body } = await begin({ filename: "a.mp4" }, member.token, currentVersion);
  assert.deepEqual([status, body.error], [404, "not_in_version"]);
});

test("the extension alone decides the format", () => {
  assert.equal(extensionOf("a.b.M4A"), "m4a");
  assert.equal(extensionOf("x.mp4 "), "mp4");
  for (const name of ["", ".", "mp4", "a.mp4.exe", "a.constructor", "a.mp 4"])
    assert.equal(extensionOf(name), null, name);
});
