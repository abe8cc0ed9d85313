import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { pino } from "pino";
import { Upload, type UploadOptions } from "tus-js-client";
import { call } from "../../../../test/support/app.ts";
import { parley, prepareServer } from "../../../../test/support/server-process.ts";
import { until } from "../../../../test/support/until.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { openLocalStore } from "../../../platform/storage/local/local.ts";
import { openLine, seeded } from "../test/resumable.ts";
import { startUploads } from "../test/uploads.ts";
import { checkForFile, fileReceived } from "./arrival.ts";
import { createLeaseLocker } from "./resumable-lease.ts";
import { takeLease } from "./resumable-queries.ts";

const line = await openLine();
after(() => line.close());
const maxBytes = 6_000_000;
const { app, create, member } = await startUploads({
  worker: false,
  env: { PARLEY_BASE_URL: line.url, PARLEY_MAX_UPLOAD_BYTES: String(maxBytes) },
});
line.leadTo(app.url);

interface Target {
  readonly id: string;
  readonly tusUrl: string;
}

async function begin(): Promise<Target> {
  const { status, body } = await create({ media_type: "video" });
  assert.equal(status, 200);
  return { id: body.id, tusUrl: body.media.upload.tus_url };
}

/** Sends bytes with the client that browsers use. */
function send(bytes: Buffer, options: UploadOptions): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload: Upload = new Upload(bytes, {
      chunkSize: 300_007,
      retryDelays: new Array(60).fill(10),
      onSuccess: () => resolve(upload),
      onError: reject,
      ...options,
    });
    upload.start();
  });
}

interface TusAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function ask(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body?: Buffer,
): Promise<TusAnswer> {
  const response = await fetch(url, {
    method,
    headers: { "tus-resumable": "1.0.0", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const post = (url: string, length: number) => ask(url, "POST", { "upload-length": String(length) });
const patch = (url: string, offset: number, bytes: Buffer) =>
  ask(
    url,
    "PATCH",
    { "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
    bytes,
  );

function assertProblem(answer: TusAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
  assert.equal(JSON.parse(answer.text).error, code);
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
}

const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Digest of an upload's stored file. */
async function stored(id: string): Promise<string> {
  const { body } = await app.store.get(uploadFileKey(id));
  return digest(Buffer.concat(await body.toArray()));
}

async function statusOf(id: string): Promise<string> {
  return (await call(app, "POST", `/uploads/${id}`, {}, { token: member.token })).body.status;
}

async function rowOf(id: string) {
  return app.db.kysely.selectFrom("uploads").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

/** A PATCH that sends a part of its announced length and then waits. */
function hangingPatch(url: string, offset: number, announced: number, bytes: Buffer) {
  const request = httpRequest(url, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": String(offset),
      "content-type": "application/offset+octet-stream",
      "content-length": String(announced),
    },
  });
  const ended = new Promise<number | string>((resolve) => {
    request.on("error", (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  request.write(bytes);
  return { request, ended };
}

test("cut at any byte: the file is stored as sent, and at most one chunk is sent again each time", async () => {
  const random = seeded(20_261_001);
  for (const chunkSize of [300_007, 65_537, Number.POSITIVE_INFINITY]) {
    const bytes = randomBytes(3_000_001);
    const { id, tusUrl } = await begin();
    const before = line.sent;
    const cutsBefore = line.cuts;
    const cutting = line.cuts + 8;
    const cutNext = (): void => {
      if (line.cuts < cutting) line.cutAfter(1 + Math.floor(random() * 500_000));
    };
    cutNext();
    await send(bytes, {
      endpoint: tusUrl,
      chunkSize,
      onShouldRetry: () => {
        cutNext();
        return true;
      },
    });
    assert.equal(await stored(id), digest(bytes));
    assert.equal(await statusOf(id), "processing");
    const cuts = line.cuts - cutsBefore;
    assert.ok(cuts >= 5, `only ${cuts} cuts`);
    // A request without chunks loses the bytes that were in the process when the connection was cut.
    const lost = cuts * Math.min(chunkSize, 400_000);
    const headers = 1000 * (3 * cuts + 3 + Math.ceil(bytes.length / chunkSize));
    const sent = line.sent - before;
    assert.ok(sent <= bytes.length + lost + headers, `${sent} bytes sent with ${cuts} cuts`);
  }
});

test("resume: another client continues with the URL alone", async () => {
  const bytes = randomBytes(1_500_000);
  const { id, tusUrl } = await begin();
  const created = await post(tusUrl, bytes.length);
  assert.equal(created.status, 201);
  assert.equal(created.headers.get("location"), tusUrl);
  assert.equal((await patch(tusUrl, 0, bytes.subarray(0, 700_001))).headers.get("upload-offset"), "700001");
  const where = await ask(tusUrl, "HEAD");
  assert.equal(where.status, 200);
  assert.equal(where.headers.get("upload-offset"), "700001");
  assert.equal(where.headers.get("upload-length"), "1500000");
  assert.equal(where.headers.get("cache-control"), "no-store");
  assert.match(where.headers.get("x-request-id") ?? "", /-/);
  // The times that the sweeps check.
  const { active_at, resumable_length } = await rowOf(id);
  assert.ok(active_at !== null && Date.now() - active_at.getTime() < 60_000);
  assert.equal(resumable_length, "1500000");
  const before = line.sent;
  await send(bytes, { uploadUrl: tusUrl });
  assert.ok(line.sent - before < 850_000);
  assert.equal(await stored(id), digest(bytes));
});

test("creation-with-upload and a deferred length both work", async () => {
  const bytes = randomBytes(700_000);
  const first = await begin();
  await send(bytes, { endpoint: first.tusUrl, uploadDataDuringCreation: true });
  assert.equal(await stored(first.id), digest(bytes));
  const second = await begin();
  assert.equal((await ask(second.tusUrl, "POST", { "upload-defer-length": "1" })).status, 201);
  assert.equal((await ask(second.tusUrl, "HEAD")).headers.get("upload-defer-length"), "1");
  await patch(second.tusUrl, 0, bytes.subarray(0, 400_000));
  const last = await ask(
    second.tusUrl,
    "PATCH",
    {
      "upload-offset": "400000",
      "upload-length": "700000",
      "content-type": "application/offset+octet-stream",
    },
    bytes.subarray(400_000),
  );
  assert.equal(last.status, 204);
  assert.equal(await stored(second.id), digest(bytes));
  assert.equal(await statusOf(second.id), "processing");
});

test("started again: the bytes of an earlier attempt are dropped", async () => {
  const { id, tusUrl } = await begin();
  await post(tusUrl, 500_000);
  await patch(tusUrl, 0, randomBytes(200_000));
  const bytes = randomBytes(300_000);
  await send(bytes, { endpoint: tusUrl });
  assert.equal(await stored(id), digest(bytes));
});

test("started again with the same length, because the response was lost: accepted", async () => {
  const { tusUrl } = await begin();
  assert.equal((await post(tusUrl, 1000)).status, 201);
  assert.equal((await post(tusUrl, 1000)).status, 201);
  assert.equal((await patch(tusUrl, 0, randomBytes(1000))).status, 204);
});

test("a file of unknown length is not started again: its sender may no longer have the bytes", async () => {
  const { tusUrl } = await begin();
  const deferred = () => ask(tusUrl, "POST", { "upload-defer-length": "1" });
  assert.equal((await deferred()).status, 201);
  assert.equal((await deferred()).status, 201, "nothing was sent, so the lost response may be repeated");
  await patch(tusUrl, 0, randomBytes(200_000));
  assertProblem(await deferred(), 409, "wrong_state");
  assertProblem(await post(tusUrl, 500_000), 409, "wrong_state");
  assert.equal((await ask(tusUrl, "HEAD")).headers.get("upload-offset"), "200000");
  assert.equal((await ask(tusUrl, "DELETE")).status, 204);
  assert.equal((await deferred()).status, 201);
});

test("cancelled: DELETE drops the pieces and the upload waits as if nothing had arrived", async () => {
  const { id, tusUrl } = await begin();
  await post(tusUrl, 500_000);
  await patch(tusUrl, 0, randomBytes(200_000));
  assert.equal((await ask(tusUrl, "DELETE")).status, 204);
  assert.equal(await app.store.appended(uploadFileKey(id)), null);
  assertHeadStatus(await ask(tusUrl, "HEAD"), 404);
  assert.equal(await statusOf(id), "awaiting");
  const bytes = randomBytes(100_000);
  await send(bytes, { endpoint: tusUrl, uploadUrl: tusUrl });
  assert.equal(await stored(id), digest(bytes));
});

function assertHeadStatus(answer: TusAnswer, status: number): void {
  assert.equal(answer.status, status);
  assert.equal(answer.text, "");
}

test("arrived: HEAD says so, and further bytes are refused, also when the file came by PUT", async () => {
  const bytes = randomBytes(50_000);
  const { id, tusUrl } = await begin();
  await send(bytes, { endpoint: tusUrl });
  const where = await ask(tusUrl, "HEAD");
  assert.equal(where.headers.get("upload-offset"), "50000");
  assert.equal(where.headers.get("upload-length"), "50000");
  assertProblem(await post(tusUrl, 50_000), 412, "already_uploaded");
  assertProblem(await patch(tusUrl, 50_000, bytes), 412, "already_uploaded");
  assertProblem(await ask(tusUrl, "DELETE"), 412, "already_uploaded");
  assert.equal(await stored(id), digest(bytes));
  // A client that lost its last response returns and sees that all is well.
  await send(bytes, { uploadUrl: tusUrl });

  const other = await begin();
  await post(other.tusUrl, 50_000);
  await patch(other.tusUrl, 0, bytes.subarray(0, 10_000));
  await app.store.put(uploadFileKey(other.id), Buffer.from("another"), { ifAbsent: true });
  assertProblem(await patch(other.tusUrl, 10_000, bytes.subarray(10_000)), 412, "already_uploaded");
  assert.equal(await app.store.appended(uploadFileKey(other.id)), null);
  assert.equal(await statusOf(other.id), "processing");
  assertHeadStatus(await ask(other.tusUrl, "HEAD"), 412);
});

test("URL: a wrong one never works, an expired one only for an active sender", async () => {
  const { id, tusUrl } = await begin();
  const other = await begin();
  const wrong = tusUrl.replace(/signature=../, "signature=00");
  assertProblem(await post(tusUrl.replace(id, other.id), 10), 403, "link_invalid");
  assertProblem(await post(tusUrl.split("?")[0] ?? "", 10), 403, "link_invalid");
  for (const method of ["POST", "PATCH", "DELETE"])
    assertProblem(await ask(wrong, method, { "upload-length": "10" }), 403, "link_invalid");

  const started = await begin();
  await post(started.tusUrl, 20);
  await app.db.kysely
    .updateTable("uploads")
    .set({ active_at: new Date() })
    .where("id", "=", started.id)
    .execute();
  const expired = await withExpiredLink(started);
  assertProblem(await post(expired, 20), 403, "link_expired");
  assert.equal((await ask(expired, "HEAD")).status, 200);
  assert.equal((await patch(expired, 0, Buffer.alloc(5))).status, 204);
  // A day without activity.
  await app.db.kysely
    .updateTable("uploads")
    .set({ active_at: new Date(Date.now() - 25 * 3_600_000) })
    .where("id", "=", started.id)
    .execute();
  assertProblem(await patch(expired, 5, Buffer.alloc(5)), 403, "link_expired");
  assertHeadStatus(await ask(expired, "HEAD"), 403);
});

/** The upload's URL as Get Upload shows it once it has expired. */
async function withExpiredLink({ id }: Target): Promise<string> {
  await app.db.kysely
    .updateTable("uploads")
    .set({ url_expires_at: new Date(Date.now() - 60_000) })
    .where("id", "=", id)
    .execute();
  const { body } = await call(app, "POST", `/uploads/${id}`, {}, { token: member.token });
  assert.equal(body.media.status, "url_expired");
  return body.media.upload.tus_url;
}

test("refused: too large, cancelled, unknown, and violations of the protocol", async () => {
  const { id, tusUrl } = await begin();
  assertProblem(await post(tusUrl, maxBytes + 1), 413, "body_too_large");
  assertHeadStatus(await ask(tusUrl, "HEAD"), 404);
  assertProblem(await patch(tusUrl, 0, randomBytes(10)), 404, "not_found");
  await post(tusUrl, 100);
  assertProblem(await patch(tusUrl, 0, randomBytes(101)), 413, "body_too_large");
  assert.equal((await patch(tusUrl, 7, randomBytes(10))).status, 409);
  const plain = await fetch(tusUrl, { method: "POST", headers: { "upload-length": "3" } });
  assert.equal(plain.status, 412);
  assert.equal((await ask(tusUrl, "POST", { "upload-length": "-3" })).status, 400);
  // Without a length the limit still applies.
  await ask(tusUrl, "POST", { "upload-defer-length": "1" });
  assertProblem(await patch(tusUrl, 0, randomBytes(maxBytes + 100_000)), 413, "body_too_large");
  await app.db.kysely
    .updateTable("uploads")
    .set({ status: "failure", failure_reason: "cancelled" })
    .where("id", "=", id)
    .execute();
  assertProblem(await post(tusUrl, 10), 409, "wrong_state");
  await app.db.kysely.deleteFrom("uploads").where("id", "=", id).execute();
  assertProblem(await post(tusUrl, 10), 404, "not_found");
});

test("a sender with Expect: 100-continue gets the refusal at once, before it sends", async () => {
  const { tusUrl } = await begin();
  const began = performance.now();
  const asking = httpRequest(tusUrl, {
    method: "PATCH",
    headers: { "tus-resumable": "1.0.0", expect: "100-continue", "upload-length": String(maxBytes + 1) },
  });
  asking.on("continue", () => assert.fail("it was asked to continue"));
  asking.flushHeaders();
  const [response] = await once(asking, "response");
  assert.equal(response.statusCode, 413);
  asking.destroy();
  assert.ok(performance.now() - began < 4500, `${performance.now() - began} ms`);
});

test("browsers: any page may send, and read the protocol's responses", async () => {
  const { tusUrl } = await begin();
  const preflight = await fetch(tusUrl, {
    method: "OPTIONS",
    headers: { origin: "https://page.example", "access-control-request-method": "PATCH" },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /PATCH/);
  for (const name of ["Upload-Offset", "Upload-Length", "Tus-Resumable", "Content-Type"])
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", new RegExp(name));
  assert.equal(preflight.headers.get("access-control-max-age"), "86400");
  assert.equal(preflight.headers.get("tus-version"), "1.0.0");
  assert.equal(preflight.headers.get("tus-max-size"), String(maxBytes));
  const created = await ask(tusUrl, "POST", { "upload-length": "10", origin: "https://page.example" });
  assert.equal(created.headers.get("access-control-allow-origin"), "*");
  assert.match(created.headers.get("access-control-expose-headers") ?? "", /Location.*Upload-Offset/);
});

test("two concurrent senders: the returning one takes over from a connection that hangs", async () => {
  const bytes = randomBytes(900_000);
  const { id, tusUrl } = await begin();
  await post(tusUrl, bytes.length);
  const hanging = hangingPatch(tusUrl, 0, bytes.length, bytes.subarray(0, 300_000));
  await until("the first request is being served", async () => (await leaseOf(id)) !== undefined);
  await send(bytes, { uploadUrl: tusUrl });
  // It gets its offset, if it is still there to read it.
  assert.ok([204, "ECONNRESET", "EPIPE"].includes(await hanging.ended));
  assert.equal(await stored(id), digest(bytes));
  assert.equal(await leaseOf(id), undefined);
});

test("bytes that arrived before the connection died are not sent again", async () => {
  const bytes = randomBytes(900_000);
  const { id, tusUrl } = await begin();
  await post(tusUrl, bytes.length);
  const before = line.sent;
  const hanging = hangingPatch(tusUrl, 0, bytes.length, bytes.subarray(0, 300_000));
  await until("the bytes are on their way", () => line.sent - before >= 300_000);
  await until("the request is being served", async () => (await leaseOf(id)) !== undefined);
  // The network disappears silently: the server can't know.
  line.freeze(hanging.request.socket?.localPort);
  const offset = Number((await ask(tusUrl, "HEAD")).headers.get("upload-offset"));
  assert.ok(offset > 0 && offset <= 300_000, `${offset} bytes counted`);
  await send(bytes, { uploadUrl: tusUrl });
  assert.equal(await stored(id), digest(bytes));
  hanging.request.destroy();
});

async function leaseOf(id: string) {
  return app.db.kysely
    .selectFrom("resumable_leases")
    .selectAll()
    .where("upload_id", "=", id)
    .executeTakeFirst();
}

test("several servers: the holder elsewhere is asked to stop; a dead one is waited for", async () => {
  const { id, tusUrl } = await begin();
  await post(tusUrl, 100);
  const log = pino({ level: "silent" });
  const elsewhere = createLeaseLocker({ db: app.db, log }).newLock(id);
  const asked = Promise.withResolvers<void>();
  await elsewhere.lock(new AbortController().signal, () => asked.resolve());
  const waiting = patch(tusUrl, 0, Buffer.alloc(60));
  await asked.promise;
  await elsewhere.unlock();
  assert.equal((await waiting).status, 204);
  assert.equal(await leaseOf(id), undefined);
  // Taken by a process that was killed; its lease expires.
  await takeLease(app.db.kysely, id, id, 1500);
  assert.equal((await patch(tusUrl, 60, Buffer.alloc(40))).status, 204);
  assert.equal(await statusOf(id), "processing");
});

test("killed between the last byte and its record: HEAD finds the file, and so does the sweep", async () => {
  const bytes = randomBytes(1000);
  for (const isPutTogether of [false, true]) {
    const { id, tusUrl } = await begin();
    await post(tusUrl, bytes.length);
    await app.store.append(uploadFileKey(id), 0, Readable.from([bytes]));
    if (isPutTogether) await app.store.finishAppend(uploadFileKey(id));
    const where = await ask(tusUrl, "HEAD");
    assert.equal(where.headers.get("upload-offset"), "1000");
    assert.equal(await statusOf(id), "processing");
    assert.equal(await checkForFile(app, id), true);
    assert.equal(await fileReceived(app, id, "another"), false);
  }
});

test("an empty file beside another one that has just arrived is refused in the protocol's terms", async () => {
  const { id, tusUrl } = await begin();
  const { head } = app.store;
  const key = uploadFileKey(id);
  await app.store.put(key, Buffer.from("another"));
  // The earlier check came too soon.
  let looks = 0;
  Object.assign(app.store, { head: async (of: string) => (looks++ === 0 ? null : head(of)) });
  try {
    assertProblem(await post(tusUrl, 0), 412, "already_uploaded");
  } finally {
    Object.assign(app.store, { head });
  }
  assert.equal(await stored(id), digest(Buffer.from("another")));
  assert.equal(await statusOf(id), "processing");
});

test("kill -9 of the server: the client continues where it was", async () => {
  const own = await openLine();
  const server = await prepareServer({ env: { PARLEY_BASE_URL: own.url, PARLEY_ROLE: "api" } });
  try {
    await server.start();
    own.leadTo(server.url);
    const bytes = randomBytes(8_000_000);
    const token = await parley(server, "token", "create", "--email", "admin@parley.local");
    const users = await call(own, "POST", "/users", {}, { token });
    const created = await call(
      own,
      "POST",
      "/uploads/create",
      { media_type: "video", attributes: { recorder_ids: [users.body.users[0].id] } },
      { token },
    );
    assert.equal(created.status, 200, created.text);
    const before = own.sent;
    let isKilled = false;
    own.onPiece(async () => {
      if (isKilled || own.sent - before < 4_500_000) return;
      isKilled = true;
      await server.kill();
      void server.start();
    });
    await send(bytes, {
      endpoint: created.body.media.upload.tus_url,
      chunkSize: 1_000_000,
      retryDelays: new Array(60).fill(500),
    });
    assert.ok(isKilled);
    const store = await openLocalStore(server.env.PARLEY_DATA_DIR ?? "");
    const { body } = await store.get(uploadFileKey(created.body.id));
    assert.equal(digest(Buffer.concat(await body.toArray())), digest(bytes));
    const again = own.sent - before - bytes.length;
    assert.ok(again < 1_000_000 + 100_000, `${again} bytes were sent again`);
  } finally {
    own.close();
    await server.dispose();
  }
});
