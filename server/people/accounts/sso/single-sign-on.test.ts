import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp, type TestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import {
  auditOf,
  type Browser,
  givePassword,
  openBrowser,
  type PageResponse,
  signInAs,
} from "../test/accounts.ts";
import { startProvider } from "../test/provider.ts";
import { claimByOperator } from "../workspaces/claim-domains.ts";
import { checkProvider } from "./check-provider.ts";

const provider = await startProvider();
const { people } = provider;
after(() => provider.close());
const oidc = {
  PARLEY_OIDC_ISSUER: provider.issuer,
  PARLEY_OIDC_CLIENT_ID: "parley",
  PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
  PARLEY_OIDC_NAME: "Tidewater ID",
};
const app = await startTestApp({ env: oidc, worker: false });
const open = await startTestApp({ env: { ...oidc, PARLEY_OIDC_CREATE_USERS: "true" }, worker: false });
const trusting = await startTestApp({ env: { ...oidc, PARLEY_OIDC_TRUST_EMAIL: "true" }, worker: false });
const workspace = await makeWorkspace(app.db);

async function signIn(
  at: TestApp,
  subject: string,
  next?: string,
): Promise<{ browser: Browser; answer: PageResponse }> {
  const browser = openBrowser(at);
  const answer = await browser.get(await provider.visit(browser, subject, next));
  return { browser, answer };
}

test("single sign-on: uses discovery, PKCE, state and nonce, and finds the account by verified email", async () => {
  people.set("sub-member", {
    email: workspace.member.email.toUpperCase(),
    email_verified: true,
    name: "Any",
  });
  assert.match((await openBrowser(app).get("/sign-in")).text, /Sign in with Tidewater ID/);
  const departure = new URL((await openBrowser(app).get("/sign-in/sso")).location ?? "");
  assert.equal(departure.origin, provider.issuer);
  assert.equal(departure.searchParams.get("code_challenge_method"), "S256");
  for (const name of ["state", "nonce", "code_challenge"])
    assert.ok((departure.searchParams.get(name) ?? "").length >= 43, name);
  const { browser, answer } = await signIn(app, "sub-member", "/recordings/1?x=y");
  assert.deepEqual([answer.status, answer.location], [303, "/recordings/1?x=y"], answer.text);
  const me = (await browser.get("/_/api/v1/session/me")).body;
  assert.deepEqual(
    [me.user.id, me.session.method, me.user.name],
    [workspace.member.id, "single_sign_on", workspace.member.name],
  );
  const log = await auditOf(app.db, workspace.id);
  assert.deepEqual(
    log.map((row) => row.action),
    ["email_proven", "single_sign_on_bound", "signed_in"],
  );
  assert.deepEqual(log[2]?.details, { method: "single_sign_on" });
});

test("single sign-on: doctor sees that the provider accepts redirect URI and client secret", async () => {
  const { config } = app;
  const [first] = config.signInProviders;
  assert.ok(first);
  assert.match(
    await checkProvider(first, config.baseUrl),
    /^accepts the redirect URI http:\/\/parley\.test\/sign-in\/callback and the client secret/,
  );
});

test("single sign-on: redirects only to paths on this server", async () => {
  people.set("sub-next", { email: workspace.member.email, email_verified: true });
  people.set("sub-member", { email: workspace.member.email, email_verified: true });
  for (const next of ["//evil.example", "https://evil.example", "/\\evil.example"])
    assert.equal((await signIn(app, "sub-member", next)).answer.location, "/");
});

test("single sign-on: linked to the subject, so a reassigned email takes over no account", async () => {
  const own = await makeWorkspace(app.db);
  people.set("first", { email: own.member.email, email_verified: true });
  assert.equal((await signIn(app, "first")).answer.status, 303);
  // Somebody else has the email at the provider now, and the first person another one.
  people.set("second", { email: own.member.email, email_verified: true });
  people.set("first", { email: own.admin.email, email_verified: true });
  const second = await signIn(app, "second");
  assert.equal(second.answer.status, 403);
  assert.match(second.answer.text, /linked to a different user at the provider/);
  assert.equal(second.browser.cookies.has("parley_session"), false);
  const first = await signIn(app, "first");
  assert.equal((await first.browser.get("/_/api/v1/session/me")).body.user.id, own.member.id);
  // An admin can unlink it, such as when the account at the provider was created again.
  const path = `/_/api/v1/users/${own.member.id}/single-sign-on`;
  const unlinked = await call(app, "DELETE", path, undefined, { token: own.admin.token, version: null });
  assert.equal(unlinked.status, 200);
  const again = await signIn(app, "second");
  assert.equal((await again.browser.get("/_/api/v1/session/me")).body.user.id, own.member.id);
});

test("single sign-on: an unverified email is refused, and one without a claim unless the settings trust it", async () => {
  const own = await makeWorkspace(app.db);
  for (const [subject, claims] of [
    ["unverified", { email: own.member.email, email_verified: false }],
    ["silent", { email: own.member.email }],
    ["no-email", {}],
  ] as const) {
    people.set(subject, claims);
    const { answer, browser } = await signIn(app, subject);
    assert.equal(answer.status, 403);
    const words = {
      "no-email": /did not send your email/,
      silent: /ask your admin\..*an admin of the server turns on Trust emails \(PARLEY_OIDC_TRUST_EMAIL\)/,
      unverified: /has not verified /,
    };
    assert.match(answer.text, words[subject]);
    assert.equal(browser.cookies.size, 0);
  }
  const other = await makeWorkspace(trusting.db);
  people.set("silent", { email: other.member.email });
  people.set("unverified", { email: other.member.email, email_verified: false });
  assert.equal((await signIn(trusting, "unverified")).answer.status, 403);
  assert.equal((await signIn(trusting, "silent")).answer.status, 303);
});

test("single sign-on: unknown users are refused; if the settings allow it, users of a claimed domain get an account", async () => {
  const closed = await makeWorkspace(app.db);
  people.set("newcomer", { email: `new@${closed.domain}`, email_verified: true, name: "Nora New" });
  const refused = await signIn(app, "newcomer");
  assert.equal(refused.answer.status, 403);
  assert.match(refused.answer.text, /There is no account for/);
  const own = await makeWorkspace(open.db);
  people.set("newcomer", { email: `new@${own.domain}`, email_verified: true });
  assert.equal((await signIn(open, "newcomer")).answer.status, 403, "a listed domain is not a claimed one");
  await open.db.kysely.transaction().execute((tx) => claimByOperator(tx, own.id, own.domain));
  people.set("newcomer", {
    email: `New@${own.domain.toUpperCase()}`,
    email_verified: true,
    name: "Nora New",
  });
  const { browser, answer } = await signIn(open, "newcomer");
  assert.equal(answer.status, 303, answer.text);
  const me = (await browser.get("/_/api/v1/session/me")).body;
  assert.deepEqual([me.user.name, me.user.role, me.workspace.id], ["Nora New", "member", own.id]);
  assert.equal(me.has_password, false);
  people.set("outsider", { email: "who@elsewhere.example", email_verified: true });
  assert.equal((await signIn(open, "outsider")).answer.status, 403);
  people.set("unverified", { email: `un@${own.domain}`, email_verified: false });
  assert.equal((await signIn(open, "unverified")).answer.status, 403);
  // Two workspaces that both list a domain: nobody knows whose the person would be.
  const { rows } = await open.db.pool.query("select count(*)::int as count from users");
  const twin = await makeWorkspace(open.db);
  await open.db.pool.query(
    "update workspaces set email_domains = array['shared.example'] where id = any($1)",
    [[own.id, twin.id]],
  );
  people.set("both", { email: "x@shared.example", email_verified: true });
  assert.equal((await signIn(open, "both")).answer.status, 403);
  const { rows: later } = await open.db.pool.query("select count(*)::int as count from users");
  assert.equal(later[0].count, rows[0].count + 2);
});

test("single sign-on: refuses deactivated users and accepts open invitations", async () => {
  const own = await makeWorkspace(app.db);
  const manage = (method: string, path: string, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token: own.admin.token, version: null });
  people.set("leaver", { email: own.member.email, email_verified: true });
  assert.equal((await signIn(app, "leaver")).answer.status, 303);
  await manage("POST", `/users/${own.member.id}/deactivate`);
  const { answer, browser } = await signIn(app, "leaver");
  assert.equal(answer.status, 403);
  assert.match(answer.text, /deactivated/);
  assert.equal(browser.cookies.size, 0);
  const invited = await manage("POST", "/users", { email: `inv@${own.domain}`, name: "Inv" });
  people.set("invited", { email: `inv@${own.domain}`, email_verified: true });
  assert.equal((await signIn(app, "invited")).answer.status, 303);
  const link = new URL(invited.body.invitation.url).pathname;
  assert.equal((await openBrowser(app).get(link)).status, 404);
  const { body } = await manage("GET", "/users");
  const listed = body.users.find((one: { id: string }) => one.id === invited.body.user.id);
  assert.deepEqual([listed.state, listed.single_sign_on], ["active", true]);
});

test("single sign-on: a callback works once, unmodified, in the browser that started the sign-in", async () => {
  people.set("sub-member", { email: workspace.member.email, email_verified: true });
  // Another browser, whose user was tricked into opening the provider's redirect.
  const asking = openBrowser(app);
  const back = await provider.visit(asking, "sub-member");
  const victim = openBrowser(app);
  assert.equal((await victim.get(back)).status, 403);
  await provider.visit(victim, "sub-member");
  assert.equal((await victim.get(back)).status, 400, "the state is another departure's");
  assert.equal(victim.cookies.has("parley_session"), false);
  // The right one: once.
  const cookie = asking.cookies.get("parley_single_sign_on") ?? "";
  assert.equal((await asking.get(back)).status, 303);
  assert.equal(asking.cookies.has("parley_single_sign_on"), false);
  const replaying = openBrowser(app);
  replaying.cookies.set("parley_single_sign_on", cookie);
  assert.equal((await replaying.get(back)).status, 400);
  assert.equal(replaying.cookies.has("parley_session"), false);
  // Meddled with.
  for (const change of [
    (url: URL) => url.searchParams.set("code", "another"),
    (url: URL) => url.searchParams.set("state", "another"),
    (url: URL) => url.searchParams.delete("state"),
    (url: URL) => url.searchParams.set("iss", "https://evil.example"),
    (url: URL) => url.searchParams.delete("code"),
    (url: URL) => url.searchParams.set("error", "access_denied"),
  ]) {
    const browser = openBrowser(app);
    const url = new URL(await provider.visit(browser, "sub-member"), app.url);
    change(url);
    const answer = await browser.get(url.pathname + url.search);
    assert.ok([400, 403].includes(answer.status), `${url.search} ${answer.status}`);
    assert.equal(browser.cookies.size, 0);
  }
  for (const broken of ["", "x", cookie.slice(0, -2), `${cookie}AA`]) {
    const browser = openBrowser(app);
    const answer = await provider.visit(browser, "sub-member");
    browser.cookies.set("parley_single_sign_on", broken);
    assert.equal((await browser.get(answer)).status, 403);
  }
});

test("single sign-on: an unreachable provider is reported, and works again when it is back", async () => {
  const away = await startProvider();
  await away.close();
  const lonely = await startTestApp({ env: { ...oidc, PARLEY_OIDC_ISSUER: away.issuer }, worker: false });
  const own = await makeWorkspace(lonely.db);
  await givePassword(lonely.db, own.member);
  const answer = await openBrowser(lonely).get("/sign-in/sso");
  assert.equal(answer.status, 503);
  assert.match(answer.text, /Tidewater ID can(&#39;|')t be reached/);
  const back = await startProvider(Number(new URL(away.issuer).port));
  back.people.set("back", { email: own.member.email, email_verified: true });
  const browser = openBrowser(lonely);
  assert.equal((await browser.get(await back.visit(browser, "back"))).status, 303);
  await back.close();
});

test("without settings there is no single sign-on", async () => {
  const plain = await startTestApp({ worker: false });
  assert.equal((await openBrowser(plain).get("/sign-in/sso")).status, 404);
  assert.doesNotMatch((await openBrowser(plain).get("/sign-in")).text, /sso/);
});

test("single sign-on: users can unlink it only if they have a password", async () => {
  const { member, admin, id } = await makeWorkspace(app.db);
  people.set("sub-unlink", { email: member.email, email_verified: true });
  const { browser } = await signIn(app, "sub-unlink");
  const issued = await browser.send("POST", "/_/api/v1/tokens", {
    json: { type: "personal_access_token", name: "after" },
  });
  const token: string = issued.body.token;
  const before = (await browser.get("/_/api/v1/session/me")).body;
  assert.deepEqual(
    before.identities.map(({ issuer }: { issuer: string }) => issuer),
    [provider.issuer],
  );
  const unlink = (path: string, token: string) =>
    call(app, "DELETE", `/_/api/v1${path}`, undefined, { token, version: null });
  const setPassword = (password_hash: string | null) =>
    app.db.kysely.updateTable("users").set({ password_hash }).where("workspace_id", "=", id).execute();
  await setPassword(null);
  const byToken = await unlink("/me/single-sign-on", token);
  assert.deepEqual([byToken.status, byToken.body.error], [403, "forbidden"]);
  const unlinkMine = () => browser.send("DELETE", "/_/api/v1/me/single-sign-on");
  const refused = await unlinkMine();
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  assert.match(refused.body.detail, /ask an admin/);
  const own = await unlink(`/users/${admin.id}/single-sign-on`, admin.token);
  assert.equal(own.status, 409);
  await setPassword("not the hash of anything");
  const answer = await unlinkMine();
  assert.deepEqual([answer.status, answer.body.identities], [200, []], answer.text);
  const log = await auditOf(app.db, id);
  assert.deepEqual(log.filter(({ action }) => action === "single_sign_on_unbound").length, 1);
  // Once more nothing is there to unlink, and nothing is written down.
  assert.equal((await unlinkMine()).status, 200);
  assert.equal((await auditOf(app.db, id)).length, log.length);
  const people_ = await call(app, "GET", "/_/api/v1/users", undefined, { token: admin.token, version: null });
  const found = people_.body.users.find((user: { id: string }) => user.id === member.id);
  assert.deepEqual([found.single_sign_on, found.has_password], [false, true]);
});

test("single sign-on: an admin can unlink a user without a password; the next sign-in links them again", async () => {
  const { member, admin } = await makeWorkspace(app.db);
  await givePassword(app.db, admin);
  people.set("sub-again", { email: member.email, email_verified: true });
  await signIn(app, "sub-again");
  const old = await signInAs(app, admin);
  await sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${admin.id}`.execute(
    app.db.kysely,
  );
  const stale = await old.send("DELETE", `/_/api/v1/users/${member.id}/single-sign-on`);
  assert.equal(stale.body.error, "proof_required", stale.text);
  const answer = await call(app, "DELETE", `/_/api/v1/users/${member.id}/single-sign-on`, undefined, {
    token: admin.token,
    version: null,
  });
  assert.equal(answer.status, 200, answer.text);
  const { browser } = await signIn(app, "sub-again");
  assert.equal((await browser.get("/_/api/v1/session/me")).body.identities.length, 1);
});
