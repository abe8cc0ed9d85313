import assert from "node:assert/strict";
import { test } from "node:test";
import * as oauth from "oauth4webapi";
import * as oidc from "openid-client";
import { AuthorizationCode } from "simple-oauth2";
import { TokenResponse } from "../../../contract/accounts/oauth.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
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
  obtainCode,
  obtainTokens,
  openBrowser,
  redirectUri,
  refresh,
  revokePath,
  tokenPath,
} from "../../../test/support/oauth.ts";
import { runJob } from "../../../test/support/run-job.ts";
import { deleteEndedOauthGrantsKind } from "./sweep.ts";

const app = await startTestApp();
const workspace = await makeOAuthWorkspace(app);
const { member, admin } = workspace;
const { baseUrl } = app.config;

/** The libraries believe in the server's own address; this one leads there. */
const toServer = (url: string | URL): string => String(url).replace(baseUrl, app.url);
const pathOf = (url: string | URL): string => String(url).replace(baseUrl, "");

const tokenInfo = (token: string) => call(app, "GET", "/token-info", undefined, { token });

test("oauth4webapi: discovery, code, use, refresh and revocation, with every way of client authentication", async () => {
  const options = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: unknown) => fetch(toServer(url), init as RequestInit),
  } as const;
  const issuer = new URL(baseUrl);
  const server = await oauth
    .discoveryRequest(issuer, { ...options, algorithm: "oauth2" })
    .then((response) => oauth.processDiscoveryResponse(issuer, response));
  assert.equal(server.authorization_endpoint, baseUrl + authorizePath);

  const confidential = await makeClient(app, workspace);
  const open = await makeClient(app, workspace, { isPublic: true });
  const ways = [
    { client: confidential, authentication: oauth.ClientSecretPost(confidential.secret ?? "") },
    { client: confidential, authentication: oauth.ClientSecretBasic(confidential.secret ?? "") },
    { client: open, authentication: oauth.None() },
  ];
  for (const { client: registered, authentication } of ways) {
    const client: oauth.Client = { client_id: registered.id };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint ?? "");
    url.search = String(
      new URLSearchParams({
        client_id: registered.id,
        redirect_uri: redirectUri,
        response_type: "code",
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
      }),
    );
    const back = await decide(openBrowser(app), pathOf(url), member);
    const parameters = oauth.validateAuthResponse(server, client, back, state);
    const granted = await oauth
      .authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        parameters,
        redirectUri,
        verifier,
        options,
      )
      .then((response) => oauth.processAuthorizationCodeResponse(server, client, response));
    assert.equal(granted.token_type, "bearer");
    assert.equal(granted.expires_in, 3600);
    const info = await tokenInfo(granted.access_token);
    assert.equal(info.status, 200);
    const { expires_at: expiresAt, ...rest } = info.body;
    assert.deepEqual(rest, { type: "oauth", scope: "personal", user_id: member.id, name: member.name });
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000) < 60_000, expiresAt);

    const refreshed = await oauth
      .refreshTokenGrantRequest(server, client, authentication, granted.refresh_token ?? "", options)
      .then((response) => oauth.processRefreshTokenResponse(server, client, response));
    assert.notEqual(refreshed.refresh_token, granted.refresh_token);
    assert.ok(await isActive(app, refreshed.access_token));

    const revoked = await oauth.revocationRequest(
      server,
      client,
      authentication,
      refreshed.refresh_token ?? "",
      options,
    );
    assert.deepEqual(await revoked.clone().json(), {});
    await oauth.processRevocationResponse(revoked);
    assert.ok(!(await isActive(app, refreshed.access_token)), "the access token ends with its refresh token");
    assert.ok(!(await isActive(app, granted.access_token)), "the one before it as well");
  }
});

test("openid-client: discovery, code, use and refresh, confidential and public", async () => {
  const confidential = await makeClient(app, workspace);
  const open = await makeClient(app, workspace, { isPublic: true });
  for (const client of [confidential, open]) {
    const config = await oidc.discovery(
      new URL(baseUrl),
      client.id,
      undefined,
      client.secret === null ? oidc.None() : oidc.ClientSecretPost(client.secret),
      {
        algorithm: "oauth2",
        execute: [oidc.allowInsecureRequests],
        [oidc.customFetch]: (url, init) => fetch(toServer(url), init as RequestInit),
      },
    );
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
    });
    const back = await decide(openBrowser(app), pathOf(url), member);
    const granted = await oidc.authorizationCodeGrant(config, back, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    assert.ok(await isActive(app, granted.access_token));
    const refreshed = await oidc.refreshTokenGrant(config, granted.refresh_token ?? "");
    assert.ok(await isActive(app, refreshed.access_token));
    await oidc.tokenRevocation(config, refreshed.refresh_token ?? "");
    assert.ok(!(await isActive(app, refreshed.access_token)));
  }
});

test("simple-oauth2: code, use, refresh and revocation, with JSON and with a form, in the body and by Basic", async () => {
  for (const bodyFormat of ["json", "form"] as const) {
    for (const authorizationMethod of ["body", "header"] as const) {
      const registered = await makeClient(app, workspace);
      const client = new AuthorizationCode({
        client: { id: registered.id, secret: registered.secret ?? "" },
        auth: { tokenHost: app.url, tokenPath, authorizePath, revokePath },
        options: { bodyFormat, authorizationMethod },
      });
      const url = client.authorizeURL({ redirect_uri: redirectUri, state: "of my own" });
      const back = await decide(openBrowser(app), url.replace(app.url, ""), member);
      assert.equal(back.searchParams.get("state"), "of my own");
      const token = await client.getToken({
        code: back.searchParams.get("code") ?? "",
        redirect_uri: redirectUri,
      });
      assert.ok(await isActive(app, String(token.token.access_token)));
      const next = await token.refresh();
      assert.ok(await isActive(app, String(next.token.access_token)));
      await next.revokeAll();
      assert.ok(!(await isActive(app, String(next.token.access_token))));
    }
  }
});

test("contract: its requests without Authorization header return exactly its fields", async () => {
  const client = await makeClient(app, workspace);
  const { code, verifier } = await obtainCode(app, client, member);
  const generated = await exchange(app, client, { code, verifier });
  assert.equal(generated.status, 200);
  assert.match(generated.headers.get("content-type") ?? "", /^application\/json/);
  assert.equal(generated.headers.get("cache-control"), "no-store");
  assert.equal(generated.headers.get("pragma"), "no-cache");
  TokenResponse.required().parse(generated.body);
  assert.match(generated.body.access_token, /^parley_oat_[\w-]{43}$/);
  assert.match(generated.body.refresh_token, /^parley_ort_[\w-]{43}$/);
  assert.equal(generated.body.expires_in, 3600);
  const refreshed = await refresh(app, client, generated.body.refresh_token);
  TokenResponse.required().parse(refreshed.body);
  // As curl sends it when nobody says otherwise: JSON under the type of a form.
  const mislabelled = await ask(
    app,
    "/_/public-api/oauth2/token",
    { grant_type: "refresh_token", refresh_token: refreshed.body.refresh_token, ...credentials(client) },
    { headers: { "content-type": "application/x-www-form-urlencoded" } },
  );
  assert.equal(mislabelled.status, 200, JSON.stringify(mislabelled.body));
});

test("legacy: neither refresh_token nor expires_in, and the token does not expire", async () => {
  const client = await makeClient(app, workspace, { isLegacy: true });
  const { code, verifier } = await obtainCode(app, client, member);
  const { body } = await exchange(app, client, { code, verifier });
  assert.deepEqual(Object.keys(body).sort(), ["access_token", "token_type"]);
  const info = await tokenInfo(body.access_token);
  assert.equal(info.body.type, "oauth");
  assert.equal(info.body.expires_at, null);
  await ask(app, revokePath, { token: body.access_token, ...credentials(client) });
  assert.ok(!(await isActive(app, body.access_token)));
});

test("consent: the user signs in once, is asked each time, sees app and permissions, and can deny", async () => {
  const client = await makeClient(app, workspace, { name: 'Notes <b>"&' });
  const browser = openBrowser(app);
  const first = await browser.get(authorizeUrl(client, { login_hint: member.email }));
  assert.equal(first.status, 200);
  assert.ok(first.html.includes(`value="${member.email}"`));
  const wrong = await browser.submit(first, { email: member.email, password: "guess" });
  assert.equal(wrong.status, 403);
  assert.match(wrong.html, /Incorrect email or password/);
  const back = await decide(browser, authorizeUrl(client), member, "deny");
  assert.equal(back.searchParams.get("error"), "access_denied");
  assert.equal(back.searchParams.get("state"), "st-1");
  assert.equal(back.searchParams.get("iss"), baseUrl);
  assert.equal(back.searchParams.get("code"), null);
  const consent = await browser.get(authorizeUrl(client));
  assert.ok(!consent.html.includes('name="password"'), "who is signed in is not asked for the password");
  for (const text of [
    "Notes &lt;b&gt;&quot;&amp;",
    member.email,
    "app.example.com",
    'name="allow"',
    'name="deny"',
  ])
    assert.ok(consent.html.includes(text), text);
  assert.doesNotMatch(consent.html, /<script/);
  const anew = await browser.get(authorizeUrl(client, { prompt: "login" }));
  assert.ok(anew.html.includes('name="password"'), "prompt=login asks again");
  const after = await browser.submit(anew, { email: admin.email, password: "correct horse battery staple" });
  assert.ok(after.html.includes(admin.email) && after.html.includes('name="allow"'));
});

test("prompt=none: login_required, consent_required, and a code at once for an authorized confidential client", async () => {
  const client = await makeClient(app, workspace);
  const open = await makeClient(app, workspace, { isPublic: true });
  const browser = openBrowser(app);
  const silent = { prompt: "none", code_challenge: "a".repeat(43), code_challenge_method: "S256" };
  const errorOf = async (of: typeof client) =>
    (await browser.get(authorizeUrl(of, silent))).leftTo?.searchParams.get("error");
  assert.equal(await errorOf(client), "login_required");
  await decide(browser, authorizeUrl(client), member, "deny");
  assert.equal(await errorOf(client), "consent_required");
  for (const one of [client, open]) await obtainCode(app, one, member, { browser });
  assert.equal(await errorOf(client), null);
  assert.equal(await errorOf(open), "consent_required", "anybody can claim to be a public client");
});

test("native apps: any port of the registered loopback URI, and custom schemes", async () => {
  const client = await makeClient(app, workspace, {
    isPublic: true,
    redirectUris: ["http://127.0.0.1/done", "http://[::1]/done", "com.example.notes:/done"],
  });
  for (const uri of ["http://127.0.0.1:49152/done", "http://[::1]:50001/done", "com.example.notes:/done"]) {
    const { code, verifier } = await obtainCode(app, client, member, { parameters: { redirect_uri: uri } });
    const reply = await exchange(app, client, { code, verifier }, { redirect_uri: uri });
    assert.equal(reply.status, 200, uri);
  }
});

test("metadata: describes the server, readable by every page", async () => {
  const response = await fetch(`${app.url}/.well-known/oauth-authorization-server`);
  assert.equal(response.headers.get("access-control-allow-origin"), "*");
  const preflight = await fetch(response.url, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example.com",
      "access-control-request-method": "GET",
      "access-control-request-headers": "mcp-protocol-version",
    },
  });
  assert.equal(preflight.headers.get("access-control-allow-headers"), "*");
  const metadata = (await response.json()) as Record<string, unknown>;
  assert.equal(metadata.issuer, baseUrl);
  assert.deepEqual(metadata.code_challenge_methods_supported, ["S256"]);
  assert.deepEqual(metadata.grant_types_supported, ["authorization_code", "refresh_token"]);
  assert.equal(metadata.authorization_response_iss_parameter_supported, true);
  for (const name of ["token_endpoint", "revocation_endpoint"]) {
    const answer = await fetch(toServer(String(metadata[name])), { method: "POST" });
    assert.equal(answer.status, 400, name);
  }
});

test("sweep: removes expired rows and keeps valid ones", async () => {
  const client = await makeClient(app, workspace);
  const old = await obtainTokens(app, client, member);
  const kept = await obtainTokens(app, client, admin);
  await app.db.pool.query(
    "update access_tokens set expires_at = now() - interval '2 days' where type = 'oauth' and user_id = $1",
    [member.id],
  );
  await app.db.pool.query(
    `update oauth_families set last_used_at = now() - interval '200 days'
     where grant_id in (select id from oauth_grants where user_id = $1)`,
    [member.id],
  );
  await app.db.pool.query(
    "update oauth_grants set last_used_at = now() - interval '2 days' where user_id = $1",
    [member.id],
  );
  assert.equal((await refresh(app, client, old.refresh_token)).body.error, "invalid_grant");
  await runJob(app, deleteEndedOauthGrantsKind);
  const { rows } = await app.db.pool.query("select id from oauth_grants where user_id = $1", [member.id]);
  assert.deepEqual(rows, [], "the grant of the idle family is gone");
  assert.ok(await isActive(app, kept.access_token));
  assert.equal((await refresh(app, client, kept.refresh_token)).status, 200);
});

test("successful sign-ins from one IP address are never throttled", async () => {
  const client = await makeClient(app, workspace);
  for (let count = 0; count < 30; count += 1) await decide(openBrowser(app), authorizeUrl(client), member);
});
