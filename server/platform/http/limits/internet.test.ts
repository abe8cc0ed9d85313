import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { call, startTestApp, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { until, withinOneMinute } from "../../../../test/support/until.ts";
import { ipPrefixOf } from "./ip-prefix.ts";

// The system transfers megabytes at a time, so even a reader that never stops appears to pause for a while.
const limits = { headersMs: 600, bodyMs: 600, handlingMs: 3000, readingMs: 2500 };
const app = await startTestApp({ limits });
const secure = await startTestApp({ worker: false, env: { PARLEY_BASE_URL: "https://parley.test" } });
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

const pages = ["/docs", "/docs/2025-10-31", "/docs/errors", "/docs/migration"];
const others = [
  "/healthz",
  "/nothing",
  "/_/public-api/v2/users",
  "/_/api/v1/audit",
  "/openapi/2026-10-01.json",
  "/",
];

test("headers: every response forbids sniffing, framing, referrers and browser features", async () => {
  for (const path of [...pages, ...others, "/_/media/recordings/x/media"]) {
    const { headers } = await fetch(app.url + path, { redirect: "manual" });
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /script-src[^;]*unsafe|unsafe-eval|\*/, path);
    assert.equal(headers.get("x-frame-options"), "DENY", path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("referrer-policy"), "same-origin", path);
    assert.match(headers.get("permissions-policy") ?? "", /camera=\(\)/, path);
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin", path);
    // Without https browsers would not heed it, and a later https must be free to choose.
    assert.equal(headers.get("strict-transport-security"), null, path);
  }
});

test("headers: with an https base URL, HSTS is sent", async () => {
  for (const path of [...pages, ...others]) {
    const { headers } = await fetch(secure.url + path, { redirect: "manual" });
    assert.equal(headers.get("strict-transport-security"), "max-age=31536000", path);
  }
});

test("headers: no page has inline scripts or styles, and the policy allows none", async () => {
  for (const path of pages) {
    const response = await fetch(app.url + path);
    const html = await response.text();
    assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\ssrc=)/i, path);
    assert.doesNotMatch(response.headers.get("content-security-policy") ?? "", /unsafe-inline/, path);
  }
});

test("headers: only files may be embedded by other origins", async () => {
  const policyOf = async (path: string) =>
    (await fetch(app.url + path)).headers.get("cross-origin-resource-policy");
  assert.equal(await policyOf("/_/media/recordings/x/media"), "cross-origin");
  assert.equal(await policyOf("/_/public-api/v2/users"), "same-origin");
});

test("IP address: counted as itself, IPv6 by its /64, in any notation", () => {
  assert.equal(ipPrefixOf("192.0.2.7"), "192.0.2.7");
  assert.equal(ipPrefixOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(ipPrefixOf("2001:db8:1:2::5"), ipPrefixOf("2001:0db8:0001:0002:ffff::1"));
  assert.notEqual(ipPrefixOf("2001:db8:1:2::5"), ipPrefixOf("2001:db8:1:3::5"));
  assert.equal(ipPrefixOf("not an address"), "not an address");
});

/** How many refused requests an address has left, by the X-Forwarded-For it sends. */
async function left(server: TestApp, forwarded: string): Promise<number> {
  const answer = await call(
    server,
    "POST",
    "/users",
    {},
    {
      token: `parley_pat_${"A".repeat(43)}`,
      headers: { "x-forwarded-for": forwarded },
    },
  );
  return Number(answer.headers.get("x-ratelimit-remaining"));
}

test("proxies: without the setting no header is trusted, so claiming another IP address gives no new count", () =>
  withinOneMinute(async () => {
    const alone = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "100" } });
    const counts = [
      await left(alone, "203.0.113.1"),
      await left(alone, "203.0.113.2"),
      await left(alone, "::1"),
    ];
    assert.deepEqual(
      counts.toSorted((a, b) => b - a),
      counts,
    );
    assert.equal(new Set(counts).size, 3, "one count for all");
  }));

test("proxies: a trusted proxy's entry counts, not what its client wrote before it", () =>
  withinOneMinute(async () => {
    const behind = await startTestApp({
      worker: false,
      env: { PARLEY_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8", PARLEY_RATE_LIMIT_PER_MINUTE: "100" },
    });
    assert.equal(await left(behind, "203.0.113.5"), 99);
    assert.equal(await left(behind, "198.51.100.1, 203.0.113.5"), 98, "what is left of it is spoofed");
    assert.equal(await left(behind, "203.0.113.6, 203.0.113.5, 10.1.2.3"), 97, "10.1.2.3 is a proxy of ours");
    assert.equal(await left(behind, "203.0.113.6"), 99);
    assert.equal(await left(behind, "2001:db8::1"), 99);
    assert.equal(await left(behind, "2001:db8::2"), 98);
    // What the log says as well.
    const own = await makeWorkspace(behind.db);
    await call(behind, "GET", "/_/api/v1/audit/export", undefined, {
      token: own.admin.token,
      headers: { "x-forwarded-for": "6.6.6.6, 203.0.113.9" },
    });
    const { rows } = await behind.db.pool.query("select ip from audit_log where workspace_id = $1", [own.id]);
    assert.deepEqual(rows, [{ ip: "203.0.113.9" }]);
  }));

/** A connection, and what came over it. */
function open(): { socket: Socket; text: () => string; closed: Promise<void> } {
  const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.on("error", () => {});
  });
  return { socket, text: () => text, closed };
}

/** Sends a byte at a time until the other side has had enough. */
function trickle(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 40);
  socket.once("close", () => clearInterval(timer));
}

const authorized = `Host: parley.test\r\nAuthorization: Bearer ${member.token}\r\nPublic-Api-Version: 2026-10-01`;

test("slow clients: one that connects and sends nothing is disconnected", async () => {
  const { closed, text } = open();
  await closed;
  assert.match(text(), /^(HTTP\/1.1 408 |$)/);
});

test("slow clients: headers a byte at a time end in 408", async () => {
  const { socket, closed, text } = open();
  socket.write("GET /healthz HTTP/1.1\r\nHost: parley.test\r\nX-Slow: ");
  trickle(socket, "a");
  await closed;
  assert.match(text(), /^HTTP\/1.1 408 [\s\S]*"error":"request_timeout"/);
});

test("slow clients: a body a byte at a time ends in 408", async () => {
  const { socket, closed, text } = open();
  socket.write(`POST /_/public-api/v2/users HTTP/1.1\r\n${authorized}\r\nContent-Length: 5000\r\n\r\n`);
  trickle(socket, " ");
  await closed;
  assert.match(text(), /^HTTP\/1.1 408 [\s\S]*"error":"request_timeout"/);
});

test("slow clients: one that never reads its responses is disconnected", async () => {
  const { socket, closed } = open();
  socket.pause();
  // More than the buffers of both sides hold.
  const asked = `GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: parley.test\r\n\r\n`;
  socket.write(asked.repeat(40));
  let isCut = false;
  void closed.then(() => {
    isCut = true;
  });
  await until("the connection is cut", () => {
    if (!socket.destroyed) socket.write(asked);
    return isCut;
  });
});

test("slow clients: one that reads slowly but steadily gets all responses", async () => {
  const path = "/docs/assets/swagger-ui-bundle.js";
  const whole = (await (await fetch(app.url + path)).arrayBuffer()).byteLength;
  const copies = 10;
  const { socket, closed } = open();
  let [taken, isCut] = [0, false];
  // By the clock, so that a busy machine makes no longer pauses of it.
  const mayTake = () => ((performance.now() - startedAt) / takingMs) * copies * whole;
  socket.on("data", (chunk) => {
    taken += chunk.length;
    if (taken > mayTake()) socket.pause();
  });
  void closed.then(() => {
    isCut = true;
  });
  const startedAt = performance.now();
  const takingMs = 1.6 * limits.readingMs;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: parley.test\r\n\r\n`.repeat(copies));
  const isThere = () => {
    assert.ok(!isCut, `cut after ${taken} of ${copies * whole} bytes`);
    if (taken <= mayTake()) socket.resume();
    return taken > copies * whole;
  };
  await until("all of it is there", isThere, 90_000);
  assert.ok(performance.now() - startedAt > limits.readingMs, "it took longer than the limit of a pause");
  socket.destroy();
});

test("slow clients: one that stops reading an export is disconnected, even while it keeps sending", async () => {
  await app.db.pool.query(
    `insert into audit_log (workspace_id, action, details)
     select $1, 'settings_changed', jsonb_build_object('filler', repeat('x', 8000)) from generate_series(1, 4000)`,
    [workspace.id],
  );
  await until("the log is sealed", async () => {
    const { rows } = await app.db.pool.query("select 1 from audit_log where position is null limit 1");
    return rows.length === 0;
  });
  const { socket, closed } = open();
  socket.pause();
  socket.write(
    `GET /_/api/v1/audit/export HTTP/1.1\r\nHost: parley.test\r\nAuthorization: Bearer ${workspace.admin.token}\r\n\r\n`,
  );
  let isCut = false;
  void closed.then(() => {
    isCut = true;
  });
  await until("the connection is cut", () => {
    if (!socket.destroyed) socket.write("x");
    return isCut;
  });
});

test("handling: a request that takes too long gets 503, and its connection stays usable", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const blocker = await app.db.pool.connect();
  await blocker.query("begin");
  await blocker.query("select 1 from recordings where id = $1 for update", [recordingId]);
  const answer = await call(
    app,
    "PATCH",
    `/recordings/${recordingId}`,
    { title: "x" },
    { token: member.token },
  );
  await blocker.query("rollback");
  blocker.release();
  assert.equal(answer.status, 503);
  assert.equal(answer.body.error, "unavailable");
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
  await until("the change was made all the same", async () => {
    const read = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
    return read.body.title === "x";
  });
});

test("size: headers beyond 16 KiB are 431, bodies beyond a megabyte 413", async () => {
  const long = await fetch(`${app.url}/healthz`, { headers: { "x-long": "x".repeat(17_000) } });
  assert.equal(long.status, 431);
  const large = await call(app, "POST", "/users", undefined, {
    token: member.token,
    raw: `{"a":"${"x".repeat(1024 * 1024)}"}`,
    headers: { "content-type": "application/json" },
  });
  assert.equal(large.status, 413);
});
