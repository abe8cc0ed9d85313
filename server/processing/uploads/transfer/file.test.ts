import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { fetchDescribed } from "../../../../test/support/openapi.ts";
import { until } from "../../../../test/support/until.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const { app, workspace, member, create, events } = await startUploads({ worker: false });
const bytes = Buffer.alloc(300_000, "parley");

interface Target {
  readonly id: string;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** A new video upload and the URL for its file. */
async function begin(input: Input = {}): Promise<Target> {
  const { status, body } = await create({ media_type: "video", ...input });
  assert.equal(status, 200);
  assert.equal(body.status, "awaiting");
  return { id: body.id, url: reach(body.media.upload.url), headers: body.media.upload.headers };
}

/** The same URL on the server under test. */
function reach(url: string): string {
  return url.replace(/^http:\/\/parley\.test/, app.url);
}

async function put(target: Target, body: Buffer | ReadableStream, headers = target.headers) {
  return fetchDescribed(target.url, {
    method: "PUT",
    body,
    headers,
    ...(body instanceof Buffer ? {} : { duplex: "half" }),
  } as RequestInit & { method: string });
}

async function codeOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error: string }).error];
}

async function get(id: string) {
  return (await call(app, "POST", `/uploads/${id}`, {}, { token: member.token })).body;
}

test("created: the response has the URL, headers, expiry and limits of the file", async () => {
  const { body } = await create({ media_type: "audio" });
  assert.equal(body.title.startsWith("Audio recording of "), true);
  const { status, upload } = body.media;
  assert.equal(status, "awaiting");
  assert.deepEqual(Object.keys(upload).sort(), [
    "expires_at",
    "headers",
    "max_duration_sec",
    "max_upload_bytes",
    "tus_url",
    "url",
  ]);
  assert.deepEqual(upload.headers, { "If-None-Match": "*" });
  assert.equal(upload.max_duration_sec, 10_800);
  assert.equal(upload.max_upload_bytes, 4_294_967_296);
  const lives = Date.parse(upload.expires_at) - Date.parse(body.created_datetime);
  assert.ok(Math.abs(lives - 86_400_000) < 5000, `${lives} ms`);
  assert.deepEqual(await events(body.id), [
    ["upload_added", "initial"],
    ["upload_updated", "awaiting"],
  ]);
  const listed = await call(
    app,
    "POST",
    "/uploads",
    { filter: { media_type: "audio" } },
    { token: member.token },
  );
  assert.deepEqual(listed.body.uploads[0].media, body.media);
});

test("created: the workspace's plan decides how long a recording may be", async () => {
  await app.db.pool.query("update workspaces set max_duration_sec = 120 where id = $1", [workspace.id]);
  const { body } = await create({ media_type: "video" });
  await app.db.pool.query("update workspaces set max_duration_sec = null where id = $1", [workspace.id]);
  assert.equal(body.media.upload.max_duration_sec, 120);
});

test("put: the file is stored as sent and the upload moves to processing, once", async () => {
  const target = await begin();
  const response = await put(target, bytes);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { success: true });
  assert.match(response.headers.get("etag") ?? "", /^".+"$/);
  const upload = await get(target.id);
  assert.deepEqual([upload.status, upload.media], ["processing", { status: "processing" }]);
  const { body } = await app.store.get(uploadFileKey(target.id));
  assert.ok(Buffer.concat(await body.toArray()).equals(bytes));

  assert.deepEqual(await codeOf(await put(target, bytes)), [412, "already_uploaded"]);
  assert.deepEqual(await events(target.id), [
    ["upload_added", "initial"],
    ["upload_updated", "awaiting"],
    ["upload_updated", "processing"],
  ]);
});

test("put: one of many concurrent files is accepted", async () => {
  const target = await begin();
  const bodies = Array.from({ length: 8 }, (_, index) => Buffer.alloc(100_000, String(index)));
  const statuses = await Promise.all(bodies.map(async (body) => (await put(target, body)).status));
  assert.deepEqual(statuses.toSorted(), [200, ...Array(7).fill(412)]);
  const { body } = await app.store.get(uploadFileKey(target.id));
  assert.ok(Buffer.concat(await body.toArray()).equals(bodies[statuses.indexOf(200)] as Buffer));
});

test("put: a body of unknown length is accepted", async () => {
  const target = await begin();
  const parts = [bytes.subarray(0, 1000), bytes.subarray(1000)];
  const stream = new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else controller.close();
    },
  });
  assert.equal((await put(target, stream)).status, 200);
  assert.equal((await app.store.head(uploadFileKey(target.id)))?.size, bytes.length);
});

test("put: without If-None-Match: * it is refused, and the URL stays valid", async () => {
  const target = await begin();
  assert.deepEqual(await codeOf(await put(target, bytes, {})), [428, "precondition_required"]);
  assert.deepEqual(await codeOf(await put(target, bytes, { "If-None-Match": '"x"' })), [
    428,
    "precondition_required",
  ]);
  assert.equal((await put(target, bytes)).status, 200);
});

test("put: a modified URL is refused before the upload is read", async () => {
  const target = await begin();
  const other = await begin();
  const url = new URL(target.url);
  for (const change of [
    (u: URL) => u.searchParams.delete("signature"),
    (u: URL) => u.searchParams.set("expires", "99999999999"),
    (u: URL) => {
      u.pathname = u.pathname.replace(target.id, other.id);
    },
    (u: URL) => {
      u.pathname = u.pathname.replace(target.id, "00000000-0000-4000-8000-000000000000");
    },
  ]) {
    const changed = new URL(url);
    change(changed);
    assert.deepEqual(await codeOf(await put({ ...target, url: changed.href }, bytes)), [403, "link_invalid"]);
  }
  assert.equal((await get(target.id)).status, "awaiting");
});

test("put: a file over the limit is refused, announced or not, and nothing is stored", async () => {
  const target = await begin();
  await app.db.pool.query("update uploads set max_upload_bytes = 200000 where id = $1", [target.id]);
  assert.deepEqual(await codeOf(await put(target, bytes)), [413, "body_too_large"]);
  const stream = new Blob([bytes]).stream();
  assert.deepEqual(await codeOf(await put(target, stream)), [413, "body_too_large"]);
  assert.equal(await app.store.head(uploadFileKey(target.id)), null);
  assert.equal((await put(target, bytes.subarray(0, 200_000))).status, 200);
});

test("put: a broken connection stores nothing, and the URL stays valid", async () => {
  const target = await begin();
  await new Promise<void>((resolve) => {
    const cut = httpRequest(target.url, {
      method: "PUT",
      headers: { ...target.headers, "content-length": String(bytes.length) },
    });
    cut.on("error", () => resolve());
    cut.write(bytes.subarray(0, 150_000), () => setImmediate(() => cut.destroy(new Error("cut"))));
  });
  assert.equal((await get(target.id)).status, "awaiting");
  assert.equal(await app.store.head(uploadFileKey(target.id)), null);
  await until("the URL takes the file", async () => (await put(target, bytes)).status === 200);
});

test("put: a client that sends Expect: 100-continue is asked to continue, or refused, before it sends", async () => {
  const target = await begin();
  const ask = (headers: Record<string, string>) =>
    new Promise<[number | undefined, boolean]>((resolve, reject) => {
      let toldToGoOn = false;
      const asking = httpRequest(target.url, {
        method: "PUT",
        headers: { ...headers, expect: "100-continue", "content-length": String(bytes.length) },
      });
      asking.on("continue", () => {
        toldToGoOn = true;
        asking.end(bytes);
      });
      asking.on("response", (response) => {
        response.resume();
        resolve([response.statusCode, toldToGoOn]);
        asking.destroy();
      });
      asking.on("error", reject);
      asking.flushHeaders();
    });
  const began = performance.now();
  assert.deepEqual(await ask({}), [428, false]);
  await app.db.pool.query("update uploads set max_upload_bytes = 10 where id = $1", [target.id]);
  assert.deepEqual(await ask(target.headers), [413, false]);
  // A body that is not coming is not waited for: that would take five seconds.
  assert.ok(performance.now() - began < 4500, `${performance.now() - began} ms`);
  await app.db.pool.query("update uploads set max_upload_bytes = 1000000 where id = $1", [target.id]);
  assert.deepEqual(await ask(target.headers), [200, true]);
});

test("put: pages of other origins may send and read the response", async () => {
  const target = await begin();
  const preflight = await fetch(target.url, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "PUT",
      "access-control-request-headers": "if-none-match,content-type",
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /PUT/);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /if-none-match/);
  const refused = await put(target, bytes, {});
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
});

test("a deleted upload accepts no file", async () => {
  const target = await begin();
  await app.db.pool.query("delete from uploads where id = $1", [target.id]);
  assert.deepEqual(await codeOf(await put(target, bytes)), [404, "not_found"]);
});

test("Update Upload changes the title while the file is awaited", async () => {
  const target = await begin();
  const { status, body } = await call(
    app,
    "PATCH",
    `/uploads/${target.id}`,
    { attributes: { title: "Renamed" } },
    { token: member.token },
  );
  assert.deepEqual([status, body.title, body.status], [200, "Renamed", "awaiting"]);
  assert.equal((await put(target, bytes)).status, 200);
  const after = await call(
    app,
    "PATCH",
    `/uploads/${target.id}`,
    { attributes: { title: "Late" } },
    { token: member.token },
  );
  assert.equal(after.status, 409);
});

test("expired: the URL says so, and accepts nothing", async () => {
  const short = await startUploads({ worker: false, env: { PARLEY_UPLOAD_URL_TTL: "1ms" } });
  const { body } = await short.create({ media_type: "video" });
  const upload = (await call(short.app, "POST", `/uploads/${body.id}`, {}, { token: short.member.token }))
    .body;
  assert.equal(upload.status, "awaiting");
  assert.equal(upload.media.status, "url_expired");
  const url = upload.media.upload.url.replace(/^http:\/\/parley\.test/, short.app.url);
  // Without its header a PUT is refused either way, so that none counts.
  await until("the last second of the link is over", async () => {
    const [status, code] = await codeOf(await fetch(url, { method: "PUT", body: bytes }));
    if (status !== 403) assert.equal(code, "precondition_required");
    return code === "link_expired";
  });
  const late = await fetch(url, { method: "PUT", body: bytes, headers: upload.media.upload.headers });
  assert.deepEqual(await codeOf(late), [403, "link_expired"]);
});
