import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import {
  ask,
  authorizeUrl,
  exchange,
  makeOAuthWorkspace,
  makePkce,
  openSignedIn,
  type TestClient,
} from "../../../test/support/oauth.ts";

const app = await startTestApp({ worker: false });
const strict = await startTestApp({ worker: false, env: { PARLEY_OAUTH_REDIRECT_SCHEMES: "none" } });
const { member } = await makeOAuthWorkspace(app);
const registerPath = "/_/public-api/oauth2/register";
const uri = "cursor://anysphere.cursor-mcp/oauth/callback";

test("a public app that registers itself can return to an editor by a scheme in the setting, with PKCE and consent", async () => {
  const registered = await ask(app, registerPath, {
    redirect_uris: [uri],
    token_endpoint_auth_method: "none",
  });
  assert.equal(registered.status, 201);
  const editor = { id: registered.body.client_id, secret: null } as TestClient;
  const { challenge, verifier } = makePkce();
  const asked = { code_challenge: challenge, code_challenge_method: "S256", redirect_uri: uri };
  const browser = await openSignedIn(app, member);
  const withoutPkce = await browser.get(authorizeUrl(editor, { redirect_uri: uri }));
  assert.match(withoutPkce.html, /code_challenge is missing/);
  const other = await browser.get(authorizeUrl(editor, { ...asked, redirect_uri: `${uri}/other` }));
  assert.match(other.html, /not registered/);
  const consent = await browser.get(authorizeUrl(editor, asked));
  assert.match(consent.html, /the app on this device that handles cursor:/);
  assert.match(consent.headers.get("content-security-policy") ?? "", /form-action 'self' cursor:/);
  const back = (await browser.submit(consent, { allow: "1" })).leftTo;
  assert.ok(back?.href.startsWith(`${uri}?`), String(back));
  const code = back?.searchParams.get("code") ?? "";
  assert.equal((await exchange(app, editor, { code, verifier })).status, 200);
});

test("other schemes, confidential apps and a server without such schemes refuse the registration", async () => {
  for (const [redirect, method, on] of [
    ["editor://callback", "none", app],
    ["javascript:alert(1)", "none", app],
    [`${uri}#top`, "none", app],
    [uri, "client_secret_post", app],
    [uri, "none", strict],
  ] as const) {
    const metadata = { redirect_uris: [redirect], token_endpoint_auth_method: method };
    const reply = await ask(on, registerPath, metadata);
    assert.deepEqual([reply.status, reply.body.error], [400, "invalid_redirect_uri"], redirect);
  }
});
