import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser } from "../../../../test/support/factories.ts";
import {
  authorizeUrl,
  decide,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  openBrowser,
  openSignedIn,
  redirectUri,
  refresh,
  type TestClient,
} from "../../../../test/support/oauth.ts";
import { revokeGrantsOfUser } from "../../accounts/tokens/oauth-grants.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_PAGE_SIZE: "2" } });
const workspace = await makeOAuthWorkspace(app);
const other = await makeOAuthWorkspace(app);
const { admin, member } = workspace;
const clientsPath = "/_/api/v1/oauth/clients";
const grantsPath = "/_/api/v1/oauth/grants";

const asAdmin = (method: string, path: string, body?: unknown) =>
  call(app, method, path, body, { token: admin.token });

async function register(body: Record<string, unknown>): Promise<TestClient> {
  const answer = await asAdmin("POST", clientsPath, body);
  assert.equal(answer.status, 200, answer.text);
  return { id: answer.body.client_id, secret: answer.body.client_secret, row: null as never };
}

test("clients: created with a secret shown once, read, updated, listed in pages, deleted", async () => {
  const client = await register({
    name: " Notes ",
    redirect_uris: [redirectUri, redirectUri],
    cors_origins: ["https://app.example.com"],
  });
  assert.match(client.secret ?? "", /^parley_ocs_[\w-]{43}$/);
  const path = `${clientsPath}/${client.id}`;
  const read = await asAdmin("GET", path);
  assert.equal(read.body.name, "Notes");
  assert.deepEqual(read.body.redirect_uris, [redirectUri]);
  assert.deepEqual([read.body.public, read.body.legacy], [false, false]);
  assert.ok(!("client_secret" in read.body));
  const tokens = await obtainTokens(app, client, member);
  const changed = await asAdmin("PATCH", path, { name: "New name", redirect_uris: ["https://b.example/cb"] });
  assert.deepEqual([changed.body.name, changed.body.redirect_uris], ["New name", ["https://b.example/cb"]]);
  assert.equal((await openBrowser(app).get(authorizeUrl(client))).status, 400, "the old address is gone");
  assert.ok(await isActive(app, tokens.access_token));

  for (const name of ["Two", "Three"]) await register({ name, redirect_uris: [redirectUri] });
  const names: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `?cursor=${cursor}`;
    const page = await asAdmin("GET", clientsPath + query);
    assert.ok(page.body.clients.length <= 2);
    names.push(...page.body.clients.map((one: { name: string }) => one.name));
    cursor = page.body.cursor;
  } while (cursor !== null);
  assert.deepEqual(names, ["Three", "Two", "New name"]);

  assert.deepEqual((await asAdmin("DELETE", path)).body, { success: true });
  assert.ok(!(await isActive(app, tokens.access_token)), "its tokens end with it");
  assert.equal((await refresh(app, client, tokens.refresh_token)).body.error, "invalid_client");
  assert.equal((await asAdmin("GET", path)).status, 404);
  assert.equal((await asAdmin("DELETE", path)).status, 404);
});

test("clients: how date filters of an app's tokens are read can be changed, also for tokens in use", async () => {
  const client = await register({ name: "Dates", redirect_uris: [redirectUri] });
  const { access_token: token } = await obtainTokens(app, client, member);
  // Of the two readings, each excludes everything where the other finds recordings.
  const warningOf = async (filter: object): Promise<string | null> => {
    const answer = await call(app, "POST", "/_/public-api/v2/recordings", { filter }, { token });
    assert.equal(answer.status, 200, answer.text);
    return answer.headers.get("warning");
  };
  const byName = { after_datetime: "2026-03-02T00:00:00Z", before_datetime: "2026-03-03T00:00:00Z" };
  assert.match((await warningOf(byName)) ?? "", /datetime_filters=by-name/);
  const path = `${clientsPath}/${client.id}`;
  const changed = await asAdmin("PATCH", path, { datetime_filters: "by-name" });
  assert.equal(changed.body.datetime_filters, "by-name");
  assert.doesNotMatch((await warningOf(byName)) ?? "", /exclude every recording/);
  assert.equal((await asAdmin("PATCH", path, { datetime_filters: "reversed" })).status, 400);
});

test("clients: unsafe URIs and origins are refused, each with its JSON pointer", async () => {
  const bad: [string, boolean][] = [
    ["http://app.example.com/cb", false],
    ["https://app.example.com/cb#x", false],
    ["https://user:pw@app.example.com/cb", false],
    ["https://app.example.com/cb?code=1", false],
    ["javascript:alert(1)", true],
    ["data:text/html,x", true],
    ["file:///etc/passwd", true],
    ["intent:x", true],
    ["vbscript.x:run", true],
    ["view-source.x:y", true],
    ["file.x:/etc/passwd", true],
    ["about.x:blank", true],
    ["javascript.x:alert(1)", true],
    ["data.x:text/html,x", true],
    ["blob.x:y", true],
    ["filesystem.x:y", true],
    ["chrome.x:settings", true],
    ["chrome-extension.x:y", true],
    ["edge.x:settings", true],
    ["ms-settings.x:y", true],
    ["intent.x:y", true],
    ["android.app:y", true],
    ["com:/cb", true],
    ["com.:/cb", true],
    ["com..example:/cb", true],
    ["127.0.0.1:/cb", true],
    ["localhost.app:/cb", true],
    ["com.example.app:/cb", false],
    ["/callback", false],
    ["https://app.example.com/\\evil", false],
    ["https://app.example.com/c b", false],
    ["https://bücher.example/cb", false],
    ["https:evil", false],
    ["https:/evil.example/cb", false],
    ["HTTPS://app.example.com/cb", false],
    ["http:127.0.0.1/cb", true],
    ["https://*.example.com/cb", false],
    ["https://app.example.com/*", false],
    ["", false],
  ];
  for (const [uri, isPublic] of bad) {
    const answer = await asAdmin("POST", clientsPath, {
      name: "x",
      redirect_uris: ["https://good.example/", uri],
      public: isPublic,
    });
    assert.equal(answer.status, 400, uri);
    assert.deepEqual(
      answer.body.violations.map(({ pointer }: { pointer: string }) => pointer),
      ["/redirect_uris/1"],
      uri,
    );
  }
  for (const origin of [
    "*",
    "null",
    "https://a.example/",
    "https://a.example/x",
    "http://a.example",
    "a.example",
    "https://*.example.com",
  ]) {
    const answer = await asAdmin("POST", clientsPath, {
      name: "x",
      redirect_uris: [redirectUri],
      cors_origins: [origin],
    });
    assert.equal(answer.body.violations?.[0]?.pointer, "/cors_origins/0", origin);
  }
  for (const body of [
    { name: "x" },
    { name: "x", redirect_uris: [] },
    { name: " ", redirect_uris: [redirectUri] },
  ])
    assert.equal((await asAdmin("POST", clientsPath, body)).status, 400);
  const native = [
    "http://127.0.0.1/cb",
    "http://[::1]/cb",
    "http://localhost:3000/cb",
    "com.example.app:/cb",
  ];
  await register({ name: "native", public: true, redirect_uris: native });
});

test("rotating a secret: the old one ends at once or after the requested overlap", async () => {
  const client = await register({ name: "x", redirect_uris: [redirectUri] });
  const path = `${clientsPath}/${client.id}/rotate-secret`;
  let tokens = await obtainTokens(app, client, member);
  const kept = await asAdmin("POST", path, { overlap_sec: 600 });
  assert.ok(Date.parse(kept.body.previous_secret_until) > Date.now());
  for (const secret of [client.secret, kept.body.client_secret]) {
    const reply = await refresh(app, { ...client, secret }, tokens.refresh_token);
    assert.equal(reply.status, 200);
    tokens = reply.body;
  }
  const ended = await asAdmin("POST", path, {});
  assert.equal(ended.body.previous_secret_until, null);
  for (const secret of [client.secret, kept.body.client_secret]) {
    const reply = await refresh(app, { ...client, secret }, tokens.refresh_token);
    assert.equal(reply.body.error, "invalid_client");
  }
  const now = { ...client, secret: ended.body.client_secret };
  assert.equal((await refresh(app, now, tokens.refresh_token)).status, 200);
  const open = await register({ name: "x", public: true, redirect_uris: [redirectUri] });
  assert.equal((await asAdmin("POST", `${clientsPath}/${open.id}/rotate-secret`, {})).status, 409);
});

test("clients: only admins of the workspace; members get 403, other workspaces 404", async () => {
  const client = await makeClient(app, workspace);
  const path = `${clientsPath}/${client.id}`;
  const operations: [string, string, unknown][] = [
    ["GET", path, undefined],
    ["PATCH", path, { name: "taken" }],
    ["POST", `${path}/rotate-secret`, {}],
    ["DELETE", path, undefined],
  ];
  for (const [method, address, body] of operations) {
    for (const token of [member.token, workspace.token])
      assert.equal((await call(app, method, address, body, { token })).status, 403, `${method} ${address}`);
    const foreign = await call(app, method, address, body, { token: other.admin.token });
    assert.equal(foreign.status, 404, `${method} ${address}`);
  }
  assert.equal((await asAdmin("GET", path)).body.name, "Harbour notes");
  const listed = await call(app, "GET", clientsPath, undefined, { token: other.admin.token });
  assert.deepEqual(listed.body, { clients: [], cursor: null });
});

test("grants: users list and revoke their authorized apps, admins those of their workspace", async () => {
  const person = await makeUser(app.db, workspace);
  const list = (token: string, query = "") => call(app, "GET", grantsPath + query, undefined, { token });
  const [one, two] = [await makeClient(app, workspace), await makeClient(app, workspace, { name: "Two" })];
  const tokens = await obtainTokens(app, one, person);
  await obtainTokens(app, one, person);
  const others = await obtainTokens(app, two, person);
  const { body } = await list(person.token);
  assert.deepEqual(
    body.grants.map((grant: Record<string, unknown>) => [grant.client_name, grant.sign_ins, grant.user_id]),
    [
      ["Two", 1, person.id],
      ["Harbour notes", 2, person.id],
    ],
  );
  const grantPath = `${grantsPath}/${body.grants[1].id}`;
  assert.equal((await list(member.token, `?user_id=${person.id}`)).status, 403);
  assert.deepEqual((await list(admin.token, `?user_id=${person.id}`)).body, body);
  assert.equal((await list(other.admin.token, `?user_id=${person.id}`)).status, 404);
  for (const token of [member.token, other.admin.token])
    assert.equal((await call(app, "DELETE", grantPath, undefined, { token })).status, 404);
  assert.ok(await isActive(app, tokens.access_token));
  assert.equal((await call(app, "DELETE", grantPath, undefined, { token: person.token })).status, 200);
  assert.ok(!(await isActive(app, tokens.access_token)));
  assert.equal((await refresh(app, one, tokens.refresh_token)).body.error, "invalid_grant");
  assert.ok(await isActive(app, others.access_token));
  const second = `${grantsPath}/${body.grants[0].id}`;
  assert.equal((await asAdmin("DELETE", second)).status, 200);
  assert.ok(!(await isActive(app, others.access_token)));
  assert.deepEqual((await list(person.token)).body.grants, []);
});

test("deactivation: no authorized app keeps access, and no concurrent consent succeeds", async () => {
  const person = await makeUser(app.db, workspace);
  const client = await makeClient(app, workspace);
  const browser = await openSignedIn(app, person);
  const tokens = await obtainTokens(app, client, person, browser);
  const [left] = await Promise.allSettled([
    decide(browser, authorizeUrl(client), person),
    app.db.kysely.transaction().execute(async (tx) => {
      await tx.updateTable("users").set({ deactivated_at: new Date() }).where("id", "=", person.id).execute();
      assert.equal(await revokeGrantsOfUser(tx, person.id), 1);
    }),
  ]);
  assert.ok(!(await isActive(app, tokens.access_token)));
  assert.equal((await refresh(app, client, tokens.refresh_token)).body.error, "invalid_grant");
  const { rows } = await app.db.pool.query("select id from oauth_grants where user_id = $1", [person.id]);
  assert.equal(rows.length, 0, `${left?.status}`);
});

test("audit: records who authorized which app, which tokens were issued and ended, and from where", async () => {
  const client = await register({ name: "Audited", redirect_uris: [redirectUri] });
  await decide(await openSignedIn(app, member), authorizeUrl(client), member, "deny");
  const tokens = await obtainTokens(app, client, member);
  await refresh(app, client, tokens.refresh_token);
  await asAdmin("PATCH", `${clientsPath}/${client.id}`, { name: "Audited well" });
  await asAdmin("DELETE", `${clientsPath}/${client.id}`);
  const { rows } = await app.db.pool.query(
    "select action, user_id, ip from audit_log where subject_id = $1 order by id",
    [client.id],
  );
  assert.deepEqual(
    rows.map((row) => [row.action, row.user_id]),
    [
      ["oauth_client_created", admin.id],
      ["oauth_access_refused", member.id],
      ["oauth_access_granted", member.id],
      ["oauth_token_issued", member.id],
      ["oauth_token_refreshed", member.id],
      ["oauth_client_changed", admin.id],
      ["oauth_client_deleted", admin.id],
    ],
  );
  assert.ok(rows.every((row) => row.ip === "127.0.0.1"));
});
