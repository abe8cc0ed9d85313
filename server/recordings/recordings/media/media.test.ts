import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { downloadName } from "./media.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const bytes = randomBytes(3_000_000);
const recordingId = await makeMediaRecording('Größe: "Q3" / Ausblick');

/** A recording with a file, as promotion leaves it. */
async function makeMediaRecording(title: string): Promise<string> {
  const { recordingId: id } = await makeRecording(app, member.token, { title });
  await app.store.put(recordingObjectKey(id, "media.mp4"), bytes, {});
  await app.store.put(recordingObjectKey(id, "thumbnail.jpg"), Buffer.from("a picture"), {});
  await app.db.pool.query("update recordings set has_thumbnail = true, media_type = 'video' where id = $1", [
    id,
  ]);
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
    [id],
  );
  return id;
}

function reach(url: string): string {
  assert.ok(url.startsWith("http://parley.test/"), url);
  return url.replace("http://parley.test", app.url);
}

async function link(): Promise<string> {
  const answer = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, {
    token: member.token,
  });
  assert.equal(answer.status, 302);
  return reach(answer.headers.get("location") ?? "");
}

const fetchBytes = async (url: string, headers: Record<string, string> = {}, method = "GET") => {
  const response = await fetch(url, { headers, method });
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
};

test("download: leads to the file, in both versions, with its type, length and a name from the title", async () => {
  for (const version of everyVersion) {
    const answer = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, {
      token: member.token,
      version,
    });
    assert.equal(answer.status, 302);
    const { status, headers, body } = await fetchBytes(reach(answer.headers.get("location") ?? ""));
    assert.equal(status, 200);
    assert.ok(body.equals(bytes));
    assert.equal(headers.get("content-type"), "video/mp4");
    assert.equal(headers.get("content-length"), String(bytes.length));
    assert.equal(headers.get("accept-ranges"), "bytes");
    assert.equal(
      headers.get("content-disposition"),
      `attachment; filename="Gr__e Q3 Ausblick.mp4"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20Q3%20Ausblick.mp4`,
    );
  }
});

test("download: who can't see the recording learns nothing, and a transcript has no file", async () => {
  const other = await makeUser(app.db, workspace);
  const hidden = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, {
    token: other.token,
  });
  assert.equal(hidden.status, 404);
  const { recordingId: id } = await makeRecording(app, member.token, { title: "Words" });
  const words = await call(app, "GET", `/recordings/${id}/download`, undefined, { token: member.token });
  assert.equal(words.status, 404);
  assert.match(words.body.detail, /is a transcript and has no media file/);
});

test("range: any part of the file, and what lies outside is refused", async () => {
  const url = await link();
  const size = bytes.length;
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 0],
    ["bytes=100-199", 100, 199],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ["bytes=2000000-99999999", 2_000_000, size - 1],
    ["bytes=-500", size - 500, size - 1],
    ["bytes=-99999999", 0, size - 1],
  ] as const) {
    const { status, headers, body } = await fetchBytes(url, { range });
    assert.equal(status, 206, range);
    assert.equal(headers.get("content-range"), `bytes ${start}-${end}/${size}`);
    assert.equal(headers.get("content-length"), String(end - start + 1));
    assert.ok(body.equals(bytes.subarray(start, end + 1)), range);
  }
  for (const range of [`bytes=${size}-`, "bytes=-0"]) {
    const { status, headers } = await fetchBytes(url, { range });
    assert.deepEqual([status, headers.get("content-range")], [416, `bytes */${size}`], range);
  }
  for (const range of ["bytes=5-2", "lines=1-2", "bytes=a-b", "bytes=0-1,5-6"])
    assert.equal((await fetchBytes(url, { range })).status, 200, range);
});

test("conditions: a copy that is still true is not sent again, and a range only of the same content", async () => {
  const url = await link();
  const { headers } = await fetchBytes(url, {}, "HEAD");
  const etag = headers.get("etag") ?? "";
  const modified = headers.get("last-modified") ?? "";
  assert.match(etag, /^"[^"]+"$/);
  const statusOf = async (conditions: Record<string, string>) => (await fetchBytes(url, conditions)).status;
  assert.equal(await statusOf({ "if-none-match": etag }), 304);
  assert.equal(await statusOf({ "if-none-match": `W/${etag}, "other"` }), 304);
  assert.equal(await statusOf({ "if-none-match": '"other"' }), 200);
  assert.equal(await statusOf({ "if-modified-since": modified }), 304);
  assert.equal(await statusOf({ "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT" }), 200);
  assert.equal(await statusOf({ "if-match": etag }), 200);
  assert.equal(await statusOf({ "if-match": "*" }), 200);
  assert.equal(await statusOf({ "if-match": '"other"' }), 412);
  assert.equal(await statusOf({ "if-unmodified-since": modified }), 200);
  assert.equal(await statusOf({ "if-unmodified-since": "Thu, 01 Jan 2015 00:00:00 GMT" }), 412);
  const range = "bytes=0-9";
  assert.equal(await statusOf({ range, "if-range": etag }), 206);
  assert.equal(await statusOf({ range, "if-range": modified }), 206);
  assert.equal(await statusOf({ range, "if-range": '"other"' }), 200);
  assert.equal(await statusOf({ range, "if-range": `W/${etag}` }), 200);
  assert.equal(await statusOf({ range, "if-range": "Thu, 01 Jan 2015 00:00:00 GMT" }), 200);
});

test("head: the same headers and no body", async () => {
  const url = await link();
  const whole = await fetchBytes(url, {}, "HEAD");
  assert.deepEqual([whole.status, whole.body.length], [200, 0]);
  assert.equal(whole.headers.get("content-length"), String(bytes.length));
  assert.equal(whole.headers.get("content-type"), "video/mp4");
  assert.match(whole.headers.get("x-request-id") ?? "", /./);
  const part = await fetchBytes(url, { range: "bytes=0-9" }, "HEAD");
  assert.deepEqual([part.status, part.headers.get("content-length")], [206, "10"]);
});

test("links: good for their own file alone, and gone with it", async () => {
  const url = new URL(await link());
  const other = await makeMediaRecording("Other");
  const forged = new URL(url);
  forged.pathname = forged.pathname.replace(recordingId, other);
  assert.equal((await fetchBytes(forged.href)).status, 403);
  const picture = new URL(url);
  picture.pathname = picture.pathname.replace(/\/media$/, "/thumbnail.jpg");
  assert.equal((await fetchBytes(picture.href)).status, 403);
  url.searchParams.set("expires", "1");
  assert.equal((await fetchBytes(url.href)).status, 403);
});

test("thumbnail: the recording's URL for it works without a token, does not expire, and is always the same", async () => {
  const { body } = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  const listed = await call(
    app,
    "POST",
    "/recordings",
    { filter: { title_search: "Q3" } },
    { token: member.token },
  );
  assert.equal(listed.body.recordings[0].thumbnail_url, body.thumbnail_url);
  const picture = await fetchBytes(reach(body.thumbnail_url));
  assert.deepEqual([picture.status, picture.body.toString()], [200, "a picture"]);
  assert.equal(picture.headers.get("content-type"), "image/jpeg");
  assert.equal(new URL(body.thumbnail_url).searchParams.get("expires"), null);
  const changed = body.thumbnail_url.replace(member.id, workspace.admin.id);
  assert.equal((await fetchBytes(reach(changed))).status, 403);
});

test("a file name is one that every system takes", () => {
  const name = (title: string) => downloadName({ title, format: "mp3" });
  assert.equal(name("talk.mp3"), "talk.mp3");
  assert.equal(name("Weekly"), "Weekly.mp3");
  assert.equal(name("../../etc/passwd"), "etc passwd.mp3");
  assert.equal(name("a\u0000b\r\nc"), "a b c.mp3");
  assert.equal(name("..."), "recording.mp3");
  assert.equal(name("\u202egpj.exe"), "gpj.exe.mp3");
  assert.ok(Buffer.byteLength(name("😀".repeat(500))) <= 184);
});
