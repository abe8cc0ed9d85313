import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { isActive, makeClient, obtainTokens, refresh } from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { auditOf, type Browser, openBrowser } from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";
import { startProvider } from "../test/provider.ts";
import { claimByOperator } from "../workspaces/claim-domains.ts";

const [smtp, provider] = [await startMailServer(), await startProvider()];
after(() => Promise.all([smtp.close(), provider.close()]));
const app = await startTestApp({
  env: {
    PARLEY_SMTP_URL: smtp.url,
    PARLEY_SMTP_FROM: "Parley <parley@parley.test>",
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    PARLEY_OIDC_ISSUER: provider.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
    PARLEY_OIDC_CREATE_USERS: "true",
  },
});
const { db } = app;
const receiver = await startHookReceiver();
const attackers = await makeWorkspace(db);
const unique = () => Math.random().toString(36).slice(2, 10);
const manage = (method: string, path: string, body?: unknown, token = attackers.admin.token) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const pathOf = (url: string) => new URL(url).pathname;
const mailedTo = async (email: string, start: string): Promise<string> => {
  const mail = await until(`a mail to ${email}`, () =>
    smtp.mails.findLast(({ to, text }) => to.includes(email) && text.includes(start)),
  );
  return pathOf(/http:\/\/parley\.test\/\S+/.exec(mail.text)?.[0] ?? "");
};
const allMailsAreSent = () =>
  until("all mails are sent", async () => {
    const { rowCount } = await db.pool.query(
      "select 1 from jobs where name in ('send_mail', 'request_password_reset')",
    );
    return rowCount === 0;
  });
const attackersPassword = "three geese over the weir";

/** Everything that someone who registered another person's email first can hold. */
interface Hijack {
  readonly id: string;
  readonly email: string;
  readonly browser: Browser;
  readonly token: string;
  readonly apps: { access_token: string; refresh_token: string };
  readonly client: Awaited<ReturnType<typeof makeClient>>;
  readonly resetLink: string;
}

/** An admin of another workspace invites the victim, and takes the account by the link shown to the admin. */
async function hijack(email: string): Promise<Hijack> {
  const invited = await manage("POST", "/users", { email, name: "The victim", role: "admin" });
  assert.equal(invited.status, 200, invited.text);
  const browser = openBrowser(app);
  const form = { name: "The victim", password: attackersPassword };
  assert.equal((await browser.submit(pathOf(invited.body.invitation.url), form)).status, 303);
  const issue = (type: string) =>
    browser.send("POST", "/_/api/v1/tokens", { json: { type, name: "kept" } }).then(({ body }) => body.token);
  const token: string = await issue("personal_access_token");
  const { id } = invited.body.user;
  const client = await makeClient(app, attackers);
  const apps = await obtainTokens(app, client, { id, email, name: "", token });
  const hook = { hook_url: `${receiver.url}/spy`, hook_type: "recording_added" };
  const made = await call(app, "POST", "/hooks/create", hook, { token, version: olderVersion });
  assert.equal(made.status, 200, made.text);
  const reset = await manage("POST", `/users/${id}/password-reset-link`);
  return { id, email, browser, token, apps, client, resetLink: pathOf(reset.body.url) };
}

async function assertNothingIsLeft(hijacked: Hijack): Promise<void> {
  assert.equal((await hijacked.browser.get("/_/api/v1/session/me")).status, 401, "session");
  assert.equal(await isActive(app, hijacked.token), false, "personal token");
  assert.equal(await isActive(app, hijacked.apps.access_token), false, "token of an app");
  assert.equal((await refresh(app, hijacked.client, hijacked.apps.refresh_token)).status, 400);
  assert.equal((await openBrowser(app).get(hijacked.resetLink)).status, 404, "reset link");
  const form = { email: hijacked.email, password: attackersPassword };
  assert.equal((await openBrowser(app).submit("/sign-in", form)).status, 401, "password");
  const { rowCount } = await db.pool.query(
    "select 1 from hooks where created_by = $1 and scope = 'personal'",
    [hijacked.id],
  );
  assert.equal(rowCount, 0, "hook");
}

async function signInAsOwner(email: string) {
  provider.people.set(email, { email, email_verified: true, name: "The owner" });
  const browser = openBrowser(app);
  const page = await browser.get(await provider.visit(browser, email));
  return { browser, page };
}

test("the first single sign-on of an unproven email ends everything that someone else has set up", async () => {
  const hijacked = await hijack(`ceo@victim-${unique()}.example`);
  const { browser, page } = await signInAsOwner(hijacked.email);
  assert.equal(page.status, 303, page.text);
  await assertNothingIsLeft(hijacked);
  const me = (await browser.get("/_/api/v1/session/me")).body;
  assert.deepEqual([me.user.id, me.has_password], [hijacked.id, false]);
  const proven = (await auditOf(db, attackers.id)).filter(
    ({ action, subject_id }) => action === "email_proven" && subject_id === hijacked.id,
  );
  assert.deepEqual(
    proven.map(({ details }) => details),
    [{ by: "single_sign_on", ended_sessions: 2, revoked_tokens: 2 }],
  );
});

test("a workspace hook that someone else took over with the unproven account is disabled", async () => {
  const hijacked = await hijack(`ceo@victim-${unique()}.example`);
  const issued = await manage("POST", "/tokens", { type: "workspace_access_token", name: "short" });
  const hook = { hook_url: `${receiver.url}/spy`, hook_type: "recording_added" };
  const { body } = await call(app, "POST", "/hooks/create", hook, {
    token: issued.body.token,
    version: olderVersion,
  });
  await manage("DELETE", `/tokens/${issued.body.id}`);
  const enabled = await hijacked.browser.send("POST", `/_/api/v1/hooks/${body.id}/enable`);
  assert.equal(enabled.status, 200, enabled.text);
  assert.equal((await signInAsOwner(hijacked.email)).page.status, 303);
  const { rows } = await db.pool.query("select disabled_reason from hooks where id = $1", [body.id]);
  assert.match(rows[0].disabled_reason, /proved the email/);
});

test("the first mailed link that the owner uses ends everything that someone else has set up", async () => {
  const hijacked = await hijack(`ceo@victim-${unique()}.example`);
  const browser = openBrowser(app);
  const link = await mailedTo(hijacked.email, "/password-reset/");
  const answer = await browser.submit(link, { password: "the owner's own words" });
  assert.equal(answer.status, 303, answer.text);
  await assertNothingIsLeft(hijacked);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
});

test("a proven account keeps its password, sessions and tokens at the first single sign-on", async () => {
  const email = `own@victim-${unique()}.example`;
  await manage("POST", "/users", { email, name: "Owner" });
  const browser = openBrowser(app);
  const link = await mailedTo(email, "/invitations/");
  assert.equal((await browser.submit(link, { name: "Owner", password: attackersPassword })).status, 303);
  const { body } = await browser.send("POST", "/_/api/v1/tokens", {
    json: { type: "personal_access_token", name: "mine" },
  });
  assert.equal((await signInAsOwner(email)).page.status, 303);
  assert.equal((await browser.get("/_/api/v1/session/me")).body.has_password, true);
  assert.equal(await isActive(app, body.token), true);
});

test("the link that an admin hands over proves nothing", async () => {
  const hijacked = await hijack(`ceo@victim-${unique()}.example`);
  const browser = openBrowser(app);
  assert.equal(
    (await browser.submit(hijacked.resetLink, { password: "another of the attacker" })).status,
    303,
  );
  const row = await db.kysely
    .selectFrom("users")
    .select("email_proven_at")
    .where("id", "=", hijacked.id)
    .executeTakeFirstOrThrow();
  assert.equal(row.email_proven_at, null);
  assert.equal((await signInAsOwner(hijacked.email)).page.status, 303);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
});

test("once the domain is claimed, the owner gets an account in its workspace instead of the attacker's", async () => {
  const domain = `victim-${unique()}.example`;
  const hijacked = await hijack(`ceo@${domain}`);
  const own = await makeWorkspace(db);
  await db.kysely.transaction().execute((tx) => claimByOperator(tx, own.id, domain));
  // Linked by someone else, at the provider that the owner uses too.
  await db.kysely
    .insertInto("identities")
    .values({ issuer: provider.issuer, subject: `${hijacked.id}-own`, user_id: hijacked.id })
    .execute();
  const { browser, page } = await signInAsOwner(hijacked.email);
  assert.equal(page.status, 303, page.text);
  await assertNothingIsLeft(hijacked);
  const me = (await browser.get("/_/api/v1/session/me")).body;
  assert.deepEqual([me.workspace.id, me.user.role, me.user.email], [own.id, "member", hijacked.email]);
  const { body } = await manage("GET", "/users");
  const left = body.users.find(({ id }: { id: string }) => id === hijacked.id);
  assert.deepEqual(
    [left.state, left.email, left.single_sign_on],
    ["deactivated", `${hijacked.id}@released.invalid`, false],
  );
});

test("an account in another workspace that has proven its email stays there when the domain is claimed", async () => {
  const domain = `guest-${unique()}.example`;
  const guest = await makeUser(db, attackers, { email: `guest@${domain}` });
  assert.equal((await signInAsOwner(guest.email)).page.status, 303);
  const own = await makeWorkspace(db);
  await db.kysely.transaction().execute((tx) => claimByOperator(tx, own.id, domain));
  const { browser } = await signInAsOwner(guest.email);
  assert.equal((await browser.get("/_/api/v1/session/me")).body.user.id, guest.id);
  const invited = await manage("POST", "/users", { email: guest.email, name: "G" }, own.admin.token);
  assert.equal(invited.status, 400);
});

test("no email asks the owner of a claimed domain to prove an email for another workspace", async () => {
  const domain = `victim-${unique()}.example`;
  const hijacked = await hijack(`ceo@${domain}`);
  await db.pool.query("delete from one_time_links where user_id = $1", [hijacked.id]);
  const own = await makeWorkspace(db);
  await db.kysely.transaction().execute((tx) => claimByOperator(tx, own.id, domain));
  await allMailsAreSent();
  const before = smtp.mails.filter(({ to }) => to.includes(hijacked.email)).length;
  assert.equal((await openBrowser(app).submit("/password-reset", { email: hijacked.email })).status, 200);
  await allMailsAreSent();
  assert.equal(smtp.mails.filter(({ to }) => to.includes(hijacked.email)).length, before);
});

test("concurrent single sign-on and sign-in with the attacker's password leave no session of the attacker", async () => {
  for (let round = 0; round < 3; round++) {
    const hijacked = await hijack(`ceo@victim-${unique()}.example`);
    const racing = openBrowser(app);
    const form = { email: hijacked.email, password: attackersPassword };
    await Promise.all([signInAsOwner(hijacked.email), racing.submit("/sign-in", form)]);
    if (racing.cookies.has("parley_session"))
      assert.equal((await racing.get("/_/api/v1/session/me")).status, 401);
    await assertNothingIsLeft(hijacked);
  }
});
