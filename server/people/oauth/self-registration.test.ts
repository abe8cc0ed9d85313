import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp, type TestApp } from "../../../test/support/app.ts";
import {
  type HookBehaviour,
  receiverCertificate,
  startHookReceiver,
} from "../../../test/support/hook-receiver.ts";
import {
  ask,
  authorizeUrl,
  decide,
  exchange,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  makePkce,
  openBrowser,
  openSignedIn,
  redirectUri,
  refresh,
  type TestClient,
  tokenPath,
} from "../../../test/support/oauth.ts";
import { sweepOAuth } from "./sweep.ts";

/**
 * Apps that register themselves, and the attacks that the authorization specification of the Model Context Protocol lists;
 * docs/decisions/0013-oauth.md lists both.
 */
const app = await startTestApp({
  worker: false,
  trustedCertificate: receiverCertificate(),
  documentAddresses: "127.0.0.0/8",
});
const workspace = await makeOAuthWorkspace(app);
const { member } = workspace;
const registerPath = "/_/public-api/oauth2/register";
const mcp = `${app.config.baseUrl}/mcp`;

const documents = await startHookReceiver({ tls: true });
const documentUrl = (path: string): string => `https://127.0.0.1:${documents.port}${path}`;

/** Serves a document; its client_id is its URL unless stated. */
function serve(
  path: string,
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): string {
  const url = documentUrl(path);
  const body = JSON.stringify({
    client_id: url,
    client_name: "Remote",
    redirect_uris: [redirectUri],
    ...fields,
  });
  const respond: HookBehaviour = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(body);
  };
  documents.at(path, respond);
  return url;
}

async function register(on: TestApp, metadata: Record<string, unknown> = {}): Promise<TestClient> {
  const reply = await ask(on, registerPath, {
    client_name: "Assistant",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
    ...metadata,
  });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return { id: reply.body.client_id, secret: reply.body.client_secret ?? null } as TestClient;
}

async function authorize(client: { id: string }, parameters: Record<string, string | undefined> = {}) {
  const { verifier, challenge } = makePkce();
  const path = authorizeUrl(client, {
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...parameters,
  });
  const back = await decide(await openSignedIn(app, member), path, member);
  return { code: back.searchParams.get("code") ?? "", verifier, back };
}

const listTools = (token: string): Promise<Response> =>
  fetch(`${app.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });

test("registration: public and confidential apps get what RFC 7591 says, and users of any workspace can authorize them", async () => {
  const reply = await ask(app, registerPath, {
    client_name: "  Notes\u202e\n app ",
    redirect_uris: [redirectUri, "http://127.0.0.1/done", "http://localhost/done"],
    token_endpoint_auth_method: "none",
    logo_uri: "https://evil.example/logo.png",
  });
  assert.equal(reply.status, 201);
  const { client_id, client_id_issued_at, ...rest } = reply.body;
  assert.ok(Math.abs(client_id_issued_at - Date.now() / 1000) < 60);
  assert.deepEqual(rest, {
    client_name: "Notes app",
    redirect_uris: [redirectUri, "http://127.0.0.1/done", "http://localhost/done"],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
  for (const parameters of [{}, { redirect_uri: "http://localhost:7001/done" }])
    assert.notEqual((await authorize({ id: client_id }, parameters)).code, "");

  const confidential = await register(app, { token_endpoint_auth_method: "client_secret_post" });
  assert.match(confidential.secret ?? "", /^parley_/);
  const tokens = await exchange(app, confidential, await authorize(confidential));
  assert.equal(tokens.status, 200);
  assert.equal(await isActive(app, tokens.body.access_token), true);
  assert.equal(
    (await refresh(app, { ...confidential, secret: "wrong" }, tokens.body.refresh_token)).status,
    401,
  );
});

test("registration: unsafe redirect URIs and unsupported metadata are refused", async () => {
  for (const uri of [
    "http://app.example.com/callback",
    "https://app.example.com/callback#top",
    "javascript:alert(1)",
    "editor://callback",
    "https://*.example.com/callback",
    "https://user:secret@app.example.com/",
    "/callback",
  ]) {
    const reply = await ask(app, registerPath, { redirect_uris: [uri], token_endpoint_auth_method: "none" });
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_redirect_uri"], uri);
  }
  for (const metadata of [
    { token_endpoint_auth_method: "private_key_jwt" },
    { grant_types: ["client_credentials"] },
    { response_types: ["token"] },
  ]) {
    const reply = await ask(app, registerPath, { redirect_uris: [redirectUri], ...metadata });
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_client_metadata"]);
  }
  assert.equal((await ask(app, registerPath, {})).body.error, "invalid_redirect_uri");
});

test("consent: a self-registered app is marked, with the host that gets the access, and is never silent", async () => {
  const client = await register(app, {
    client_name: "Parley Official",
    token_endpoint_auth_method: "client_secret_basic",
  });
  const browser = await openSignedIn(app, member);
  const { challenge } = makePkce();
  const asked = { code_challenge: challenge, code_challenge_method: "S256" };
  const page = await browser.get(authorizeUrl(client, { ...asked, resource: mcp }));
  assert.match(page.html, /registered itself, and nobody has checked its name/);
  assert.match(page.html, /sends your access to <strong>app\.example\.com<\/strong>/);
  // The tools for assistants only read.
  assert.doesNotMatch(page.html, /upload recordings/);
  await authorize(client);
  const silent = await browser.get(authorizeUrl(client, { ...asked, prompt: "none" }));
  assert.match(silent.html, /consent_required/);
  const bare = await browser.get(authorizeUrl(client));
  assert.match(bare.html, /code_challenge is missing/);

  // Before the password is asked for, the name is no less dubious.
  const signIn = await openBrowser(app).get(authorizeUrl(client, asked));
  assert.match(signIn.html, /name="password"/);
  assert.match(signIn.html, /nobody has checked its name[\s\S]+<strong>app\.example\.com<\/strong>/);
});

test("a document at the client_id describes an app: it is fetched once, and its host is shown", async () => {
  const url = serve("/app.json", {}, { "cache-control": "max-age=3600" });
  const before = documents.requests.length;
  const client = { id: url, secret: null } as TestClient;
  const browser = await openSignedIn(app, member);
  const { challenge } = makePkce();
  const page = await browser.get(
    authorizeUrl(client, { code_challenge: challenge, code_challenge_method: "S256" }),
  );
  assert.match(page.html, new RegExp(`described by <strong>127\\.0\\.0\\.1:${documents.port}</strong>`));
  const tokens = await exchange(app, client, await authorize(client));
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  assert.equal((await refresh(app, client, tokens.body.refresh_token)).status, 200);
  assert.equal(documents.requests.length, before + 1);
  assert.equal(documents.requests.at(-1)?.headers.authorization, undefined);

  // By the id of its row, the document would never be fetched again.
  const { rows } = await app.db.pool.query("select id from oauth_clients where metadata_url = $1", [url]);
  const byRow = { id: rows[0].id, secret: null } as TestClient;
  assert.match((await browser.get(authorizeUrl(byRow))).html, /not registered here/);
  assert.equal((await refresh(app, byRow, tokens.body.refresh_token)).body.error, "invalid_client");

  // A withdrawn redirect URI is refused as soon as the document has to be fetched again.
  serve("/app.json", { redirect_uris: ["https://app.example.com/new"] });
  await app.db.pool.query(
    "update oauth_clients set metadata_expires_at = now() - interval '1 second' where metadata_url = $1",
    [url],
  );
  const moved = await browser.get(authorizeUrl(client));
  assert.equal(moved.status, 400);
  assert.match(moved.html, /a URL that is not registered/);
});

test("authorized apps: self-registered ones are marked for their user and for admins, with their URIs", async () => {
  const own = await makeOAuthWorkspace(app);
  const authorizeBy = async (client: { id: string }) => {
    const { challenge } = makePkce();
    const path = authorizeUrl(client, { code_challenge: challenge, code_challenge_method: "S256" });
    await decide(await openSignedIn(app, own.member), path, own.member);
  };
  await authorizeBy(await makeClient(app, own));
  await authorizeBy(await register(app, { client_name: "Assistant" }));
  const url = serve("/listed.json");
  await authorizeBy({ id: url });
  const grants = async (token: string, query = "") =>
    (await call(app, "GET", `/_/api/v1/oauth/grants${query}`, undefined, { token, version: null })).body
      .grants;
  const listed = await grants(own.member.token);
  assert.deepEqual(
    listed.map((grant: Record<string, unknown>) => [
      grant.client_name,
      grant.self_registered,
      grant.client_metadata_url,
      grant.redirect_uris,
    ]),
    [
      ["Remote", true, url, [redirectUri]],
      ["Assistant", true, null, [redirectUri]],
      ["Harbour notes", false, null, [redirectUri]],
    ],
  );
  assert.deepEqual(await grants(own.admin.token), []);
  assert.deepEqual(await grants(own.admin.token, "?of=workspace"), listed);
  // Apps of other workspaces are not listed.
  assert.deepEqual(await grants((await makeOAuthWorkspace(app)).admin.token, "?of=workspace"), []);
});

test("SSRF: documents come from allowed IP addresses only, without redirects, within bounds, and reveal nothing", async () => {
  const strict = await startTestApp({
    worker: false,
    trustedCertificate: receiverCertificate(),
    // For webhooks of users, not for everyone.
    env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
  });
  serve("/inside.json");
  const before = documents.requests.length;
  for (const id of [
    documentUrl("/inside.json"),
    `https://localhost:${documents.port}/inside.json`,
    `https://[::1]:${documents.port}/inside.json`,
    `https://2130706433:${documents.port}/inside.json`,
    "https://169.254.169.254/latest/meta-data",
    "http://app.example.com/app.json",
    "https://app.example.com/",
    "https://app.example.com/a/../app.json",
    "https://user@app.example.com/app.json",
    "https://app.example.com:22/app.json",
    "file:///etc/passwd",
  ]) {
    const response = await fetch(strict.url + authorizeUrl({ id }), { redirect: "manual" });
    assert.equal(response.status, 400, id);
    assert.match(
      await response.text(),
      /<p>The app(&#39;s description at [^ ]+ can&#39;t be read| in this URL is not)/,
      id,
    );
  }
  assert.equal(documents.requests.length, before);

  const json = { "content-type": "application/json" };
  const evil: [string, number, Record<string, string>, string][] = [
    ["/redirect.json", 302, { location: documentUrl("/inside.json") }, ""],
    ["/large.json", 200, json, `"${"x".repeat(20_000)}"`],
    ["/secret.txt", 200, { "content-type": "text/plain" }, "hidden words"],
    ["/broken.json", 200, json, "hidden words"],
    ["/missing.json", 404, {}, "hidden words"],
  ];
  for (const [path, status, headers, body] of evil) {
    documents.at(path, (_request, response) => void response.writeHead(status, headers).end(body));
    const response = await fetch(app.url + authorizeUrl({ id: documentUrl(path) }), { redirect: "manual" });
    assert.equal(response.status, 400, path);
    assert.match(await response.text(), /<p>The app&#39;s description at [^ ]+ can&#39;t be read\.<\/p>/);
  }
  for (const [path, fields] of [
    ["/other.json", { client_id: "https://app.example.com/app.json" }],
    ["/secretful.json", { token_endpoint_auth_method: "client_secret_post" }],
    ["/unsafe.json", { redirect_uris: ["http://evil.example/"] }],
  ] as const)
    assert.equal((await fetch(app.url + authorizeUrl({ id: serve(path, fields) }))).status, 400, path);
});

test("audience: a token for the assistants' tools is refused by the API, and another server's resource is no target", async () => {
  const client = await register(app);
  const restricted = await exchange(app, client, await authorize(client, { resource: mcp }), {
    resource: mcp,
  });
  assert.equal(restricted.status, 200, JSON.stringify(restricted.body));
  assert.equal((await listTools(restricted.body.access_token)).status, 200);
  assert.equal(await isActive(app, restricted.body.access_token), false);
  const managed = await call(app, "GET", "/_/api/v1/session", undefined, {
    token: restricted.body.access_token,
  });
  assert.equal(managed.status, 401);
  assert.match(managed.headers.get("www-authenticate") ?? "", /error="invalid_token"/);

  const wider = await ask(app, tokenPath, {
    grant_type: "refresh_token",
    refresh_token: restricted.body.refresh_token,
    client_id: client.id,
    resource: app.config.baseUrl,
  });
  assert.deepEqual([wider.status, wider.body.error], [400, "invalid_target"]);
  const again = await refresh(app, client, restricted.body.refresh_token);
  assert.equal(await isActive(app, again.body.access_token), false);

  for (const resource of ["https://evil.example/mcp", `${mcp}/other`, `${mcp}#top`, "mcp"]) {
    const page = await (await openSignedIn(app, member)).get(
      authorizeUrl(client, { resource, code_challenge: makePkce().challenge, code_challenge_method: "S256" }),
    );
    assert.match(page.html, /invalid_target/, resource);
  }
  const whole = await authorize(client, { resource: app.config.baseUrl });
  const foreign = await exchange(app, client, whole, { resource: "https://evil.example/mcp" });
  assert.deepEqual([foreign.status, foreign.body.error], [400, "invalid_target"]);
  const narrowed = await exchange(app, client, whole, { resource: mcp });
  assert.equal(await isActive(app, narrowed.body.access_token), false);
});

test("token passthrough: tokens of other servers are refused, and no token of a caller leaves the server", async () => {
  for (const token of ["eyJhbGciOiJub25lIn0.eyJhdWQiOiJvdGhlciJ9.", `parley_oat_${"x".repeat(43)}`])
    assert.equal((await listTools(token)).status, 401);
  assert.ok(documents.requests.every(({ headers }) => headers.authorization === undefined));
});

test("confused deputy: a consent for one app gives another nothing, and every app is asked about", async () => {
  const [trusted, evil] = [
    await register(app),
    await register(app, { redirect_uris: ["https://evil.example/cb"] }),
  ];
  await authorize(trusted);
  const page = await (await openSignedIn(app, member)).get(
    authorizeUrl(evil, {
      redirect_uri: "https://evil.example/cb",
      code_challenge: makePkce().challenge,
      code_challenge_method: "S256",
    }),
  );
  assert.match(page.html, /name="allow"/);
  const wrong = await exchange(app, evil, await authorize(trusted));
  assert.deepEqual([wrong.status, wrong.body.error], [400, "invalid_grant"]);
});

test("open redirect and mix-up: only registered URIs are redirected to, always with the issuer", async () => {
  const client = await register(app);
  for (const redirect of ["https://evil.example/", `${redirectUri}/..`, `${redirectUri}?x=1`]) {
    const page = await (await openSignedIn(app, member)).get(
      authorizeUrl(client, { redirect_uri: redirect }),
    );
    assert.deepEqual([page.status, page.leftTo], [400, null]);
  }
  // Errors that no user decided about stay here too: anyone can register a URL.
  const asked = { code_challenge: makePkce().challenge, code_challenge_method: "S256" };
  for (const wrong of [{ response_type: "x" }, { ...asked, prompt: "none" }, { ...asked, resource: "mcp" }]) {
    const page = await openBrowser(app).get(authorizeUrl(client, wrong));
    assert.deepEqual([page.status, page.leftTo], [400, null]);
    assert.match(page.html, /Return to app\.example\.com<\/a>/);
    assert.match(page.html, /href="https:\/\/app\.example\.com\/callback\?error=[^"]+state=st-1&amp;iss=/);
  }
  assert.equal((await authorize(client)).back.searchParams.get("iss"), app.config.baseUrl);
  const metadata = await (await fetch(`${app.url}/.well-known/oauth-authorization-server`)).json();
  assert.equal((metadata as { issuer: string }).issuer, app.config.baseUrl);
});

test("the workspace switch refuses self-registered apps and revokes their access, not that of registered apps", async () => {
  const own = await makeOAuthWorkspace(app);
  const client = await register(app);
  const registered = await makeClient(app, own);
  const grantTo = async (to: TestClient) => {
    const { verifier, challenge } = makePkce();
    const path = authorizeUrl(to, { code_challenge: challenge, code_challenge_method: "S256" });
    const back = await decide(await openSignedIn(app, own.member), path, own.member);
    return exchange(app, to, { code: back.searchParams.get("code") ?? "", verifier });
  };
  const [selfMade, adminMade] = [await grantTo(client), await grantTo(registered)];
  const elsewhere = await exchange(app, client, await authorize(client));
  const off = await call(
    app,
    "PATCH",
    "/_/api/v1/workspace",
    { self_registered_apps: false },
    { token: own.admin.token },
  );
  assert.equal(off.body.self_registered_apps, false);
  assert.deepEqual(
    await Promise.all([selfMade, adminMade, elsewhere].map(({ body }) => isActive(app, body.access_token))),
    [false, true, true],
  );
  const page = await (await openSignedIn(app, own.member)).get(
    authorizeUrl(client, { code_challenge: makePkce().challenge, code_challenge_method: "S256" }),
  );
  assert.equal(page.status, 403);
  assert.match(page.html, /allows only apps that an admin registered/);
});

test("PARLEY_OAUTH_REGISTRATION=off: no endpoint, no documents, and nothing in the metadata", async () => {
  const closed = await startTestApp({ worker: false, env: { PARLEY_OAUTH_REGISTRATION: "off" } });
  assert.equal((await ask(closed, registerPath, { redirect_uris: [redirectUri] })).status, 404);
  const metadata = await (await fetch(`${closed.url}/.well-known/oauth-authorization-server`)).json();
  assert.equal("registration_endpoint" in (metadata as object), false);
  assert.equal("client_id_metadata_document_supported" in (metadata as object), false);
  const { rows } = await closed.db.pool.query(
    `insert into oauth_clients (id, name, is_public, is_legacy, redirect_uris)
     values (gen_random_uuid(), 'Earlier', true, false, $1) returning id`,
    [[redirectUri]],
  );
  for (const id of [rows[0].id, "https://app.example.com/app.json"]) {
    const page = await fetch(closed.url + authorizeUrl({ id }), { redirect: "manual" });
    assert.match(await page.text(), /not registered here/);
  }
});

test("limits: registrations and lookups of one IP address are refused beyond 20 a minute, and unused ones expire", async () => {
  const own = await startTestApp({
    worker: false,
    trustedCertificate: receiverCertificate(),
    documentAddresses: "127.0.0.0/8",
    env: { PARLEY_TRUSTED_PROXIES: "127.0.0.1" },
  });
  const lookUp = async (id: string, ip: string) =>
    (await fetch(own.url + authorizeUrl({ id }), { headers: { "x-forwarded-for": ip } })).text();
  const lookups = await Promise.all(
    Array.from({ length: 24 }, (_, index) => lookUp(documentUrl(`/unknown-${index}.json`), "192.0.2.1")),
  );
  assert.ok(lookups.some((html) => html.includes("Too many apps")) || new Date().getSeconds() < 10);
  // One client doesn't block the host's apps for the others.
  assert.match(await lookUp(serve("/wanted.json"), "192.0.2.2"), /code_challenge is missing/);

  const replies = await Promise.all(
    Array.from({ length: 24 }, () => ask(own, registerPath, { redirect_uris: [redirectUri] })),
  );
  const refused = replies.filter(({ status }) => status === 429);
  // A new minute may have begun meanwhile.
  if (refused.length === 0) assert.ok(new Date().getSeconds() < 10);
  for (const { headers, body } of refused) {
    assert.equal(body.error, "slow_down");
    assert.ok(Number(headers.get("retry-after")) >= 1);
  }
  const { rows } = await own.db.pool.query(
    "update oauth_clients set updated_at = now() - interval '31 days' returning id",
  );
  assert.ok(rows.length >= 20);
  const kept = await own.db.pool.query(
    "update oauth_clients set updated_at = now() where id = $1 returning id",
    [rows[0].id],
  );
  await sweepOAuth(own.db);
  assert.deepEqual((await own.db.pool.query("select id from oauth_clients")).rows, kept.rows);
});
