import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { GroupMapping } from "../../../../contract/sign-in-providers.ts";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { rulesOf } from "../security/rules.ts";
import { type Browser, givePassword, openBrowser, signInAs } from "../test/accounts.ts";
import { clientSecret, startProvider, type TestProvider } from "../test/provider.ts";

const baseUrl = "http://parley.test";
const app = await startTestApp({ worker: false });
const { db } = app;
const operator = await makeWorkspace(db, "Operator");
await givePassword(db, operator.admin);
const admin = await signInAs(app, operator.admin);
const tenant = "5b0c1a52-8f4e-4d0f-9a59-0e7c2a3f7d10";
const sales = "8a7c2f0e-5d0b-4a4e-9f37-1f0f6f0a7a11";

/** Providers as their documentation describes what they send. */
const shapes = {
  entra: {
    path: `/${tenant}/v2.0`,
    inIdToken: true,
    claims: ["oid", "tid", "preferred_username", "groups", "_claim_names", "_claim_sources"],
  },
  google: { inIdToken: true, claims: ["hd", "picture", "given_name"] },
  okta: { inIdToken: true, claims: ["groups"], path: "/oauth2/default" },
  keycloak: { inIdToken: true, claims: ["realm_access", "groups"], path: "/realms/staff" },
  authentik: { inIdToken: true, claims: ["groups", "entitlements"], path: "/application/o/parley" },
  // Claims only in the userinfo.
  authelia: { claims: ["groups"] },
} as const;

type Shape = keyof typeof shapes;
const providers = new Map<Shape, TestProvider>();
for (const id of Object.keys(shapes) as Shape[])
  providers.set(id, await startProvider(0, baseUrl, { ...shapes[id], id, logoutAt: () => app.url }));
after(() => Promise.all([...providers.values()].map((provider) => provider.close())));

function providerOf(id: Shape): TestProvider {
  const provider = providers.get(id);
  assert.ok(provider);
  return provider;
}

async function save(id: Shape, values: object): Promise<void> {
  const { issuer } = providerOf(id);
  const { status, text } = await call(
    app,
    "PUT",
    `/_/api/v1/system/sign-in-providers/${id}`,
    { name: id, issuer, client_id: "parley", client_secret: clientSecret, ...values },
    { token: operator.admin.token, version: null },
  );
  assert.equal(status, 200, text);
}

async function signIn(id: Shape, subject: string, claims: Record<string, unknown>) {
  const provider = providerOf(id);
  provider.people.set(subject, claims);
  const browser = openBrowser(app);
  const there = provider.openBrowser();
  const query = new URLSearchParams({ provider: id });
  const departure = await browser.get(`/sign-in/sso?${query}`);
  assert.equal(departure.status, 303, departure.text);
  const answer = await browser.get(await provider.signIn(departure.location ?? "", subject, there));
  return { browser, there, answer };
}

/** Tests a sign-in as an admin does. @returns the text of the result page. */
async function trySignIn(id: Shape, subject: string, claims: Record<string, unknown>): Promise<string> {
  const provider = providerOf(id);
  provider.people.set(subject, claims);
  const { status, body, text } = await admin.send("POST", "/_/api/v1/system/settings/test/sign_in", {
    json: { provider: { id } },
  });
  assert.equal(status, 200, text);
  const page = await admin.get(await provider.signIn(body.url, subject));
  assert.equal(page.status, 200, page.text);
  return page.text.replaceAll(/<[^>]+>/g, "").replaceAll("&#39;", "'");
}

const meOf = async (browser: Browser) => (await browser.get("/_/api/v1/session/me")).body;

async function teamsOf(userId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    "select t.name from team_members m join teams t on t.id = m.team_id where m.user_id = $1 order by t.name",
    [userId],
  );
  return rows.map(({ name }) => name);
}

const roleOf = async (userId: string) =>
  (await db.pool.query("select role from users where id = $1", [userId])).rows[0].role;

async function workspaceWithTeams() {
  const own = await makeWorkspace(db);
  const user = await makeUser(db, own);
  for (const name of ["Sales", "Field", "By hand"]) await makeTeam(db, own, [], name);
  return { own, user };
}

const mapped = (...groups: (Partial<GroupMapping> & { group: string })[]) => ({ groups });

test("Microsoft Entra ID: without email_verified only the switch lets users in; groups are ids", async () => {
  const { user } = await workspaceWithTeams();
  const claims = {
    email: user.email,
    oid: "0d1f",
    tid: tenant,
    preferred_username: user.email,
    groups: [sales, "00000000-0000-0000-0000-000000000001"],
  };
  const groups = { groups_claim: "groups", ...mapped({ group: sales, teams: ["sales"] }) };
  await save("entra", groups);
  const refused = await signIn("entra", "e1", claims);
  assert.equal(refused.answer.status, 403);
  assert.match(refused.answer.text, /ask your admin.*turns on Trust emails in the settings of entra/);
  await save("entra", { ...groups, trust_email: true });
  const text = await trySignIn("entra", "e1", claims);
  assert.match(text, /Email: .*verified or trusted by Trust emails/);
  assert.match(text, /Teams that the user would join: Sales/);
  assert.match(text, /Groups that are not mapped: 00000000-0000-0000-0000-000000000001: they change nothing/);
  assert.deepEqual(await teamsOf(user.id), [], "a test changes nothing");
  const { browser, answer } = await signIn("entra", "e1", claims);
  assert.equal(answer.status, 303, answer.text);
  assert.equal((await meOf(browser)).user.id, user.id);
  assert.deepEqual(await teamsOf(user.id), ["Sales"]);
  // More than 200 groups: Entra names the claim and leaves it out. Nothing is guessed.
  const { groups: _left, ...others } = claims;
  const overage = {
    ...others,
    _claim_names: { groups: "src1" },
    _claim_sources: { src1: { endpoint: "x" } },
  };
  assert.match(
    await trySignIn("entra", "e1", overage),
    /left groups out because the user is in too many groups/,
  );
  assert.equal((await signIn("entra", "e1", overage)).answer.status, 303);
  assert.deepEqual(await teamsOf(user.id), ["Sales"]);
});

test("Google Workspace: verified emails with hd; no groups", async () => {
  const { user } = await workspaceWithTeams();
  await save("google", {});
  const claims = { email: user.email, email_verified: true, hd: user.email.split("@")[1], given_name: "U" };
  const text = await trySignIn("google", "g1", claims);
  assert.match(text, /Email: .*verified by the provider/);
  assert.match(text, /Groups: They are not read, because the settings name no groups claim/);
  assert.match(text, /would sign in .* with the role member/);
  assert.equal((await signIn("google", "g1", claims)).answer.status, 303);
});

test("Okta: teams follow the groups at each sign-in, and members added by hand stay", async () => {
  const { own, user } = await workspaceWithTeams();
  await save("okta", {
    scopes: ["groups"],
    groups_claim: "groups",
    ...mapped(
      { group: "Sales", teams: ["Sales", "Field"] },
      { group: "Hand", teams: ["By hand", "Missing"] },
    ),
  });
  const { rows } = await db.pool.query("select id from teams where workspace_id = $1 and name = 'By hand'", [
    own.id,
  ]);
  await db.kysely.insertInto("team_members").values({ team_id: rows[0].id, user_id: user.id }).execute();
  const claims = { email: user.email, email_verified: true };
  const all = { ...claims, groups: ["Sales", "Hand", "Everyone", 7] };
  const text = await trySignIn("okta", "o1", all);
  assert.match(text, /3 groups in groups: Sales, Hand, Everyone\. 1 more entry is no name of a group/);
  assert.match(text, /Teams that don't exist: Missing/);
  await signIn("okta", "o1", all);
  assert.deepEqual(await teamsOf(user.id), ["By hand", "Field", "Sales"]);
  // Okta leaves the claim out where no group matches its filter.
  assert.match(await trySignIn("okta", "o1", claims), /sends no groups, so the user counts as in no group/);
  await signIn("okta", "o1", claims);
  assert.deepEqual(await teamsOf(user.id), ["By hand"]);
  // A team's recordings go with it at once: the next request sees the new teams.
  const { browser } = await signIn("okta", "o1", { ...claims, groups: ["Sales"] });
  const before = (await browser.get("/_/api/v1/session/me")).status;
  assert.equal(before, 200);
  assert.deepEqual(await teamsOf(user.id), ["By hand", "Field", "Sales"]);
});

test("a team that SCIM manages follows SCIM alone: groups of a claim add and remove nobody there", async () => {
  const { own, user } = await workspaceWithTeams();
  await save("okta", {
    scopes: ["groups"],
    groups_claim: "groups",
    ...mapped({ group: "Sales", teams: ["Sales", "Field"] }),
  });
  const claims = { email: user.email, email_verified: true };
  const all = { ...claims, groups: ["Sales"] };
  await signIn("okta", "scim1", all);
  // As if SCIM had created the team, and the mapping of an earlier version had brought the user into it.
  await db.pool.query("update teams set is_provisioned = true where workspace_id = $1 and name = 'Sales'", [
    own.id,
  ]);
  await signIn("okta", "scim1", claims);
  assert.deepEqual(await teamsOf(user.id), ["Sales"], "SCIM has not removed the user");
  await db.pool.query("delete from team_members where user_id = $1", [user.id]);
  assert.match(await trySignIn("okta", "scim1", all), /Teams that SCIM manages: Sales/);
  await signIn("okta", "scim1", all);
  assert.deepEqual(await teamsOf(user.id), ["Field"], "SCIM has not added the user");
});

test("Keycloak: roles of the realm and paths of groups; the highest role counts, and the last admin stays one", async () => {
  const { own, user } = await workspaceWithTeams();
  await save("keycloak", {
    groups_claim: "realm_access.roles",
    ...mapped({ group: "viewer", role: "viewer" }, { group: "boss", role: "admin" }),
  });
  const claims = { email: user.email, email_verified: true };
  const withRoles = (...roles: string[]) => ({ ...claims, realm_access: { roles } });
  await signIn("keycloak", "k1", withRoles("viewer", "boss", "offline_access"));
  assert.equal(await roleOf(user.id), "admin");
  await db.pool.query("update users set role = 'member' where id = $1", [own.admin.id]);
  assert.match(
    await trySignIn("keycloak", "k1", withRoles("viewer")),
    /stays an admin, because there is no other admin/,
  );
  assert.equal((await signIn("keycloak", "k1", withRoles("viewer"))).answer.status, 303);
  assert.equal(await roleOf(user.id), "admin");
  await db.pool.query("update users set role = 'admin' where id = $1", [own.admin.id]);
  const setRules = (rules: object | null) =>
    db.pool.query("update workspaces set security_rules = $2 where id = $1", [own.id, rules]);
  await setRules({ ...rulesOf(null), single_sign_on_only: true, break_glass_user_id: user.id });
  assert.match(
    await trySignIn("keycloak", "k1", withRoles("viewer")),
    /stays an admin, because they are the break-glass admin/,
  );
  await signIn("keycloak", "k1", withRoles("viewer"));
  assert.equal(await roleOf(user.id), "admin");
  await setRules(null);
  await signIn("keycloak", "k1", withRoles("viewer"));
  assert.equal(await roleOf(user.id), "viewer");
  // Without a role from the groups, what they gave is revoked, which never raises a role.
  await signIn("keycloak", "k1", withRoles());
  assert.equal(await roleOf(user.id), "viewer");
  await signIn("keycloak", "k1", withRoles("boss"));
  await signIn("keycloak", "k1", withRoles());
  assert.equal(await roleOf(user.id), "member");
  // A role that an admin gave before the groups did stays.
  await db.pool.query("update users set role = 'admin' where id = $1", [user.id]);
  await signIn("keycloak", "k1", withRoles("boss"));
  await signIn("keycloak", "k1", withRoles());
  assert.equal(await roleOf(user.id), "admin");
  await save("keycloak", { groups_claim: "groups", ...mapped({ group: "/team/a", teams: ["Sales"] }) });
  await signIn("keycloak", "k1", { ...claims, groups: ["/team/a", "/team/a/b"] });
  assert.deepEqual(await teamsOf(user.id), ["Sales"]);
});

test("authentik and Authelia: groups by name, also where only the userinfo has claims", async () => {
  for (const id of ["authentik", "authelia"] as const) {
    const { user } = await workspaceWithTeams();
    await save(id, {
      scopes: ["groups"],
      groups_claim: "groups",
      ...mapped({ group: "sales", teams: ["Sales"] }),
    });
    const claims = { email: user.email, email_verified: true, groups: ["sales"], name: "U" };
    const { answer, browser } = await signIn(id, `${id}-1`, claims);
    assert.equal(answer.status, 303, answer.text);
    assert.deepEqual(await teamsOf((await meOf(browser)).user.id), ["Sales"]);
  }
});

const logOut = (id: string, token: string) =>
  openBrowser(app).send("POST", `/sign-in/back-channel-logout/${id}`, { form: { logout_token: token } });

test("back-channel logout: signing out at the provider ends the session here, and no other", async () => {
  const { own, user } = await workspaceWithTeams();
  await save("keycloak", {});
  const claims = { email: user.email, email_verified: true };
  const one = await signIn("keycloak", "b1", claims);
  const two = await signIn("keycloak", "b1", claims);
  await givePassword(db, user);
  const byPassword = await signInAs(app, user);
  const of = async (browser: Browser) => (await browser.get("/_/api/v1/session/me")).status;
  assert.deepEqual([await of(one.browser), await of(two.browser)], [200, 200]);
  // The provider's own page for signing out.
  const { end_session_endpoint } = (
    await one.there.get(`${providerOf("keycloak").issuer}/.well-known/openid-configuration`)
  ).body;
  const page = await one.there.get(end_session_endpoint);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const asked = performance.now();
  await one.there.send("POST", action, { form: { xsrf, logout: "yes" } });
  while ((await of(one.browser)) === 200) assert.ok(performance.now() - asked < 5000);
  assert.ok(performance.now() - asked < 2000);
  assert.deepEqual([await of(two.browser), await of(byPassword)], [200, 200]);
  const { rows } = await db.pool.query(
    "select details from audit_log where workspace_id = $1 and action = 'signed_out'",
    [own.id],
  );
  assert.equal(rows[0].details.by, "provider");
  // Without a sid all sessions of the user that this provider began.
  const token = await providerOf("keycloak").logoutToken({ sub: "b1" });
  assert.equal((await logOut("keycloak", token)).status, 200);
  assert.deepEqual([await of(two.browser), await of(byPassword)], [401, 200]);
});

test("back-channel logout: forged, replayed, old and foreign tokens end nothing", async () => {
  const { user } = await workspaceWithTeams();
  await save("authentik", {});
  await save("keycloak", {});
  const { browser } = await signIn("authentik", "h1", { email: user.email, email_verified: true });
  const right = providerOf("authentik");
  const now = Math.floor(Date.now() / 1000);
  const event = "http://schemas.openid.net/event/backchannel-logout";
  const [head = "", body = ""] = (await right.logoutToken({ sub: "h1" })).split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "logout+jwt" })).toString("base64url");
  for (const [why, token] of [
    ["another issuer", await right.logoutToken({ sub: "h1", iss: providerOf("keycloak").issuer })],
    ["another client", await right.logoutToken({ sub: "h1", aud: "other" })],
    ["no audience", await right.logoutToken({ sub: "h1", aud: null })],
    ["an old token", await right.logoutToken({ sub: "h1", iat: now - 3600, exp: null })],
    ["an expired token", await right.logoutToken({ sub: "h1", exp: now - 120 })],
    ["a token of the future", await right.logoutToken({ sub: "h1", iat: now + 3600, exp: now + 7200 })],
    ["no jti", await right.logoutToken({ sub: "h1", jti: null })],
    ["no iat", await right.logoutToken({ sub: "h1", iat: null })],
    ["no events", await right.logoutToken({ sub: "h1", events: null })],
    ["another event", await right.logoutToken({ sub: "h1", events: { [`${event}2`]: {} } })],
    ["an event that is no object", await right.logoutToken({ sub: "h1", events: { [event]: true } })],
    ["a nonce", await right.logoutToken({ sub: "h1", nonce: "n" })],
    ["neither sub nor sid", await right.logoutToken({})],
    ["an ID token", await right.logoutToken({ sub: "h1" }, { typ: "at+jwt" })],
    ["no signature", `${none}.${body}.`],
    ["a wrong signature", `${head}.${body}.${"A".repeat(342)}`],
    ["no token", ""],
    ["noise", "a.b.c"],
    ["too long", "a".repeat(20_000)],
  ] as const) {
    const { status, headers, body } = await logOut("authentik", token);
    assert.deepEqual(
      [status, body.error, headers.get("cache-control")],
      [400, "invalid_request", "no-store"],
      why,
    );
  }
  // A token of one provider at the endpoint of another.
  assert.equal((await logOut("keycloak", await right.logoutToken({ sub: "h1" }))).status, 400);
  assert.equal((await logOut("unknown", await right.logoutToken({ sub: "h1" }))).status, 404);
  // Another provider's user with the same subject.
  assert.equal(
    (await logOut("keycloak", await providerOf("keycloak").logoutToken({ sub: "h1" }))).status,
    200,
  );
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
  const token = await right.logoutToken({ sub: "h1" }, { typ: "JWT" });
  assert.equal((await logOut("authentik", token)).status, 200);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
  const again = await signIn("authentik", "h1", { email: user.email, email_verified: true });
  assert.match((await logOut("authentik", token)).body.error_description, /used before/);
  assert.equal((await again.browser.get("/_/api/v1/session/me")).status, 200);
});
