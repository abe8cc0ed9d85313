import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { insertRecording } from "../../../test/support/factories.ts";
import {
  ask,
  makeClient,
  makeOAuthWorkspace,
  obtainCode,
  obtainTokens,
  openSignedIn,
  type TestClient,
  tokenPath,
} from "../../../test/support/oauth.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeOAuthWorkspace(app);
const client = await makeClient(app, workspace, { corsOrigins: ["https://page.example"] });
const { access_token } = await obtainTokens(app, client, workspace.member);
const recordings = `${app.url}/_/public-api/v2/recordings`;

const preflight = (url: string, origin: string) =>
  fetch(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,public-api-version",
    },
  });

const list = (origin: string, headers: Record<string, string>) =>
  fetch(recordings, {
    method: "POST",
    headers: { origin, "public-api-version": "2026-10-01", "sec-fetch-site": "cross-site", ...headers },
  });

const originOf = ({ headers }: Response) => headers.get("access-control-allow-origin");

test("CORS: pages of registered origins can call the API with a token, others and cookies can't", async () => {
  for (const path of [recordings, `${app.url}/_/api/v1/tokens`, `${app.url}/mcp`]) {
    const allowed = await preflight(path, "https://page.example");
    assert.deepEqual([allowed.status, originOf(allowed)], [204, "https://page.example"]);
    const names = allowed.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of ["authorization", "content-type", "public-api-version"])
      assert.ok(names.includes(name));
    const refused = await preflight(path, "https://evil.example");
    assert.equal(originOf(refused), null);
    for (const response of [allowed, refused])
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
  }

  const listed = await list("https://page.example", { authorization: `Bearer ${access_token}` });
  assert.deepEqual([listed.status, originOf(listed)], [200, "https://page.example"]);
  assert.match(listed.headers.get("vary") ?? "", /origin/);
  // Refusals can be read too.
  const expired = await list("https://page.example", { authorization: "Bearer wrong" });
  assert.deepEqual([expired.status, originOf(expired)], [401, "https://page.example"]);
  assert.equal(
    originOf(await list("https://evil.example", { authorization: `Bearer ${access_token}` })),
    null,
  );

  const browser = await openSignedIn(app, workspace.member);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const withCookie = await list("https://page.example", { cookie });
  assert.equal(withCookie.status, 403);
  assert.equal(withCookie.headers.get("access-control-allow-credentials"), null);
});

test("CORS: pages of registered origins can read what the assistants' tools return, with the headers of every response", async () => {
  const limited = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "100" } });
  const team = await makeOAuthWorkspace(limited);
  const page = await makeClient(limited, team, { corsOrigins: ["https://page.example"] });
  const tokens = await obtainTokens(limited, page, team.member);
  const listTools = (origin: string) =>
    fetch(`${limited.url}/mcp`, {
      method: "POST",
      headers: {
        origin,
        authorization: `Bearer ${tokens.access_token}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  const response = await listTools("https://page.example");
  assert.deepEqual([response.status, originOf(response)], [200, "https://page.example"]);
  assert.match(await response.text(), /list_recordings/);
  const { headers } = response;
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.match(headers.get("access-control-expose-headers") ?? "", /x-request-id/);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.match(headers.get("x-request-id") ?? "", /./);
  assert.equal(headers.get("x-ratelimit-limit"), "100");
  assert.match(headers.get("x-ratelimit-remaining") ?? "", /^\d+$/);
  assert.equal(originOf(await listTools("https://evil.example")), null);
});

test("CORS: a page can follow the redirect of a download, with the headers it sent, and read errors", async () => {
  const recordingId = await insertRecording(app.db, { recorderId: workspace.member.id });
  await app.store.put(recordingObjectKey(recordingId, "media.mp4"), Buffer.from("a file"), {});
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
    [recordingId],
  );
  const headers = {
    origin: "https://page.example",
    authorization: `Bearer ${access_token}`,
    "public-api-version": "2026-10-01",
  };
  const redirect = await fetch(`${recordings}/${recordingId}/download`, { headers, redirect: "manual" });
  assert.deepEqual([redirect.status, originOf(redirect)], [302, "https://page.example"]);
  const url = (redirect.headers.get("location") ?? "").replace("http://parley.test", app.url);
  for (const path of [
    url,
    `${app.url}/_/media/recordings/${recordingId}/thumbnail.jpg`,
    `${app.url}/_/media/recordings/${recordingId}/files/waveform.json`,
  ]) {
    const allowed = await fetch(path, {
      method: "OPTIONS",
      headers: {
        origin: "https://page.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization,public-api-version,range",
      },
    });
    assert.deepEqual([allowed.status, originOf(allowed)], [204, "*"], path);
    const names = allowed.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of ["authorization", "public-api-version", "range"]) assert.ok(names.includes(name));
  }
  const file = await fetch(url, { headers });
  assert.deepEqual([file.status, originOf(file), await file.text()], [200, "*", "a file"]);
  const refused = await fetch(url.replace(/signature=\w+/, "signature=0"), { headers });
  assert.deepEqual([refused.status, originOf(refused)], [403, "*"]);
});

test("CORS: the origins of a self-registered app count once a user has authorized it", async () => {
  const redirects = ["https://self.example/callback", "https://other.example/callback"];
  const registered = await ask(app, "/_/public-api/oauth2/register", {
    redirect_uris: redirects,
    token_endpoint_auth_method: "none",
  });
  const self = { id: registered.body.client_id, secret: null } as TestClient;
  assert.equal(originOf(await preflight(recordings, "https://self.example")), null);
  assert.equal(originOf(await preflight(app.url + tokenPath, "https://self.example")), null);
  await obtainCode(app, self, workspace.member, { parameters: { redirect_uri: redirects[0] } });
  for (const path of [recordings, app.url + tokenPath])
    assert.equal(originOf(await preflight(path, "https://other.example")), "https://other.example");
});
