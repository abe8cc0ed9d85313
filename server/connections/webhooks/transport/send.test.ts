import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  cutShort,
  endless,
  gone,
  hang,
  hangUp,
  rawAnswer,
  receiverCertificate,
  reset,
  retryAfter,
  slow,
  startHookReceiver,
  status,
  trickle,
} from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { createHookSender, type HookRequest, type HookSenderOptions } from "./send.ts";

/** A receiver, and a sender that is allowed to connect to it. */
async function setUp(options: Partial<HookSenderOptions> = {}, tls: boolean | "expired" = false) {
  const receiver = await startHookReceiver({ tls });
  const sender = createHookSender({ allowAddresses: parseRanges("127.0.0.0/8,::1"), ...options });
  after(() => sender.close());
  const send = (more: Partial<HookRequest> = {}) =>
    sender.send({ url: `${receiver.url}/hook`, headers: {}, body: "{}", ...more });
  return { receiver, sender, send };
}

test("send: one POST with the fixed headers, the hook's headers and the body unchanged", async () => {
  const { receiver, send } = await setUp();
  const body = JSON.stringify({ title: "Grüße, 会議 🎙" });
  const answer = await send({
    url: `${receiver.url}/a/b%20c?key=ä#part`,
    headers: { "webhook-id": "msg_1", "user-agent": "other" },
    body,
  });
  assert.deepEqual(
    { ...answer, durationMs: 0 },
    {
      ok: true,
      status: 200,
      headers: { "content-type": "text/plain" },
      body: "ok",
      truncated: false,
      error: null,
      isStopped: false,
      durationMs: 0,
    },
  );
  const [request] = receiver.requests;
  assert.equal(receiver.requests.length, 1);
  assert.equal(request?.method, "POST");
  assert.equal(request?.path, "/a/b%20c?key=%C3%A4");
  assert.equal(request?.body, body);
  assert.deepEqual(request?.headers, {
    host: `127.0.0.1:${receiver.port}`,
    connection: "keep-alive",
    "webhook-id": "msg_1",
    "user-agent": "Parley-Hooks/1",
    "content-type": "application/json",
    accept: "*/*",
    "content-length": String(Buffer.byteLength(body)),
  });
});

test("send: only 2xx is a success; every other status is an error that names it", async () => {
  const { receiver, send } = await setUp();
  for (const code of [200, 201, 202, 204, 299]) {
    receiver.script(status(code));
    const { ok, error, status: got } = await send();
    assert.deepEqual({ ok, error, got }, { ok: true, error: null, got: code });
  }
  for (const [code, error] of [
    [300, "the response was 300 Multiple Choices"],
    [304, "the response was 304 Not Modified"],
    [404, "the response was 404 Not Found"],
    [500, "the response was 500 Internal Server Error"],
    [599, "the response was 599"],
  ] as const) {
    receiver.script(status(code, code === 304 ? "" : "why"));
    const answer = await send();
    assert.equal(answer.ok, false);
    assert.equal(answer.error, error);
    assert.equal(answer.body, code === 304 ? "" : "why");
  }
  receiver.script(gone, retryAfter("120"));
  assert.equal((await send()).status, 410);
  assert.deepEqual((await send()).headers, { "retry-after": "120" });
});

test("send: a receiver that does not respond is timed out and its connection closed", async () => {
  const { receiver, sender, send } = await setUp({ timeoutMs: 300 });
  const headOfOne = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
  for (const behaviour of [
    hang,
    slow(60_000),
    trickle(headOfOne, 100),
    trickle("HTTP/1.1 103 \r\n\r\n", 5),
  ]) {
    receiver.script(behaviour);
    const answer = await send();
    assert.equal(answer.error, "no response within 0.3 s");
    assert.equal(answer.status, null);
    assert.ok(answer.durationMs >= 290 && answer.durationMs < 10_000, String(answer.durationMs));
  }
  receiver.script(hang);
  const { error } = await send({ timeoutMs: 100 });
  assert.equal(error, "no response within 0.1 s");
  await until("its connections are closed", () => receiver.connections().open === 0);
  assert.equal(sender.connections(), 0);
});

test("send: a host name lookup that hangs is timed out", async () => {
  const { receiver, send } = await setUp({ timeoutMs: 200, lookup: () => new Promise(() => {}) });
  const answer = await send({ url: `http://slow.test:${receiver.port}/` });
  assert.equal(answer.error, "no connection within 0.2 s");
  assert.equal(receiver.connections().ever, 0);
});

test("send: a TLS handshake that hangs is timed out", async () => {
  const { receiver, send } = await setUp({ timeoutMs: 200 });
  // A plain HTTP server waits for the end of a request that never comes.
  const { error } = await send({ url: `https://127.0.0.1:${receiver.port}/` });
  assert.match(error ?? "none", /no connection within 0.2 s|TLS handshake failed|closed before/);
});

test("send: a 2xx counts even if its body never ends or is cut off; the beginning of the body is kept", async () => {
  const { receiver, sender, send } = await setUp({ timeoutMs: 2000 });
  receiver.script(endless());
  const flooded = await send();
  assert.equal(flooded.ok, true);
  assert.equal(flooded.error, null);
  assert.equal(flooded.body, "x".repeat(20_480));
  assert.equal(flooded.truncated, true);
  receiver.script(trickle("HTTP/1.1 200 OK\r\n\r\nslowly but surely and without end".padEnd(500, "."), 1));
  const slowly = await send();
  assert.equal(slowly.ok, true);
  assert.equal(slowly.truncated, true);
  assert.match(slowly.body, /^slowly/);
  receiver.script(cutShort);
  const short = await send();
  assert.deepEqual([short.ok, short.body, short.truncated], [true, "half of", true]);
  receiver.script(endless(500));
  const failed = await send();
  assert.equal(failed.error, "the response was 500 Internal Server Error");
  assert.equal(failed.body.length, 20_480);
  await until("its connections are closed", () => receiver.connections().open === 0);
  assert.equal(sender.connections(), 0);
});

test("send: lost, refused and non-HTTP connections have clear errors", async () => {
  const { receiver, send } = await setUp();
  for (const [behaviour, error] of [
    [reset, /^the connection was closed before a response arrived$/],
    [hangUp, /^the connection was closed before a response arrived$/],
    [rawAnswer("SSH-2.0-OpenSSH_9.6\r\n"), /^the response is not HTTP\/1\.1$/],
    [
      rawAnswer("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
      /^the connection was closed/,
    ],
    [
      rawAnswer(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(20_000)}\r\n\r\n`),
      /^the response headers are too large$/,
    ],
    [
      rawAnswer(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(10_000)}\r\n`),
      /^the response headers are too large$/,
    ],
  ] as const) {
    receiver.script(behaviour);
    const answer = await send();
    assert.equal(answer.status, null);
    assert.match(answer.error ?? "none", error);
  }
  await receiver.close();
  assert.equal((await send()).error, "the connection was refused");
});

test("send: interim responses that were not asked for are skipped, also in pieces and on a kept connection", async () => {
  const { receiver, send } = await setUp();
  receiver.otherwise((_request, response) => {
    response.writeContinue();
    response.writeContinue();
    response.end("HTTP/1.1 100 is no status here");
  });
  for (let count = 0; count < 2; count++) {
    const { status, body } = await send();
    assert.deepEqual([status, body], [200, "HTTP/1.1 100 is no status here"]);
  }
  receiver.script((_request, { socket }) => {
    const parts = [
      "HTTP/1.",
      "1 100 Continue\r\nx: y\r\n",
      "\r\nHTTP/1.1 1",
      "00 C\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    ];
    const next = () => {
      const part = parts.shift();
      if (part === undefined) socket?.end();
      else socket?.write(part, () => setImmediate(next));
    };
    next();
  });
  const { status, error } = await send();
  assert.deepEqual([status, error], [204, null]);
  // Not an interim response, and too long to be one.
  for (const bytes of ["HTTP/1.1 10", `HTTP/1.1 100 ${"x".repeat(20_000)}`]) {
    receiver.script(rawAnswer(bytes));
    assert.equal((await send()).status, null);
  }
});

test("send: a binary body becomes text that can be stored", async () => {
  const { receiver, send } = await setUp({ maxResponseBytes: 10 });
  for (const [bytes, text] of [
    [Buffer.from("a\0b"), "a\ufffdb"],
    [Buffer.from([0x61, 0xff, 0xfe, 0x62]), "a\ufffd\ufffdb"],
    [Buffer.from("123456789é"), "123456789"],
    [Buffer.from("1234567890"), "1234567890"],
  ] as const) {
    receiver.script(status(200, bytes));
    assert.equal((await send()).body, text);
  }
});

test("send: a compressed response is not decompressed", async () => {
  const { receiver, send } = await setUp();
  receiver.script(status(200, gzipSync("x".repeat(1_000_000)), { "content-encoding": "gzip" }));
  const answer = await send();
  assert.equal(answer.ok, true);
  assert.ok(answer.body.length < 2000);
});

test("send: invalid headers are a failed response, not an exception", async () => {
  const { receiver, send } = await setUp();
  const answer = await send({ headers: { "webhook-id": "a\r\nx-injected: 1" } });
  assert.match(answer.error ?? "none", /^the request failed/);
  assert.equal(receiver.requests.length, 0);
});

test("TLS: a trusted certificate is accepted by host name and IP address, with SNI and Host of the name", async () => {
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const { receiver, send } = await setUp({ ca: receiverCertificate(), lookup }, true);
  assert.equal((await send()).status, 200);
  assert.equal((await send({ url: `https://hooks.test:${receiver.port}/` })).status, 200);
  assert.equal(receiver.requests[1]?.headers.host, `hooks.test:${receiver.port}`);
  const other = await send({ url: `https://other.test:${receiver.port}/` });
  assert.equal(other.error, "the TLS certificate is for another host name");
  assert.equal(receiver.requests.length, 2);
});

test("TLS: unknown and expired certificates are refused; plain HTTP has an error of its own", async () => {
  const unknown = await setUp({}, true);
  assert.equal((await unknown.send()).error, "the TLS certificate is self-signed");
  const expired = await setUp({ ca: receiverCertificate("expired") }, "expired");
  assert.equal((await expired.send()).error, "the TLS certificate has expired");
  const plain = await startHookReceiver();
  const { error } = await unknown.send({ url: `https://127.0.0.1:${plain.port}/` });
  assert.match(error ?? "none", /TLS|closed before/);
  for (const { receiver } of [unknown, expired]) assert.equal(receiver.requests.length, 0);
});

test("TLS: NODE_TLS_REJECT_UNAUTHORIZED has no effect", async (t) => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  const { send } = await setUp({}, true);
  assert.equal((await send()).error, "the TLS certificate is self-signed");
});

test("connections: kept and shared, closed when unused, one lookup for concurrent ones", async () => {
  let lookups = 0;
  const lookup = async () => {
    lookups++;
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const { receiver, sender, send } = await setUp({ keepAliveMs: 200, lookup });
  const url = `http://hooks.test:${receiver.port}/`;
  await Promise.all(Array.from({ length: 8 }, () => send({ url })));
  for (let i = 0; i < 20; i++) await send({ url });
  assert.equal(receiver.connections().ever, 8);
  assert.equal(lookups, 1);
  await until("unused connections are closed", () => sender.connections() === 0);
});

test("connections: with very many receivers most are not kept", async () => {
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const { receiver, sender, send } = await setUp({ keepAliveMs: 60_000, lookup });
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < 700) {
        const answer = await send({ url: `http://h${next++}.test:${receiver.port}/` });
        assert.equal(answer.ok, true);
      }
    }),
  );
  await until("the rest is closed", () => sender.connections() <= 540);
  await sender.close();
  assert.equal(sender.connections(), 0);
});

test("stop: an aborted attempt says nothing about the receiver", async () => {
  const { receiver, send } = await setUp();
  receiver.otherwise(hang);
  const controller = new AbortController();
  const sending = send({ signal: controller.signal });
  await receiver.waitFor(1);
  controller.abort();
  const answer = await sending;
  assert.deepEqual([answer.ok, answer.isStopped, answer.error], [false, true, "sending was stopped"]);
  assert.equal((await send({ signal: controller.signal })).isStopped, true);
  assert.equal(receiver.requests.length, 1);
});

test("stop: a response whose status has arrived counts", async () => {
  const { receiver, send } = await setUp();
  const controller = new AbortController();
  receiver.script((_request, response) => {
    response.writeHead(202).write("accepted");
  });
  const headHasCome = new Promise<unknown>((resolve) => subscribe("undici:request:headers", resolve));
  const sending = send({ signal: controller.signal });
  await headHasCome;
  controller.abort();
  const answer = await sending;
  assert.deepEqual([answer.ok, answer.isStopped, answer.body], [true, false, "accepted"]);
});

test("close: requests in flight are aborted, no more are sent, and no socket is left", async () => {
  const { receiver, sender, send } = await setUp();
  receiver.otherwise(hang);
  const sending = [send(), send(), send()];
  await receiver.waitFor(3);
  const late = send({ url: "http://127.0.0.1:1234/" });
  await sender.close();
  for (const answer of await Promise.all([...sending, late])) assert.equal(answer.isStopped, true);
  assert.equal((await send()).isStopped, true);
  assert.equal(sender.connections(), 0);
  await until("the receiver's connections are closed", () => receiver.connections().open === 0);
  await sender.close();
});
