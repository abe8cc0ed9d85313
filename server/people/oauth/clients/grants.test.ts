import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, type TestUser } from "../../../../test/support/factories.ts";
import {
  ask,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  redirectUri,
  refresh,
  type TestClient,
} from "../../../../test/support/oauth.ts";

const app = await startTestApp();
const workspace = await makeOAuthWorkspace(app);
const { admin } = workspace;

async function register(on: TestApp): Promise<TestClient> {
  const reply = await ask(on, "/_/public-api/oauth2/register", {
    client_name: "Sync tool",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
  });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return { id: reply.body.client_id, secret: null } as TestClient;
}

async function grantOf(on: TestApp, user: TestUser) {
  const { body } = await call(on, "GET", "/_/api/v1/oauth/grants", undefined, { token: user.token });
  assert.equal(body.grants.length, 1);
  return body.grants[0];
}

const patch = (grant: { id: string }, body: object, { token }: { readonly token: string }) =>
  call(app, "PATCH", `/_/api/v1/oauth/grants/${grant.id}`, body, { token });

/** One day, for a program that expects the filters to mean what their names say. */
const filter = { after_datetime: "2026-03-02T00:00:00Z", before_datetime: "2026-03-03T00:00:00Z" };

/** How an app's date filters are read, by what it gets: the day's recording, or nothing with the reason. */
async function readingOf(token: string): Promise<"by-name" | "contract"> {
  const { status, body, headers, text } = await call(app, "POST", "/recordings", { filter }, { token });
  assert.equal(status, 200, text);
  const titles = body.recordings.map(({ title }: { title: string }) => title);
  if (titles.length > 0) {
    assert.deepEqual([titles, headers.get("warning")], [["02"], null]);
    return "by-name";
  }
  assert.match(headers.get("warning") ?? "", /exclude every recording.*datetime_filters=by-name/);
  return "contract";
}

async function makeUserWithRecordings(): Promise<TestUser> {
  const user = await makeUser(app.db, workspace);
  for (const day of ["01", "02", "03"])
    await makeRecording(app, user.token, { title: day, start_datetime: `2026-03-${day}T00:00:00Z` });
  return user;
}

test("a self-registered app reads date filters as each user chose for it, until the user revokes its access", async () => {
  const [ada, ben] = [await makeUserWithRecordings(), await makeUserWithRecordings()];
  const client = await register(app);
  const [forAda, forBen] = [await obtainTokens(app, client, ada), await obtainTokens(app, client, ben)];
  const grant = await grantOf(app, ada);
  assert.deepEqual([grant.datetime_filters, grant.compatibility], ["contract", "none"]);
  for (const { access_token } of [forAda, forBen]) assert.equal(await readingOf(access_token), "contract");

  const changed = await patch(grant, { datetime_filters: "by-name" }, ada);
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(changed.body, { ...grant, datetime_filters: "by-name" });
  assert.deepEqual(await grantOf(app, ada), changed.body);
  assert.equal(await readingOf(forAda.access_token), "by-name");
  assert.equal(await readingOf(forBen.access_token), "contract");
  assert.equal((await grantOf(app, ben)).datetime_filters, "contract");

  const refreshed = await refresh(app, client, forAda.refresh_token);
  assert.equal(await readingOf(refreshed.body.access_token), "by-name");
  // Authorizing the app again, for example on another device, keeps the choice.
  assert.equal(await readingOf((await obtainTokens(app, client, ada)).access_token), "by-name");

  await call(app, "DELETE", `/_/api/v1/oauth/grants/${grant.id}`, undefined, { token: ada.token });
  assert.equal((await patch(grant, { datetime_filters: "by-name" }, ada)).status, 404);
  assert.equal(await readingOf((await obtainTokens(app, client, ada)).access_token), "contract");
});

test("a self-registered app gets the names of CRM data that each user chose for it", async () => {
  const [ada, ben] = [await makeUserWithRecordings(), await makeUserWithRecordings()];
  const client = await register(app);
  const [forAda, forBen] = [await obtainTokens(app, client, ada), await obtainTokens(app, client, ben)];
  const both = { compatibility: "hubspot", datetime_filters: "by-name" };
  assert.equal((await patch(await grantOf(app, ada), both, ada)).status, 200);
  const list = ({ access_token: token }: { access_token: string }) =>
    call(app, "POST", "/recordings", { include: { hubspot: true } }, { token });
  const named = await list(forAda);
  assert.equal(named.headers.get("warning"), null);
  assert.ok(named.body.recordings.every((recording: object) => "hubspot" in recording));
  const unnamed = await list(forBen);
  assert.match(unnamed.headers.get("warning") ?? "", /include\.hubspot is ignored/);
  assert.ok(unnamed.body.recordings.every((recording: object) => !("hubspot" in recording)));
});

test("only the user who authorized an app, and admins of the workspace, can change how it reads date filters", async () => {
  const [ada, ben] = [await makeUserWithRecordings(), await makeUser(app.db, workspace)];
  const tokens = await obtainTokens(app, await register(app), ada);
  const grant = await grantOf(app, ada);
  const change = { datetime_filters: "by-name" };
  const elsewhere = await makeOAuthWorkspace(app);
  for (const other of [ben, elsewhere.admin, elsewhere.member])
    assert.equal((await patch(grant, change, other)).status, 404);
  for (const token of [tokens.access_token, workspace.token])
    assert.equal((await patch(grant, change, { token })).status, 403);
  assert.equal(await readingOf(tokens.access_token), "contract");
  assert.equal((await patch(grant, { datetime_filters: "reversed" }, ada)).status, 400);
  assert.equal((await patch(grant, {}, ada)).body.datetime_filters, "contract");
  assert.equal((await patch(grant, change, admin)).body.user_id, ada.id);
  assert.equal(await readingOf(tokens.access_token), "by-name");
  const { rows } = await app.db.pool.query(
    "select user_id, details from audit_log where action = 'oauth_access_changed' and subject_id = $1",
    [grant.client_id],
  );
  assert.deepEqual(rows, [
    { user_id: admin.id, details: { grant_id: grant.id, user_id: ada.id, changed: ["datetime_filters"] } },
  ]);
});

test("an authorization of an app that an admin registered shows the app's choice and returns 409 to a change", async () => {
  const ada = await makeUserWithRecordings();
  const client = await makeClient(app, workspace, { datetimeFilters: "by-name" });
  const tokens = await obtainTokens(app, client, ada);
  const grant = await grantOf(app, ada);
  assert.equal(grant.datetime_filters, "by-name");
  for (const user of [ada, admin]) {
    const refused = await patch(grant, { datetime_filters: "contract" }, user);
    assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  }
  assert.equal(await readingOf(tokens.access_token), "by-name");
});

test("PARLEY_DATETIME_FILTERS and PARLEY_COMPAT are saved with new authorizations; earlier ones without a choice follow them", async () => {
  const other = await startTestApp({
    worker: false,
    env: { PARLEY_DATETIME_FILTERS: "by-name", PARLEY_COMPAT: "hubspot" },
  });
  const { id, member } = await makeOAuthWorkspace(other);
  await obtainTokens(other, await register(other), member);
  const { rows } = await other.db.pool.query("select datetime_filters, compatibility from oauth_grants");
  assert.deepEqual(rows, [{ datetime_filters: "by-name", compatibility: "hubspot" }]);
  await other.db.pool.query("update oauth_grants set datetime_filters = null, compatibility = null");
  const grant = await grantOf(other, member);
  assert.deepEqual([grant.datetime_filters, grant.compatibility], ["by-name", "hubspot"]);

  // Those of registered apps save nothing: the app's own settings apply.
  await obtainTokens(other, await makeClient(other, { id }), member);
  const registered = await other.db.pool.query(
    "select g.datetime_filters, g.compatibility from oauth_grants g join oauth_clients c on c.id = g.client_id where c.workspace_id = $1",
    [id],
  );
  assert.deepEqual(registered.rows, [{ datetime_filters: null, compatibility: null }]);
});
