import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import * as oauth from "oauth4webapi";
import { startTestApp } from "../../../test/support/app.ts";
import {
  ask,
  authorizePath,
  authorizeUrl,
  credentials,
  decide,
  exchange,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  makePkce,
  obtainCode,
  obtainTokens,
  openBrowser,
  password,
  redirectUri,
  refresh,
  revokePath,
  tokenPath,
} from "../../../test/support/oauth.ts";

/** The attacks of RFC 9700 on the page where people decide, and on the endpoints; docs/decisions/0013-oauth.md lists them. */
const app = await startTestApp({ worker: false });
const workspace = await makeOAuthWorkspace(app);
const { member } = workspace;
const client = await makeClient(app, workspace);
const open = await makeClient(app, workspace, { isPublic: true });

const countCodes = async (): Promise<number> => {
  const { rows } = await app.db.pool.query("select count(*)::int as count from oauth_codes");
  return rows[0].count;
};

test("wrong redirect: anything but an exact registered URI shows a page", async () => {
  const native = await makeClient(app, workspace, {
    isPublic: true,
    redirectUris: ["http://127.0.0.1/done", "http://127.0.0.1:7000/fixed"],
  });
  const wrong: [typeof client, string | undefined][] = [
    [client, undefined],
    [client, "https://evil.example/callback"],
    [client, `${redirectUri}/`],
    [client, `${redirectUri}?next=https://evil.example`],
    [client, `${redirectUri}#fragment`],
    [client, `${redirectUri}/../evil`],
    [client, redirectUri.toUpperCase()],
    [client, redirectUri.replace("https", "http")],
    [client, "https://app.example.com.evil.example/callback"],
    [client, "https://app.example.com@evil.example/callback"],
    [client, "https://app.example.com:443/callback"],
    [client, "javascript:alert(1)"],
    [client, "//evil.example/callback"],
    [native, "http://127.0.0.1:99999/done"],
    [native, "http://127.0.0.1:80@evil.example/done"],
    [native, "http://127.0.0.1:8000/other"],
    [native, "http://localhost:8000/done"],
    [native, "http://127.0.0.1:7001/fixed"],
    [native, "https://127.0.0.1:8000/done"],
  ];
  for (const [of, uri] of wrong) {
    const page = await openBrowser(app).get(authorizeUrl(of, { redirect_uri: uri }));
    assert.equal(page.status, 400, String(uri));
    assert.equal(page.leftTo, null, String(uri));
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  }
});

test("open redirect: an unknown or repeated client never redirects, whatever the URL contains", async () => {
  for (const path of [
    authorizeUrl({ id: "00000000-0000-7000-8000-000000000000" }),
    authorizeUrl({ id: "'; drop table oauth_clients" }),
    authorizeUrl(client, { client_id: "" }),
    `${authorizeUrl(client)}&client_id=${open.id}`,
    `${authorizeUrl(client)}&redirect_uri=https://evil.example`,
    `${authorizePath}?next=https://evil.example&redirect_uri=https://evil.example`,
  ]) {
    const page = await openBrowser(app).get(path);
    assert.equal(page.status, 400, path);
    assert.equal(page.leftTo, null, path);
  }
});

test("errors of a known client are redirected to it, with state and iss", async () => {
  const { challenge } = makePkce();
  const s256 = { code_challenge: challenge, code_challenge_method: "S256" };
  const cases: [string, string][] = [
    [authorizeUrl(client, { response_type: undefined }), "invalid_request"],
    [authorizeUrl(client, { response_type: "token" }), "unsupported_response_type"],
    [authorizeUrl(client, { response_type: "code token" }), "unsupported_response_type"],
    [authorizeUrl(client, { response_mode: "fragment" }), "invalid_request"],
    [authorizeUrl(client, { prompt: "sometimes" }), "invalid_request"],
    [authorizeUrl(client, { prompt: "none login" }), "invalid_request"],
    [authorizeUrl(client, { request: "ey" }), "request_not_supported"],
    [authorizeUrl(client, { request_uri: "https://evil.example" }), "request_uri_not_supported"],
    [`${authorizeUrl(client, s256)}&code_challenge=${challenge}`, "invalid_request"],
    [`${authorizeUrl(client)}&prompt=none&prompt=none`, "invalid_request"],
  ];
  for (const [path, error] of cases) {
    const { leftTo } = await openBrowser(app).get(path);
    assert.equal(leftTo?.searchParams.get("error"), error, path);
    assert.equal(leftTo?.searchParams.get("state"), "st-1");
    assert.equal(leftTo?.searchParams.get("iss"), app.config.baseUrl);
    assert.equal(`${leftTo?.origin}${leftTo?.pathname}`, redirectUri);
  }
});

test("downgrade: public clients need S256, and plain is refused for all", async () => {
  const { verifier, challenge } = makePkce();
  for (const parameters of [
    {},
    { code_challenge_method: "S256" },
    { code_challenge: challenge },
    { code_challenge: challenge, code_challenge_method: "plain" },
    { code_challenge: verifier, code_challenge_method: "s256" },
    { code_challenge: "short", code_challenge_method: "S256" },
  ]) {
    const { leftTo } = await openBrowser(app).get(authorizeUrl(open, parameters));
    assert.equal(leftTo?.searchParams.get("error"), "invalid_request", JSON.stringify(parameters));
  }
  const { leftTo } = await openBrowser(app).get(
    authorizeUrl(client, { code_challenge: verifier, code_challenge_method: "plain" }),
  );
  assert.equal(leftTo?.searchParams.get("error"), "invalid_request");
});

test("downgrade: a challenge requires its verifier, and a verifier without a challenge is refused", async () => {
  for (const each of [client, open]) {
    const { code, verifier } = await obtainCode(app, each, member);
    for (const wrong of [
      undefined,
      "",
      makePkce().verifier,
      "short",
      `${verifier}x`,
      verifier.slice(0, -1),
    ]) {
      const reply = await exchange(app, each, { code, verifier: wrong });
      assert.deepEqual([reply.status, reply.body.error], [400, "invalid_grant"], String(wrong));
    }
    const right = await exchange(app, each, { code, verifier });
    assert.equal(right.status, 200, "who guesses wrong does not spoil the code for its owner");
  }
  const stripped = { code_challenge: undefined, code_challenge_method: undefined };
  const { code, verifier } = await obtainCode(app, client, member, { parameters: stripped });
  const reply = await exchange(app, client, { code, verifier });
  assert.deepEqual([reply.status, reply.body.error], [400, "invalid_grant"]);
  assert.equal((await exchange(app, client, { code })).status, 200);
});

test("code injection: a code is useless to another client or with another redirect URI", async () => {
  const other = await makeClient(app, workspace, { name: "Other" });
  const { code, verifier } = await obtainCode(app, client, member);
  for (const thief of [other, open]) {
    const stolen = await exchange(app, thief, { code, verifier });
    assert.deepEqual([stolen.status, stolen.body.error], [400, "invalid_grant"]);
  }
  const moved = await exchange(app, client, { code, verifier }, { redirect_uri: "https://evil.example/" });
  assert.equal(moved.body.error, "invalid_grant");
  assert.equal((await exchange(app, client, { code, verifier }, { redirect_uri: redirectUri })).status, 200);
});

test("another client can neither use nor revoke a refresh token, and the token stays valid", async () => {
  const other = await makeClient(app, workspace, { name: "Other" });
  const tokens = await obtainTokens(app, client, member);
  assert.equal((await refresh(app, other, tokens.refresh_token)).body.error, "invalid_grant");
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    const reply = await ask(app, revokePath, { token, ...credentials(other) });
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_grant"]);
  }
  assert.ok(await isActive(app, tokens.access_token));
  assert.equal((await refresh(app, client, tokens.refresh_token)).status, 200);
});

test("mix-up: every response has iss, and a library refuses the response of another server", async () => {
  const back = await decide(openBrowser(app), authorizeUrl(client), member);
  assert.equal(back.searchParams.get("iss"), app.config.baseUrl);
  const evil = {
    issuer: "https://evil.example",
    authorization_response_iss_parameter_supported: true,
  };
  assert.throws(
    () => oauth.validateAuthResponse(evil, { client_id: client.id }, back, "st-1"),
    /unexpected "iss"/,
  );
});

test("CSRF: consent without the page's token, or for another request or session, returns no code", async () => {
  const browser = openBrowser(app);
  await decide(browser, authorizeUrl(client), member);
  const page = await browser.get(authorizeUrl(client));
  const hidden = page.form?.hidden ?? {};
  const token = String(hidden.form_token);
  const others = openBrowser(app);
  await decide(others, authorizeUrl(client), workspace.admin);
  const foreign = await others.get(authorizeUrl(client));
  const before = await countCodes();
  for (const fields of [
    { form_token: "" },
    { form_token: "x" },
    { form_token: `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}` },
    { form_token: String(foreign.form?.hidden.form_token) },
    { form_token: `1${token}` },
    { state: "another" },
    { client_id: open.id, code_challenge: "a".repeat(43), code_challenge_method: "S256" },
    { code_challenge: "a".repeat(43), code_challenge_method: "S256" },
  ]) {
    const answer = await browser.submit(page, { ...fields, allow: "1" } as Record<string, string>);
    assert.equal(answer.status, 403, JSON.stringify(fields));
    assert.equal(answer.leftTo, null);
  }
  assert.equal(await countCodes(), before);
});

test("CSRF: a form sent by another site's page is refused, for consent and for sign-in", async () => {
  const browser = openBrowser(app);
  const signIn = await browser.get(authorizeUrl(client));
  const forged = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];
  for (const headers of forged) {
    const answer = await browser.submit(
      signIn,
      { email: member.email, password },
      headers as Record<string, string>,
    );
    assert.equal(answer.status, 403);
    assert.equal(browser.cookies.size, 0, "nobody is signed in by another site");
  }
  const consent = await browser.submit(
    signIn,
    { email: member.email, password },
    { "sec-fetch-site": "same-origin" },
  );
  const before = await countCodes();
  for (const headers of forged) {
    const answer = await browser.submit(consent, { allow: "1" }, headers as Record<string, string>);
    assert.deepEqual([answer.status, answer.leftTo], [403, null], JSON.stringify(headers));
  }
  assert.equal(await countCodes(), before);
  const origin = new URL(app.url).origin;
  assert.ok((await browser.submit(consent, { allow: "1" }, { origin })).leftTo?.searchParams.get("code"));
});

test("clickjacking and leaks: pages can't be framed, run no scripts and send no referrer", async () => {
  const browser = openBrowser(app);
  const signIn = await browser.get(authorizeUrl(client));
  const consent = await browser.submit(signIn, { email: member.email, password });
  const stop = await browser.get(authorizePath);
  for (const page of [signIn, consent, stop]) {
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /default-src 'none'/);
    assert.equal(page.headers.get("x-frame-options"), "DENY");
    assert.equal(page.headers.get("referrer-policy"), "same-origin");
    assert.equal(page.headers.get("cache-control"), "no-store");
    // An app in a page opens this one in a window, and waits for it.
    assert.equal(page.headers.get("cross-origin-opener-policy"), "unsafe-none");
  }
  const policy = consent.headers.get("content-security-policy") ?? "";
  assert.match(policy, /form-action 'self' https:\/\/app\.example\.com;/);
  const back = await browser.submit(consent, { allow: "1" });
  // Never 307, with which a browser would send the password on (RFC 9700, section 4.12).
  assert.equal(back.status, 303);
  assert.equal(back.headers.get("referrer-policy"), "no-referrer");
  assert.equal(back.headers.get("cross-origin-opener-policy"), "unsafe-none");
  assert.equal(back.leftTo?.hash, "", "nothing goes into the fragment");
});

test("another workspace: its users can't authorize the app, and see why", async () => {
  const other = await makeOAuthWorkspace(app);
  const browser = openBrowser(app);
  const signIn = await browser.get(authorizeUrl(client));
  const page = await browser.submit(signIn, { email: other.member.email, password });
  assert.equal(page.status, 403);
  assert.match(page.html, /Different account needed/);
  const silent = await browser.get(authorizeUrl(client, { prompt: "none" }));
  assert.equal(silent.leftTo?.searchParams.get("error"), "access_denied");
});

test("other grants: no password grant, no implicit tokens, no client credentials", async () => {
  for (const grantType of ["password", "client_credentials", "implicit", "__proto__", "toString"]) {
    const reply = await ask(app, tokenPath, {
      grant_type: grantType,
      username: member.email,
      password,
      ...credentials(client),
    });
    assert.deepEqual([reply.status, reply.body.error], [400, "unsupported_grant_type"], grantType);
  }
});

test("brute force: guessing passwords on the page is throttled", async () => {
  const victim = await makeOAuthWorkspace(app);
  const of = await makeClient(app, victim);
  const browser = openBrowser(app);
  const page = await browser.get(authorizeUrl(of));
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const answer = await browser.submit(page, { email: victim.member.email, password: `guess ${attempt}` });
    statuses.push(answer.status);
    if (answer.status === 429) assert.ok(Number(answer.headers.get("retry-after")) > 0);
  }
  assert.equal(statuses.at(-1), 429, statuses.join());
});

test("account access: an OAuth token can't create tokens, clients or grants", async () => {
  const { access_token: token } = await obtainTokens(app, client, workspace.admin);
  for (const path of ["/_/api/v1/oauth/clients", "/_/api/v1/oauth/grants"]) {
    const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 403, path);
  }
});

test("forged proxy headers: issuer and endpoints come from the base URL, whatever the request contains", async () => {
  const forged = {
    "x-forwarded-host": "evil.example",
    forwarded: "host=evil.example",
    "x-forwarded-proto": "http",
  };
  for (const [headers, status] of [
    [forged, 200],
    [{ ...forged, host: "evil.example" }, 421],
  ] as const) {
    const ask = get(`${app.url}/.well-known/oauth-authorization-server`, { headers });
    const [response] = await once(ask, "response");
    assert.equal(response.statusCode, status);
    const body = await text(response);
    assert.ok(status === 421 ? !body.includes("issuer") : !body.includes("evil.example"), body);
  }
});

test("CSRF: sign-in with a wrong page token is refused; without one the request's origin decides", async () => {
  const browser = openBrowser(app);
  const page = await browser.get(authorizeUrl(client));
  const fields = { email: member.email, password };
  assert.equal((await browser.submit(page, { ...fields, form_token: "x" })).status, 403);
  assert.equal(browser.cookies.size, 0);
  const { form_token: _, ...hidden } = page.form?.hidden ?? {};
  const bare = { ...page, form: { action: authorizePath, hidden } };
  assert.equal((await browser.submit(bare, fields, { origin: "https://evil.example" })).status, 403);
  assert.equal(browser.cookies.size, 0);
  const consent = await browser.submit(bare, fields);
  assert.ok(consent.html.includes('name="allow"'));
});

test("a script can sign in at the request's URL without the page's hidden fields; consent needs them", async () => {
  const browser = openBrowser(app);
  const action = authorizeUrl(client, { state: "of the query" });
  const at = (hidden: Record<string, string>) => ({ ...blank, form: { action, hidden } });
  const blank = await browser.get(authorizePath);
  const consent = await browser.submit(at({}), { email: member.email, password });
  assert.equal(consent.form?.hidden.state, "of the query");
  assert.ok(consent.html.includes('name="allow"'));
  const before = await countCodes();
  const { form_token: token = "" } = consent.form?.hidden ?? {};
  for (const fields of [{ allow: "1" }, { allow: "1", form_token: token }]) {
    const answer = await browser.submit(at({}), fields as Record<string, string>);
    assert.deepEqual([answer.status, answer.leftTo], [400, null]);
  }
  assert.equal(await countCodes(), before);
});

test("the sign-in page refuses NUL, however it is encoded", async () => {
  for (const [type, body] of [
    ["application/x-www-form-urlencoded", "email=a%00b%40example.com&password=x"],
    ["application/x-www-form-urlencoded", "email=a%40example.com&password=%00"],
    ["application/json", JSON.stringify({ email: "a\0b@example.com", password: "x" })],
  ] as const) {
    const init = { method: "POST", headers: { "content-type": type }, body };
    const response = await fetch(app.url + authorizeUrl(client), init);
    assert.equal(response.status, 400, body);
    const { error } = (await response.json()) as { error: string };
    assert.equal(error, "bad_request");
  }
});
