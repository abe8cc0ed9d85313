import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { type Browser, givePassword, openBrowser, signInAs } from "../../../people/accounts/test/accounts.ts";
import { clientSecret, startProvider } from "../../../people/accounts/test/provider.ts";

const app = await startTestApp({ worker: false });
const { db } = app;
const provider = await startProvider(0, app.config.baseUrl);
after(() => provider.close());
const operator = await makeWorkspace(db, "Operator");
const form = {
  PARLEY_OIDC_ISSUER: provider.issuer,
  PARLEY_OIDC_CLIENT_ID: "parley",
  PARLEY_OIDC_CLIENT_SECRET: clientSecret,
};
await givePassword(db, operator.admin);
const admin = await signInAs(app, operator.admin);

/** Begins a test in a browser and signs in at the provider. @returns the callback's path and query. */
async function visit(browser: Browser, subject: string, settings: object = form): Promise<string> {
  const { status, body, text } = await browser.send("POST", "/_/api/v1/system/settings/test/sign_in", {
    json: { settings },
  });
  assert.equal(status, 200, text);
  assert.ok(!text.includes(clientSecret));
  return provider.signIn(body.url, subject);
}

const stateOfDatabase = async () =>
  (
    await db.pool.query(
      `select (select count(*) from identities) as identities, (select count(*) from audit_log) as audited,
         (select count(*) from sessions) as sessions, (select jsonb_agg(u order by id)::text from users u) as users`,
    )
  ).rows[0];

test("a whole sign-in with the values of the form shows claims and outcome, and changes nothing", async () => {
  provider.people.set("one", { email: operator.member.email, email_verified: true, name: "One <b>" });
  const callback = await visit(admin, "one");
  const before = await stateOfDatabase();
  const { status, text } = await admin.get(callback);
  assert.equal(status, 200, text);
  assert.match(text, /The sign-in works/);
  assert.match(
    text,
    new RegExp(`would sign in .*${operator.member.email}.* workspace Operator, with the role member`),
  );
  assert.match(text, /email_verified<\/strong>: true/);
  assert.match(text, /One &lt;b&gt;/);
  assert.deepEqual(await stateOfDatabase(), before);
  assert.equal((await admin.get("/_/api/v1/session/me")).body.user.id, operator.admin.id);
  assert.deepEqual(app.config.signInProviders, []);
  const again = await admin.get(callback);
  assert.equal(again.status, 404, "used once; there is no provider to sign in with");
});

test("a sign-in that Parley would refuse is shown with the reason", async () => {
  provider.people.set("stranger", { email: "stranger@nowhere.example", email_verified: true });
  const { text } = await admin.get(await visit(admin, "stranger"));
  assert.match(text, /would be refused.*There is no account for stranger@nowhere\.example/s);
  provider.people.set("unverified", { email: operator.member.email });
  assert.match((await admin.get(await visit(admin, "unverified"))).text, /PARLEY_OIDC_TRUST_EMAIL/);
  const trusting = await visit(admin, "unverified", { ...form, PARLEY_OIDC_TRUST_EMAIL: "true" });
  assert.match((await admin.get(trusting)).text, /The sign-in works/);
});

test("another browser, another admin, and an admin who is none any more don't see the result", async () => {
  assert.equal((await openBrowser(app).get(await visit(admin, "one"))).status, 404);
  const second = await makeUser(db, operator, { role: "admin" });
  await givePassword(db, second);
  const leaving = await signInAs(app, second);
  const callback = await visit(leaving, "one");
  await db.pool.query("update users set role = 'member' where id = $1", [second.id]);
  const { status, text } = await leaving.get(callback);
  assert.equal(status, 403);
  assert.ok(!text.includes(operator.member.email));
});

test("wrong values are named when the test begins or ends, without the secret", async () => {
  const begin = (settings: object) =>
    admin.send("POST", "/_/api/v1/system/settings/test/sign_in", { json: { settings } });
  assert.match((await begin({})).body.detail, /no provider is set up/);
  assert.match(
    (await begin({ ...form, PARLEY_OIDC_ISSUER: `${provider.issuer}/x` })).body.detail,
    /no OpenID configuration/,
  );
  const callback = await visit(admin, "one", { ...form, PARLEY_OIDC_CLIENT_SECRET: "secret-8261" });
  const { status, text } = await admin.get(callback);
  assert.equal(status, 400);
  assert.match(text, /refuses the client.*PARLEY_OIDC_CLIENT_SECRET/);
  assert.ok(!text.includes("secret-8261"));
});

test("a provider that a whole sign-in passed may replace the one that users without a password depend on", async () => {
  const change = (settings: object) =>
    admin.send("PATCH", "/_/api/v1/system/settings", { json: { settings } });
  assert.equal((await change({ ...form, PARLEY_OIDC_ISSUER: "http://127.0.0.1:9" })).status, 200);
  await db.pool.query("insert into identities (issuer, subject, user_id) values ('i', 's', $1)", [
    operator.member.id,
  ]);
  await admin.get(await visit(admin, "one"));
  const { passed } = (await db.pool.query("select sign_in_test_passed as passed from installation")).rows[0];
  assert.ok(!passed.toString("latin1").includes(clientSecret));
  // From here on only the whole sign-in says that it works.
  await provider.close();
  const other = await change({ ...form, PARLEY_OIDC_CLIENT_ID: "another" });
  assert.match(other.body.violations[0].detail, /must be that of a provider that works/);
  assert.equal((await change(form)).status, 200);
});
