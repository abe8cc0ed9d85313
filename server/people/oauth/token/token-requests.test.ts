import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import {
  ask,
  authorizePath,
  credentials,
  exchange,
  makeClient,
  makeOAuthWorkspace,
  obtainCode,
  obtainTokens,
  refresh,
  revokePath,
  type TestClient,
  tokenPath,
} from "../../../../test/support/oauth.ts";
import { withinOneMinute } from "../../../../test/support/until.ts";
import { countGuess, refuseGuessing } from "./throttle.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeOAuthWorkspace(app);
const { member } = workspace;

const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

const refreshFields = (token: string) => ({ grant_type: "refresh_token", refresh_token: token });

test("client authentication: every failure is invalid_client with 401, with WWW-Authenticate for Basic", async () => {
  const client = await makeClient(app, workspace);
  const open = await makeClient(app, workspace, { isPublic: true });
  const tokens = await obtainTokens(app, client, member);
  const fields = refreshFields(tokens.refresh_token);
  const secret = client.secret ?? "";
  for (const wrong of [
    { client_id: client.id },
    { client_id: client.id, client_secret: "" },
    { client_id: client.id, client_secret: secret.slice(0, -1) },
    { client_id: client.id, client_secret: `${secret}x` },
    { client_id: "unknown", client_secret: secret },
    { client_id: "00000000-0000-7000-8000-000000000000", client_secret: secret },
    { client_id: open.id, client_secret: secret },
  ]) {
    const reply = await ask(app, tokenPath, { ...fields, ...wrong });
    assert.deepEqual([reply.status, reply.body.error], [401, "invalid_client"], JSON.stringify(wrong));
    assert.equal(reply.headers.get("www-authenticate"), null);
    assert.equal(reply.headers.get("cache-control"), "no-store");
  }
  for (const headers of [
    basic(client.id, "wrong"),
    basic(client.id, ""),
    basic("%zz", secret),
    { authorization: "Basic !!!" },
  ]) {
    const reply = await ask(app, tokenPath, fields, { headers });
    assert.deepEqual([reply.status, reply.body.error], [401, "invalid_client"]);
    assert.match(reply.headers.get("www-authenticate") ?? "", /^Basic realm=/);
  }
  // RFC 6749, section 2.3.1: written as in a form before it becomes a user and a password.
  const encoded = basic(encodeURIComponent(client.id), secret.replaceAll("_", "%5F"));
  assert.equal((await ask(app, tokenPath, fields, { headers: encoded, form: true })).status, 200);
});

test("client authentication: two methods or two clients in one request are invalid_request", async () => {
  const client = await makeClient(app, workspace);
  const other = await makeClient(app, workspace);
  const headers = basic(client.id, client.secret ?? "");
  for (const more of [{ client_secret: client.secret }, { client_id: other.id }]) {
    const reply = await ask(app, tokenPath, { ...refreshFields("x"), ...more }, { headers });
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_request"]);
  }
});

test("malformed requests: invalid_request that names the problem, in the format of RFC 6749", async () => {
  const client = await makeClient(app, workspace);
  const own = credentials(client);
  const cases: [unknown, RegExp][] = [
    [{ ...own }, /grant_type is missing/],
    [{ ...own, grant_type: "authorization_code" }, /code is missing/],
    [{ ...own, grant_type: "refresh_token", refresh_token: "" }, /refresh_token is missing/],
    [{ ...own, grant_type: "refresh_token", refresh_token: 7 }, /refresh_token must be a string/],
    [{ ...own, grant_type: ["refresh_token", "refresh_token"] }, /grant_type was sent more than once/],
    [{ grant_type: "refresh_token", refresh_token: "x" }, /client_id is missing/],
    [[], /must be a JSON object/],
  ];
  for (const [fields, expected] of cases) {
    const reply = await ask(app, tokenPath, fields as Record<string, unknown>);
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_request"], JSON.stringify(fields));
    assert.match(reply.body.error_description, expected);
  }
  for (const [type, body] of [
    ["application/json", "{"],
    ["application/json", '"text"'],
    ["application/x-www-form-urlencoded", "grant_type=refresh_token&grant_type=refresh_token"],
    ["application/x-www-form-urlencoded", "grant_type=refresh_token&refresh_token=%00"],
    ["application/x-www-form-urlencoded", "grant_type=refresh_token&x%00=1"],
    ["application/json", '{"grant_type":"refresh_token","refresh_token":"\\u0000"}'],
    ["application/x-www-form-urlencoded", `code=${"x".repeat(70_000)}`],
    ["text/plain", ""],
  ] as const) {
    const response = await fetch(app.url + tokenPath, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    const answer = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([response.status, answer.error], [400, "invalid_request"], body.slice(0, 40));
  }
});

test("unsupported methods: 405 with Allow", async () => {
  for (const [path, method, allow] of [
    [tokenPath, "GET", "POST, OPTIONS"],
    [tokenPath, "HEAD", "POST, OPTIONS"],
    [tokenPath, "PUT", "POST, OPTIONS"],
    [revokePath, "GET", "POST, OPTIONS"],
    [authorizePath, "HEAD", "GET, POST"],
    [authorizePath, "PUT", "GET, POST"],
    [authorizePath, "DELETE", "GET, POST"],
    [authorizePath, "OPTIONS", "GET, POST"],
  ] as const) {
    const init = method === "PUT" ? { method, body: "{" } : { method };
    const response = await fetch(`${app.url}${path}?grant_type=refresh_token`, init);
    assert.deepEqual([response.status, response.headers.get("allow")], [405, allow], `${method} ${path}`);
  }
});

test("unknown fields are ignored, whatever they contain", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const more = { expires: 1, scope: ["a", "b"], audience: { a: 1 }, constructor: 7 };
  const fields = { ...refreshFields(tokens.refresh_token), ...credentials(client), ...more };
  const refreshed = await ask(app, tokenPath, fields);
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  const token = refreshed.body.refresh_token;
  const revoked = await ask(app, revokePath, { ...more, token, token_type_hint: 1, ...credentials(client) });
  assert.deepEqual([revoked.status, revoked.body], [200, {}]);
});

test("revocation: an unknown token counts as revoked, and an unknown client is refused", async () => {
  const client = await makeClient(app, workspace);
  const unknown = await ask(app, revokePath, { token: "unknown", ...credentials(client) });
  assert.deepEqual([unknown.status, unknown.body], [200, {}]);
  const missing = await ask(app, revokePath, credentials(client));
  assert.equal(missing.body.error, "invalid_request");
  const refused = await ask(app, revokePath, { token: "x", client_id: client.id, client_secret: "wrong" });
  assert.equal(refused.status, 401);
  const personal = await ask(app, revokePath, { token: member.token, ...credentials(client) });
  assert.deepEqual([personal.status, personal.body], [200, {}]);
  const info = await fetch(`${app.url}/_/api/v1/oauth/grants`, {
    headers: { authorization: `Bearer ${member.token}` },
  });
  assert.equal(info.status, 200, "a personal token is no business of an app");
});

async function guessUntilRefused(
  guess: () => Promise<{ status: number; headers: Headers }>,
): Promise<number> {
  for (let count = 1; count <= 200; count += 1) {
    const reply = await guess();
    if (reply.status !== 429) continue;
    assert.match(reply.headers.get("retry-after") ?? "", /^\d+$/);
    return count;
  }
  return assert.fail("two hundred guesses were listened to");
}

test("brute force: guesses of a secret are blocked for that client and IP address only", () =>
  withinOneMinute(async () => {
    const client = await makeClient(app, workspace);
    const other = await makeClient(app, workspace);
    const tokens = await obtainTokens(app, client, member);
    const others = await obtainTokens(app, other, member);
    const guess = () =>
      ask(app, tokenPath, { ...refreshFields("x"), client_id: client.id, client_secret: "guess" });
    await Promise.all(Array.from({ length: 15 }, guess));
    assert.ok((await guessUntilRefused(guess)) <= 10);
    const right = await refresh(app, client, tokens.refresh_token);
    assert.equal(
      right.status,
      429,
      "not even the right secret: a successful guess must not be distinguishable",
    );
    assert.equal((await refresh(app, other, others.refresh_token)).status, 200);
  }));

test("brute force: guesses of codes and refresh tokens by a public client are blocked", () =>
  withinOneMinute(async () => {
    const open = await makeClient(app, workspace, { isPublic: true });
    const { code, verifier } = await obtainCode(app, open, member);
    const guess = () => exchange(app, open, { code: "parley_oac_guess", verifier });
    assert.ok((await guessUntilRefused(guess)) <= 61);
    assert.equal((await exchange(app, open, { code, verifier })).status, 429);
    assert.ok((await guessUntilRefused(() => refresh(app, open, "parley_ort_guess"))) <= 121);
  }));

test("invented codes and expired tokens don't block a confidential client with many users", () =>
  withinOneMinute(async () => {
    const client = await makeClient(app, workspace);
    const tokens = await obtainTokens(app, client, member);
    const input = await obtainCode(app, client, member);
    const replies = await Promise.all(
      Array.from({ length: 150 }, (_, index) => [
        refresh(app, client, `parley_ort_ended_${index}`),
        exchange(app, client, { code: `parley_oac_made_up_${index}`, verifier: input.verifier }),
      ]).flat(),
    );
    assert.ok(replies.every(({ status }) => status === 400));
    assert.equal((await refresh(app, client, tokens.refresh_token)).status, 200);
    assert.equal((await exchange(app, client, input)).status, 200);
  }));

test("brute force: changing the IPv6 address within a /64 allows no more guesses", () =>
  withinOneMinute(async () => {
    const { id: clientId } = await makeClient(app, workspace);
    const from = (ip: string) => ({ kind: "client_secret", clientId, ip }) as const;
    for (let count = 1; count <= 20; count += 1) await countGuess(app.db, from(`2001:db8:1:2::${count}`));
    await assert.rejects(refuseGuessing(app.db, from("2001:db8:1:2:ffff::1")), { code: "slow_down" });
    await refuseGuessing(app.db, from("2001:db8:1:3::1"));
  }));

test("CORS: only pages of the client's origins can read the response", async () => {
  const [own, others] = ["https://app.example.com", "https://other.example.com"];
  const client = await makeClient(app, workspace, { isPublic: true, corsOrigins: [own] });
  const other = await makeClient(app, workspace, { isPublic: true, corsOrigins: [others] });
  const allowed = async (of: TestClient, origin: string) => {
    const reply = await ask(
      app,
      tokenPath,
      { ...refreshFields("x"), ...credentials(of) },
      { headers: { origin } },
    );
    assert.equal(reply.status, 400);
    assert.match(reply.headers.get("vary") ?? "", /origin/i);
    assert.equal(reply.headers.get("access-control-allow-credentials"), null);
    return reply.headers.get("access-control-allow-origin");
  };
  assert.equal(await allowed(client, own), own);
  assert.equal(await allowed(client, others), null);
  assert.equal(await allowed(other, own), null);
  assert.equal(await allowed(client, "null"), null);
  for (const path of [tokenPath, revokePath]) {
    for (const [origin, expected] of [
      [own, own],
      ["https://evil.example", null],
    ] as const) {
      const response = await fetch(app.url + path, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
      assert.equal(response.status, 204);
      assert.equal(response.headers.get("access-control-allow-origin"), expected);
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
    }
  }
});
