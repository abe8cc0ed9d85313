import assert from "node:assert/strict";
import { connect } from "node:net";
import { mock, test } from "node:test";
import { gzipSync } from "node:zlib";
import { call, currentVersion, everyVersion, olderVersion, startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { until, withinOneMinute } from "../../../test/support/until.ts";
import { createRateLimiter, deleteOldCounters } from "./limits/rate-limit.ts";

const app = await startTestApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "1000000" } });
const workspace = await makeWorkspace(app.db);
const { token } = workspace.member;

/** Sends bytes as they are and gives what comes back until the server closes. */
function sendRaw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

test("version: a missing or unknown one is 400 and names the existing versions", async () => {
  for (const [version, code] of [
    [null, "version_missing"],
    ["", "version_missing"],
    ["2024-01-01", "version_unknown"],
    ["latest", "version_unknown"],
  ] as const) {
    const answer = await call(app, "POST", "/users", {}, { token, version });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error, code);
    for (const name of everyVersion) assert.match(answer.body.detail, new RegExp(name));
  }
});

test("version: every response of a deprecated one says so, the current one's does not", async () => {
  const older = await call(app, "POST", "/users", {}, { token, version: olderVersion });
  assert.equal(older.headers.get("deprecation"), `@${Date.parse("2026-10-01T00:00:00Z") / 1000}`);
  assert.match(older.headers.get("link") ?? "", /rel="deprecation"/);
  assert.equal(older.headers.get("sunset"), null);
  const current = await call(app, "POST", "/users", {}, { token, version: currentVersion });
  assert.equal(current.headers.get("deprecation"), null);
});

test("version: an operator can sunset and retire one with a setting", async () => {
  const inThirtyDays = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const sunsetting = await startTestApp({
    env: {
      PARLEY_VERSION_STATUS: `${olderVersion}=sunsetting@${inThirtyDays}`,
      PARLEY_RATE_LIMIT_PER_MINUTE: "300",
    },
  });
  const own = await makeWorkspace(sunsetting.db);
  const answer = await call(sunsetting, "POST", "/users", {}, { token: own.token, version: olderVersion });
  assert.equal(answer.headers.get("sunset"), new Date(inThirtyDays).toUTCString());
  // A third of the 90 days is left, and so is a third of the limit.
  const limit = Number(answer.headers.get("x-ratelimit-limit"));
  assert.ok(limit > 90 && limit <= 100, `${limit}`);
  const retired = await startTestApp({ env: { PARLEY_VERSION_STATUS: `${olderVersion}=retired` } });
  const gone = await call(retired, "POST", "/users", {}, { token: "x", version: olderVersion });
  assert.equal(gone.status, 410);
  assert.equal(gone.body.error, "version_retired");
});

test("token: missing, malformed, unknown, expired, revoked and of a deactivated user are 401 with WWW-Authenticate", async () => {
  const own = await makeWorkspace(app.db);
  const forms: [Record<string, string>, string][] = [
    [{}, "token_missing"],
    [{ authorization: "" }, "token_missing"],
    [{ authorization: "Basic YTpi" }, "token_invalid"],
    [{ authorization: "Bearer" }, "token_invalid"],
    [{ authorization: "Bearer x y" }, "token_invalid"],
    [{ authorization: `Bearer parley_pat_${"A".repeat(43)}` }, "token_invalid"],
  ];
  for (const [headers, code] of forms) {
    const answer = await call(app, "POST", "/users", {}, { headers });
    assert.equal(answer.status, 401, JSON.stringify(headers));
    assert.equal(answer.body.error, code);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer realm="parley"/);
  }
  const works = await call(
    app,
    "POST",
    "/users",
    {},
    { headers: { authorization: `bearer  ${own.admin.token}` } },
  );
  assert.equal(works.status, 200);
  await app.db.pool.query(
    "update access_tokens set expires_at = now() - interval '1 second' where user_id = $1",
    [own.member.id],
  );
  assert.equal((await call(app, "POST", "/users", {}, { token: own.member.token })).status, 401);
  await app.db.pool.query(
    "update access_tokens set revoked_at = now() where type = 'workspace_access_token' and workspace_id = $1",
    [own.id],
  );
  assert.equal((await call(app, "POST", "/users", {}, { token: own.token })).status, 401);
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [own.admin.id]);
  assert.equal((await call(app, "POST", "/users", {}, { token: own.admin.token })).status, 401);
});

test("token: its last use is recorded", async () => {
  const own = await makeWorkspace(app.db);
  await call(app, "POST", "/users", {}, { token: own.member.token });
  const { rows } = await app.db.pool.query("select last_used_at from access_tokens where user_id = $1", [
    own.member.id,
  ]);
  assert.ok(Date.now() - rows[0].last_used_at.getTime() < 10_000);
});

test("order: version, then token, then rate limit, then path, then body, then permission", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "4" } });
    const own = await makeWorkspace(limited.db);
    const broken = { raw: "{broken" };
    const at = (path: string, options: object, method = "POST") =>
      call(limited, method, path, {}, { ...broken, ...options });
    assert.equal((await at("/nothing", { version: null, token: null })).body.error, "version_missing");
    assert.equal((await at("/nothing", { token: null })).body.error, "token_missing");
    assert.equal((await at("/nothing", { token: own.token })).body.error, "not_found");
    assert.equal((await at("/recordings/x", { token: own.token })).body.error, "not_found");
    assert.equal(
      (await at("/uploads", { token: own.token, version: olderVersion })).body.error,
      "not_in_version",
    );
    assert.equal((await at("/recordings", { token: own.token })).body.error, "invalid_json");
    assert.equal((await at("/nothing", { token: own.token })).body.error, "rate_limited");
    assert.equal((await at("/nothing", { token: own.token, version: "x" })).body.error, "version_unknown");
  }));

test("rate limit: counted per token, shown in every response, refused with Retry-After", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "3" } });
    const own = await makeWorkspace(limited.db);
    const remaining: (string | null)[] = [];
    for (let index = 0; index < 3; index++) {
      const answer = await call(limited, "POST", "/users", {}, { token: own.token });
      assert.equal(answer.headers.get("x-ratelimit-limit"), "3");
      remaining.push(answer.headers.get("x-ratelimit-remaining"));
    }
    assert.deepEqual(remaining, ["2", "1", "0"]);
    const refused = await call(limited, "POST", "/users", {}, { token: own.token });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("x-ratelimit-remaining"), "0");
    const wait = Number(refused.headers.get("retry-after"));
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60);
    assert.equal((await call(limited, "POST", "/users", {}, { token: own.member.token })).status, 200);
    // Without a token the address is counted, so that guessing tokens is limited too.
    const guesses: number[] = [];
    for (let index = 0; index < 4; index++) {
      const guess = await call(limited, "POST", "/users", {}, { token: `parley_pat_${"B".repeat(43)}` });
      assert.ok(guess.headers.get("x-ratelimit-limit"));
      guesses.push(guess.status);
    }
    assert.deepEqual(guesses, [401, 401, 401, 429]);
  }));

test("bodies: empty means {} under any content type, on every method; JSON is read under any content type", async () => {
  const own = await makeWorkspace(app.db);
  for (const type of [
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/xml",
    "nonsense",
  ]) {
    for (const raw of ["", " \n", "{}", '\ufeff{"filter":{}}']) {
      const answer = await call(
        app,
        "POST",
        "/recordings",
        {},
        { token: own.token, raw, headers: { "content-type": type } },
      );
      assert.equal(answer.status, 200, `${type} ${JSON.stringify(raw)}: ${answer.text}`);
    }
  }
  assert.equal((await call(app, "POST", "/recordings", undefined, { token: own.token })).status, 200);
  assert.equal(
    (
      await call(app, "GET", "/token-info", undefined, {
        token: own.token,
        headers: { "content-type": "application/json", accept: "text/html" },
      })
    ).status,
    200,
  );
  const removed = await call(
    app,
    "DELETE",
    `/recordings/${own.id}/tags/x`,
    {},
    { token: own.token, raw: "", headers: { "content-type": "application/json" } },
  );
  assert.equal(removed.status, 404);
  const withLength = await sendRaw(
    app.url,
    `DELETE /_/public-api/v2/recordings/${own.id}/tags/x HTTP/1.1\r\nHost: parley.test\r\nAuthorization: Bearer ${own.token}\r\nPublic-Api-Version: ${currentVersion}\r\nContent-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  assert.match(withLength, /^HTTP\/1\.1 404 /);
});

test("bodies: anything but a JSON object is 400; unknown properties are ignored", async () => {
  for (const [raw, code] of [
    ["{", "invalid_json"],
    ["{'a':1}", "invalid_json"],
    ["NaN", "invalid_json"],
    [Buffer.from([0x7b, 0xff, 0x7d]), "invalid_json"],
    ["[]", "invalid_input"],
    ["null", "invalid_input"],
    ["5", "invalid_input"],
    ['"x"', "invalid_input"],
    [`{"x":${"[".repeat(5000)}${"]".repeat(5000)}}`, "invalid_input"],
    ['{"unknown":"a\\u0000b"}', "invalid_input"],
  ] as const) {
    const answer = await call(app, "POST", "/recordings", {}, { token, raw });
    assert.equal(answer.status, 400, String(raw).slice(0, 20));
    assert.equal(answer.body.error, code);
  }
  const ignored = await call(
    app,
    "POST",
    "/recordings",
    { page: 3, filter: { nothing: 1 }, include: { also: "x" }, __proto__: 1 },
    { token },
  );
  assert.equal(ignored.status, 200);
});

test("bodies: an encoded one is 415 with the reason, after the token was checked", async () => {
  const { token } = workspace.member;
  const send = (encoding: string, authorization: string) =>
    fetch(`${app.url}/_/public-api/v2/recordings`, {
      method: "POST",
      headers: { authorization, "public-api-version": currentVersion, "content-encoding": encoding },
      body: encoding === "gzip" ? gzipSync("{}") : "{}",
    });
  const refused = await send("gzip", `Bearer ${token}`);
  const problem = (await refused.json()) as { error: string; detail: string };
  assert.deepEqual([refused.status, problem.error], [415, "unsupported_encoding"]);
  assert.match(problem.detail, /^the body is encoded \(Content-Encoding: gzip\); send it uncompressed$/);
  assert.equal(refused.headers.get("accept-encoding"), "identity");
  assert.equal((await send("identity", `Bearer ${token}`)).status, 200);
  assert.equal((await send("gzip", "Bearer x")).status, 401);
});

test("bodies: more than the limit is 413", async () => {
  const answer = await call(app, "POST", "/recordings", { x: "y".repeat(1024 * 1024) }, { token });
  assert.equal(answer.status, 413);
  assert.equal(answer.body.error, "body_too_large");
});

test("bodies: clients that disconnect while large bodies are read don't block others", async () => {
  const padded = (id: number) =>
    JSON.stringify({ media_type: "transcript", id, padding: "x".repeat(3 * 1024 * 1024) });
  const leaving = Array.from({ length: 12 }, (_, index) => {
    const controller = new AbortController();
    const sent = fetch(`${app.url}/_/public-api/v2/uploads/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "public-api-version": currentVersion },
      body: padded(index),
      signal: controller.signal,
    }).catch(() => null);
    return { controller, sent };
  });
  await Promise.race(leaving.map(({ sent }) => sent));
  for (const { controller } of leaving) controller.abort();
  await Promise.all(leaving.map(({ sent }) => sent));
  for (let index = 0; index < 3; index++) {
    const answer = await call(app, "POST", "/uploads/create", {}, { token, raw: padded(index) });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.violations[0].pointer, "/attributes/transcript");
  }
});

test("malformed HTTP and URLs get a problem document, never a stack trace", async () => {
  const headers = `Host: parley.test\r\nAuthorization: Bearer ${token}\r\nPublic-Api-Version: ${currentVersion}\r\nConnection: close`;
  for (const [request, status] of [
    ["GARBAGE\r\n\r\n", 400],
    [`GET /_/public-api/v2/%zz HTTP/1.1\r\n${headers}\r\n\r\n`, 400],
    [`GET /_/public-api/v2/users HTTP/1.1\r\n${headers}\r\nX-Flood: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    [`POST /_/public-api/v2/users HTTP/1.1\r\n${headers}\r\nContent-Length: abc\r\n\r\n`, 400],
    [`GET /_/public-api/v2/../../../etc/passwd HTTP/1.1\r\n${headers}\r\n\r\n`, 404],
  ] as const) {
    const answer = await sendRaw(app.url, request);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), request.slice(0, 60));
    assert.match(answer, /application\/problem\+json/);
    assert.doesNotMatch(answer, /node:|\.ts:|at Object/);
  }
});

test("health: alive, and ready as long as the database responds", async () => {
  assert.equal((await fetch(`${app.url}/healthz`)).status, 200);
  const ready = await fetch(`${app.url}/readyz`);
  assert.deepEqual(
    [ready.status, await ready.json()],
    [200, { status: "ready", database: "reachable", storage: "reachable" }],
  );
});

test("request ids: every response has one, the same as in its problem", async () => {
  const answer = await call(app, "POST", "/nothing", {}, { token });
  assert.equal(answer.headers.get("x-request-id"), answer.body.request_id);
});

test("rate limit: all tokens of a user also count together, and the headers show the nearer limit", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({
      env: { PARLEY_RATE_LIMIT_PER_MINUTE: "4", PARLEY_RATE_LIMIT_PER_USER_PER_MINUTE: "6" },
    });
    const own = await makeWorkspace(limited.db);
    const ask = async (token: string) => {
      const { status, headers, body } = await call(limited, "POST", "/users", {}, { token });
      return [status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining"), body.detail];
    };
    const { rows } = await limited.db.pool.query("select user_id from access_tokens where user_id = $1", [
      own.admin.id,
    ]);
    assert.equal(rows.length, 2, "the workspace's token was issued by the admin");
    for (const left of ["3", "2", "1", "0"])
      assert.deepEqual(await ask(own.admin.token), [200, "4", left, undefined]);
    assert.equal((await ask(own.admin.token))[0], 429);
    // What the token's own limit refused does not count for the person.
    assert.deepEqual(await ask(own.token), [200, "6", "1", undefined]);
    assert.deepEqual(await ask(own.token), [200, "6", "0", undefined]);
    const [status, limit, left, detail] = await ask(own.token);
    assert.deepEqual([status, limit, left], [429, "6", "0"]);
    assert.match(
      detail,
      /^more than 6 requests in this minute by all tokens and sessions of this user together; /,
    );
    assert.equal((await ask(own.member.token))[0], 200);
  }));

test("rate limit: four processes share one limit, even in a burst, and each knows the others' counts", async () => {
  const fail = (error: Error): never => {
    throw error;
  };
  const at = Date.UTC(2026, 0, 1, 12, 0, 30);
  const limiters = Array.from({ length: 4 }, () =>
    createRateLimiter({ pool: app.db.pool, now: () => at, onError: fail }),
  );
  const [first, second] = limiters;
  if (!first || !second) throw new Error("four limiters");
  try {
    const burst = await Promise.all(
      Array.from({ length: 300 }, (_, index) => limiters[index % 4]?.take("token:burst", 30)),
    );
    const allowed = burst.filter((allowance) => !allowance?.exceeded).length;
    assert.ok(allowed >= 26 && allowed <= 34, `${allowed} of 30 were let through`);
    for (let index = 0; index < 5; index++) await first.take("token:told", 30);
    // The second has not seen this token yet and knows of the five all the same.
    assert.equal((await second.take("token:told", 30)).remaining, 24);
    assert.equal((await first.take("token:alone", 100)).remaining, 99);
    assert.equal((await first.take("token:alone", 100)).resetMs, 30_000);
  } finally {
    await Promise.all(limiters.map((limiter) => limiter.close()));
  }
});

test("rate limit: counts of past minutes are removed", async () => {
  const insert = "insert into rate_limit_counters (key, window_start, count) values ($1, $2, 1)";
  await app.db.pool.query(insert, ["old", new Date(Date.now() - 3_600_000)]);
  await app.db.pool.query(insert, ["new", new Date()]);
  await deleteOldCounters(app.db.pool);
  const { rows } = await app.db.pool.query("select key from rate_limit_counters where key in ('old', 'new')");
  assert.deepEqual(rows, [{ key: "new" }]);
});

test("database outage: requests and /readyz return 503 with Retry-After, and recover when it is back", async () => {
  const own = await startTestApp();
  const { token: ownToken } = (await makeWorkspace(own.db)).member;
  // The pool's own error when the database does not respond.
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const { mock: query } = mock.method(own.db.pool, "query", () => Promise.reject(refused));
  try {
    const answer = await call(own, "POST", "/users", {}, { token: ownToken });
    assert.equal(answer.status, 503);
    assert.equal(answer.body.error, "unavailable");
    assert.ok(answer.headers.get("retry-after"));
    const ready = await fetch(`${own.url}/readyz`);
    assert.deepEqual(
      [ready.status, ((await ready.json()) as { database: string }).database],
      [503, "unreachable"],
    );
    assert.equal((await fetch(`${own.url}/healthz`)).status, 200);
  } finally {
    query.restore();
  }
  assert.equal((await call(own, "POST", "/users", {}, { token: ownToken })).status, 200);
  await until("it is ready again", async () => (await fetch(`${own.url}/readyz`)).status === 200);
});
