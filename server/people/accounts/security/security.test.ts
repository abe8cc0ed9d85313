import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import { backgroundHeader } from "../../../../contract/accounts/background.ts";
import { mcpPath } from "../../../../contract/accounts/oauth.ts";
import { streamNotifications } from "../../../../contract/workspace/notifications.ts";
import { call, currentVersion, startTestApp } from "../../../../test/support/app.ts";
import {
  insertRecording,
  makeUser,
  makeWorkspace,
  type TestWorkspace,
} from "../../../../test/support/factories.ts";
import * as oauth from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { commandLine } from "../../../platform/audit/record.ts";
import { mediaPath } from "../../../recordings/recordings/json/links.ts";
import { thumbnailQuery } from "../../../recordings/recordings/media/viewer-links.ts";
import { makeScimToken, scimClient } from "../../scim/test/scim.ts";
import { createLink } from "../one-time-links/one-time-links.ts";
import {
  auditOf,
  type Browser,
  deleteAllAttempts,
  givePassword,
  hiddenFields,
  openBrowser,
  password,
  signInAs,
} from "../test/accounts.ts";
import { Authenticator } from "../test/authenticator.ts";
import { startMailServer } from "../test/mail.ts";
import { startProvider } from "../test/provider.ts";
import { type RulesChange, resetRules } from "./rules.ts";

const provider = await startProvider();
after(() => provider.close());
const smtp = await startMailServer();
after(() => smtp.close());
const { mails } = smtp;
const app = await startTestApp({
  env: {
    PARLEY_OIDC_ISSUER: provider.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
    PARLEY_OIDC_NAME: "Tidewater ID",
    PARLEY_TRUSTED_PROXIES: "127.0.0.1",
    PARLEY_SMTP_URL: smtp.url,
    PARLEY_SMTP_FROM: "Parley <parley@parley.test>",
  },
});

const path = "/_/api/v1/workspace/security";
const factorPath = "/_/api/v1/me/second-factor";
const me = "/_/api/v1/session/me";
const ruledSession = "/_/api/v1/session";

/** A workspace whose users have a password. */
async function makeRuled() {
  await deleteAllAttempts(app.db);
  const workspace = await makeWorkspace(app.db);
  await givePassword(app.db, workspace.admin, workspace.member);
  return workspace;
}

/** Turns two-factor authentication on. @returns the secret. */
async function turnOn(browser: Browser): Promise<string> {
  const added = await browser.send("POST", factorPath, { json: { type: "totp", password } });
  assert.equal(added.status, 200, added.text);
  const confirmed = await browser.send("POST", `${factorPath}/confirm`, {
    json: { code: codeOf(added.body.secret) },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  // As if it had been a while ago: the current code can be used again.
  await sql`update second_factors set last_step = last_step - 10`.execute(app.db.kysely);
  return added.body.secret;
}

function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}

const change = (browser: Browser, rules: object, headers: Record<string, string> = {}) =>
  browser.send("PATCH", path, { json: rules, headers });

/** Changes rules, which has to work. */
async function setRules(browser: Browser, rules: RulesChange): Promise<void> {
  const changed = await change(browser, rules);
  assert.equal(changed.status, 200, changed.text);
}

const errorOf = async (response: Response) => ((await response.json()) as { error?: unknown }).error;

const withToken = (token: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/_/api/v1/tokens`, { headers: { authorization: `Bearer ${token}`, ...headers } });

/** A user whose admin requires a second factor of all, without a grace period. */
async function requireSecondFactor() {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await turnOn(admin);
  const before = await signInAs(app, workspace.member);
  await setRules(admin, { second_factor: "all", grace_days: 0 });
  return { workspace, admin, before };
}

/** Asserts that a browser can only set up a second factor. */
async function assertSetUpOnly(browser: Browser): Promise<void> {
  const shown = await browser.get(me);
  assert.deepEqual([shown.status, shown.body?.second_factor_due?.is_over], [200, true], shown.text);
  for (const [method, refused] of [
    ["GET", "/_/api/v1/sessions"],
    ["POST", "/_/api/v1/tokens"],
    ["POST", "/_/api/v1/me/passkeys/options"],
    ["GET", "/_/api/v1/library"],
    ["POST", mcpPath],
  ] as const) {
    const answer = await browser.send(method, refused, method === "POST" ? { json: {} } : {});
    assert.equal(answer.body?.error, "second_factor_setup_required", `${refused}: ${answer.text}`);
  }
}

test("without rules nothing is required; only admins see and change them, with a fresh session", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const shown = (await admin.get(path)).body;
  assert.deepEqual(
    [shown.second_factor, shown.allowed_addresses, shown.single_sign_on_only, shown.your_ip],
    ["nobody", [], false, "127.0.0.1"],
  );
  const member = await signInAs(app, workspace.member);
  assert.equal((await member.get(path)).status, 403);
  assert.equal((await change(member, { second_factor: "all" })).status, 403);
  const byToken = await call(
    app,
    "PATCH",
    path,
    { grace_days: 3 },
    { token: workspace.admin.token, version: null },
  );
  assert.deepEqual([byToken.status, byToken.body.error], [403, "forbidden"]);
  await sql`update sessions set created_at = now() - interval '1 hour' where user_id = ${workspace.admin.id}`.execute(
    app.db.kysely,
  );
  assert.equal((await change(admin, { grace_days: 3 })).body.error, "proof_required");
});

test("each change of a rule is audited with both values, and default rules leave no row to read", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await setRules(admin, { session_max_hours: 8, token_max_days: 30 });
  await setRules(admin, { session_max_hours: null, token_max_days: null });
  const entries = (await auditOf(app.db, workspace.id)).filter(
    ({ action }) => action === "security_rules_changed",
  );
  assert.deepEqual(
    entries.map(({ details }) => details),
    [
      {
        before: { session_max_hours: null, token_max_days: null },
        after: { session_max_hours: 8, token_max_days: 30 },
      },
      {
        before: { session_max_hours: 8, token_max_days: 30 },
        after: { session_max_hours: null, token_max_days: null },
      },
    ],
  );
  const { rows } = await sql<{ is_null: boolean }>`
    select security_rules is null as is_null from workspaces where id = ${workspace.id}`.execute(
    app.db.kysely,
  );
  assert.equal(rows[0]?.is_null, true);
});

test("a rule that would refuse its author at once isn't saved", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  for (const [rules, why] of [
    [{ allowed_addresses: ["192.0.2.0/24"] }, /your own IP address/],
    [{ second_factor: "all", grace_days: 0 }, /without|second factor/],
    [{ second_factor: "admins", grace_days: 0 }, /without|second factor/],
  ] as const) {
    const refused = await change(admin, rules);
    assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"], refused.text);
    assert.match(refused.body.detail, why);
    const preview = await admin.send("POST", `${path}/preview`, { json: rules });
    assert.equal(preview.body.refuses_you, refused.body.detail);
  }
  for (const [rules, pointer] of [
    [{ single_sign_on_only: true }, "/break_glass_user_id"],
    [{ single_sign_on_only: true, break_glass_user_id: workspace.member.id }, "/break_glass_user_id"],
    [{ single_sign_on_only: true, break_glass_user_id: workspace.admin.id }, "/break_glass_user_id"],
    [{ allowed_addresses: ["127.0.0.1", "10.0.0.0/33"] }, "/allowed_addresses/1"],
    [{ allowed_addresses: ["127.1"] }, "/allowed_addresses/0"],
    [{ session_idle_minutes: 1 }, "/session_idle_minutes"],
  ] as const) {
    const refused = await change(admin, rules);
    assert.deepEqual([refused.status, refused.body.violations?.[0].pointer], [400, pointer], refused.text);
  }
  await turnOn(admin);
  const other = await signInAs(app, workspace.member);
  const stranger = await makeRuled();
  assert.equal(
    (await change(admin, { single_sign_on_only: true, break_glass_user_id: stranger.admin.id })).status,
    400,
  );
  // Another admin could be the break-glass admin; then the author's own session would be refused.
  await sql`update users set role = 'admin' where id = ${workspace.member.id}`.execute(app.db.kysely);
  await turnOn(other);
  const notMine = await change(admin, {
    single_sign_on_only: true,
    break_glass_user_id: workspace.member.id,
  });
  assert.deepEqual([notMine.status, notMine.body.cause?.code], [409, "lockout_single_sign_on"], notMine.text);
  // The password alone would not be enough for the break-glass admin either.
  await sql`update sessions set second_factor = null where user_id = ${workspace.admin.id}`.execute(
    app.db.kysely,
  );
  const own = { single_sign_on_only: true, break_glass_user_id: workspace.admin.id };
  assert.equal((await change(admin, own)).body.cause?.code, "lockout_single_sign_on");
  await sql`update sessions set second_factor = 'totp' where user_id = ${workspace.admin.id}`.execute(
    app.db.kysely,
  );
  await setRules(admin, own);
  assert.equal((await other.get(me)).status, 401);
});

test("the shortest session, idle time and life of tokens that can be saved leave their author signed in", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  for (const rules of [{ session_max_hours: 0 }, { session_idle_minutes: 4 }, { token_max_days: 0 }])
    assert.equal((await change(admin, rules)).status, 400, JSON.stringify(rules));
  // The oldest session that may change rules.
  await sql`update sessions set created_at = now() - interval '14 minutes' where user_id = ${workspace.admin.id}`.execute(
    app.db.kysely,
  );
  await setRules(admin, { session_max_hours: 1, session_idle_minutes: 5, token_max_days: 1 });
  assert.equal((await admin.get(me)).status, 200);
});

test("without a provider, single sign-on only isn't saved", async () => {
  const plain = await startTestApp({ worker: false });
  const workspace = await makeWorkspace(plain.db);
  await givePassword(plain.db, workspace.admin);
  const admin = await signInAs(plain, workspace.admin);
  const added = await admin.send("POST", factorPath, { json: { type: "totp", password } });
  await admin.send("POST", `${factorPath}/confirm`, { json: { code: codeOf(added.body.secret) } });
  const json = { single_sign_on_only: true, break_glass_user_id: workspace.admin.id };
  const refused = await admin.send("PATCH", path, { json });
  assert.deepEqual([refused.status, refused.body.cause?.code], [409, "single_sign_on_missing"], refused.text);
});

test("a required second factor: in the grace period users see until when; after it sessions only set it up", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const member = await signInAs(app, workspace.member);
  await setRules(admin, { second_factor: "all", grace_days: 7 });
  const due = (await member.get(me)).body.second_factor_due;
  assert.equal(due.is_over, false);
  const days = (Date.parse(due.datetime) - Date.now()) / 86_400_000;
  assert.ok(days > 6.99 && days <= 7);
  assert.equal((await member.get("/_/api/v1/sessions")).status, 200);
  assert.equal((await withToken(workspace.member.token)).status, 200);
  // A week later.
  await sql`
    update workspaces set security_rules = security_rules || '{"all_since": "2026-01-01T00:00:00.000Z"}'
    where id = ${workspace.id}`.execute(app.db.kysely);
  await sql`update users set created_at = '2025-01-01' where workspace_id = ${workspace.id}`.execute(
    app.db.kysely,
  );
  await assertSetUpOnly(member);
  const byToken = await withToken(workspace.member.token);
  assert.deepEqual([byToken.status, await errorOf(byToken)], [403, "refused_by_rule"]);
  const secret = await turnOn(member);
  const done = (await member.get(me)).body;
  assert.deepEqual([done.second_factor_due, done.session.second_factor], [null, "totp"]);
  assert.equal((await member.get("/_/api/v1/sessions")).status, 200);
  assert.equal((await withToken(workspace.member.token)).status, 200, "its user has a second factor now");
  const again = await openBrowser(app).send("POST", ruledSession, {
    json: { email: workspace.member.email, password, code: codeOf(secret) },
  });
  assert.deepEqual([again.status, again.body.second_factor_due], [200, null], again.text);
  const off = await member.send("DELETE", factorPath);
  assert.deepEqual([off.status, off.body.error], [409, "wrong_state"]);
});

test("admins who had to have a second factor get no new grace period when all users need one", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await turnOn(admin);
  await setRules(admin, { second_factor: "admins", grace_days: 0 });
  const member = await signInAs(app, workspace.member);
  assert.equal((await member.get(me)).body.second_factor_due, null);
  await sql`
    update workspaces set security_rules = security_rules || '{"admins_since": "2026-01-01T00:00:00.000Z"}'
    where id = ${workspace.id}`.execute(app.db.kysely);
  await setRules(admin, { second_factor: "all" });
  const { rows } = await sql<{ admins_since: string }>`
    select security_rules ->> 'admins_since' as admins_since from workspaces where id = ${workspace.id}`.execute(
    app.db.kysely,
  );
  assert.equal(rows[0]?.admins_since, "2026-01-01T00:00:00.000Z");
  await assertSetUpOnly(member);
});

test("password reset, invitation and other one-time links get past no second factor", async () => {
  const { workspace, before } = await requireSecondFactor();
  await assertSetUpOnly(before);
  for (const purpose of ["password_reset", "invitation"] as const) {
    const { url } = await app.db.kysely.transaction().execute((tx) =>
      createLink(tx, {
        userId: workspace.member.id,
        purpose,
        ttlMs: 60_000,
        baseUrl: app.config.baseUrl,
        creator: null,
      }),
    );
    const browser = openBrowser(app);
    const answer = await browser.submit(new URL(url).pathname, { name: "Ines", password });
    assert.equal(answer.status, 303, answer.text);
    await assertSetUpOnly(browser);
  }
});

test("an app gets no access by the consent of a user who lacks the required second factor", async () => {
  const { workspace } = await requireSecondFactor();
  const client = await oauth.makeClient(app, workspace);
  const browser = oauth.openBrowser(app);
  const url = oauth.authorizeUrl(client, {
    code_challenge: oauth.makePkce().challenge,
    code_challenge_method: "S256",
  });
  const shown = await browser.submit(await browser.get(url), { email: workspace.member.email, password });
  assert.equal(shown.leftTo, null);
  assert.doesNotMatch(shown.html, /name="allow"/);
  assert.match(shown.html, /requires a second factor/);
  const silent = await browser.get(`${url}&prompt=none`);
  assert.equal(silent.leftTo?.searchParams.get("error"), "access_denied");
});

test("an app's sign-in page asks for the code before consent, and shows no consent without it", async () => {
  const workspace = await makeRuled();
  const secret = await turnOn(await signInAs(app, workspace.member));
  const client = await oauth.makeClient(app, workspace);
  const url = oauth.authorizeUrl(client, {
    code_challenge: oauth.makePkce().challenge,
    code_challenge_method: "S256",
  });
  const at = new URL(url, app.url);
  const browser = openBrowser(app);
  const asked = await browser.submit(at.pathname + at.search, { email: workspace.member.email, password });
  assert.deepEqual([asked.status, asked.location], [303, "/sign-in/code"], asked.text);
  const skipped = await browser.get(at.pathname + at.search);
  assert.doesNotMatch(skipped.text, /name="allow"/);
  assert.match(skipped.text, /name="password"/);
  const done = await browser.submit("/sign-in/code", { code: codeOf(secret) });
  assert.equal(done.status, 303, done.text);
  assert.match((await browser.get(done.location ?? "")).text, /name="allow"/);
});

test("removing a passkey ends the sessions that it began, and the password alone only sets up a second factor", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await turnOn(admin);
  const member = await signInAs(app, workspace.member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const keys = "/_/api/v1/me/passkeys";
  const started = await member.send("POST", `${keys}/options`);
  const added = await member.send("POST", keys, {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  await setRules(admin, { second_factor: "all", grace_days: 0 });
  const [first, second] = [openBrowser(app), openBrowser(app)];
  for (const browser of [first, second]) {
    const { options } = (await browser.send("POST", "/_/api/v1/session/passkey/options")).body;
    const json = { response: key.use(options) };
    const signedIn = await browser.send("POST", "/_/api/v1/session/passkey", { json });
    assert.deepEqual([signedIn.status, signedIn.body.second_factor_due], [200, null], signedIn.text);
  }
  assert.equal((await first.send("DELETE", `${keys}/${added.body.id}`)).status, 200);
  assert.equal((await second.get(me)).status, 401, "a session of the removed passkey");
  await assertSetUpOnly(await signInAs(app, workspace.member));
});

test("the longest session and the longest idle time end sessions that exist; tokens end at their longest life", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const [old, idle, current] = [
    await signInAs(app, workspace.member),
    await signInAs(app, workspace.member),
    await signInAs(app, workspace.member),
  ];
  await sql`
    with ordered as (select id, row_number() over (order by created_at, id) as n
      from sessions where user_id = ${workspace.member.id})
    update sessions s set
      created_at = case n when 1 then now() - interval '9 hours' else s.created_at end,
      last_used_at = case n when 2 then now() - interval '31 minutes' else now() end
    from ordered o where o.id = s.id`.execute(app.db.kysely);
  for (const browser of [old, current]) assert.equal((await browser.get(me)).status, 200);
  await sql`update access_tokens set created_at = now() - interval '31 days'
    where user_id = ${workspace.member.id}`.execute(app.db.kysely);
  assert.equal((await withToken(workspace.member.token)).status, 200);
  await setRules(admin, { session_max_hours: 8, session_idle_minutes: 30, token_max_days: 30 });
  assert.equal((await old.get(me)).status, 401);
  assert.equal((await idle.get(me)).status, 401);
  assert.equal((await idle.get("/")).location, "/sign-in?next=%2F");
  assert.equal((await current.get(me)).status, 200);
  const ended = await withToken(workspace.member.token);
  assert.deepEqual([ended.status, await errorOf(ended)], [401, "token_invalid"]);
  const create = (values: object) =>
    current.send("POST", "/_/api/v1/tokens", {
      json: { type: "personal_access_token", name: "Bot", ...values },
    });
  const days = (at: string) => (Date.parse(at) - Date.now()) / 86_400_000;
  assert.ok(Math.abs(days((await create({})).body.expires_at) - 30) < 0.01);
  const late = await create({ expires_at: new Date(Date.now() + 31 * 86_400_000).toISOString() });
  assert.deepEqual([late.status, late.body.violations?.[0].pointer], [400, "/expires_at"]);
  // A token that ends by the rule in ten days, and itself says nothing.
  await sql`update access_tokens set created_at = now() - interval '20 days', expires_at = null
    where user_id = ${workspace.member.id}`.execute(app.db.kysely);
  const renew = (expiresInDays: number) =>
    call(
      app,
      "POST",
      "/_/api/v1/tokens",
      {
        type: "personal_access_token",
        name: "Heir",
        expires_at: new Date(Date.now() + expiresInDays * 86_400_000).toISOString(),
      },
      { token: workspace.member.token, version: null },
    );
  const heir = await renew(11);
  assert.deepEqual([heir.status, heir.body.violations?.[0].pointer], [400, "/expires_at"], heir.text);
  assert.equal((await renew(9)).status, 200);
});

test("a password alone doesn't set up a second factor for who has a passkey or single sign-on; an admin's reset does", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await turnOn(admin);
  const owner = await signInAs(app, workspace.member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const started = await owner.send("POST", "/_/api/v1/me/passkeys/options");
  const added = await owner.send("POST", "/_/api/v1/me/passkeys", {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  await setRules(admin, { second_factor: "all", grace_days: 30 });
  const start = (browser: Browser) => browser.send("POST", factorPath, { json: { type: "totp", password } });
  const unproven = await signInAs(app, workspace.member);
  for (const path of [`/_/api/v1/me/passkeys/${added.body.id}`, "/_/api/v1/me/single-sign-on"])
    assertUnproven(await unproven.send("DELETE", path));
  assertUnproven(await unproven.send("POST", "/_/api/v1/me/passkeys/options"));
  assertUnproven(
    await unproven.send("POST", "/_/api/v1/me/passkeys", {
      json: { response: key.create(started.body.options), name: "Own" },
    }),
  );
  assertUnproven(await start(unproven));
  const withKey = openBrowser(app);
  const asked = await withKey.send("POST", "/_/api/v1/session/passkey/options");
  const used = await withKey.send("POST", "/_/api/v1/session/passkey", {
    json: { response: key.use(asked.body.options) },
  });
  assert.equal(used.status, 200, used.text);
  assert.equal((await start(withKey)).status, 200, "with the passkey");
  const reset = await admin.send("DELETE", `/_/api/v1/users/${workspace.member.id}/second-factor`);
  assert.equal(reset.status, 200, reset.text);
  assert.equal((await withKey.get(me)).status, 401);
  assert.equal((await start(await signInAs(app, workspace.member))).status, 200, "after the reset");
  await signInAtProvider(workspace);
  // The first proof of the email has removed it.
  await givePassword(app.db, workspace.member);
  const linked = await signInAs(app, workspace.member);
  assertUnproven(await start(linked));
  assertUnproven(await linked.send("DELETE", "/_/api/v1/me/single-sign-on"));
  await sql`update users set role = 'admin' where id = ${workspace.member.id}`.execute(app.db.kysely);
  for (const what of ["second-factor", "single-sign-on"])
    assertUnproven(
      await linked.send("DELETE", `/_/api/v1/users/${workspace.member.id.toUpperCase()}/${what}`),
    );
});

function assertUnproven({ status, body, text }: Awaited<ReturnType<Browser["send"]>>): void {
  assert.deepEqual([status, body.cause?.code], [409, "second_factor_unproven"], text);
}

test("requests that no user caused, and streams, don't count as use of a session, but show where they come from", async () => {
  const { admin, member } = await makeRuled();
  const browser = await signInAs(app, member);
  const lastUse = async () => {
    const { rows } = await sql<{ age: number }>`
      select extract(epoch from now() - last_used_at)::int as age from sessions where user_id = ${member.id}`.execute(
      app.db.kysely,
    );
    return rows[0]?.age ?? 0;
  };
  const age = () =>
    sql`update sessions set last_used_at = now() - interval '10 minutes' where user_id = ${member.id}`.execute(
      app.db.kysely,
    );
  await age();
  assert.equal((await browser.get(me, { [backgroundHeader]: "1" })).status, 200);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const stream = await fetch(app.url + streamNotifications.path, { headers: { cookie } });
  assert.equal(stream.status, 200);
  assert.ok((await lastUse()) >= 600);
  const hidden = { [backgroundHeader]: "1", "x-forwarded-for": "192.0.2.7" };
  assert.equal((await browser.get(me, hidden)).status, 200);
  assert.ok((await lastUse()) >= 600);
  const { rows } = await sql`select last_ip from sessions where user_id = ${member.id}`.execute(
    app.db.kysely,
  );
  assert.deepEqual(rows, [{ last_ip: "192.0.2.7" }]);
  const change = await browser.send("PATCH", "/_/api/v1/me", { json: { name: "Ines" }, headers: hidden });
  assert.equal(change.status, 200, change.text);
  assert.ok((await lastUse()) < 60, "a change is use");
  await age();
  assert.equal((await browser.get(me)).status, 200);
  assert.ok((await lastUse()) < 60);
  await age();
  await setRules(await signInAs(app, admin), { session_idle_minutes: 5 });
  // The open stream ends with the session, and nothing it could send brings the session back.
  await assert.rejects(stream.text());
  assert.equal((await browser.get(me, { [backgroundHeader]: "1" })).status, 401);
  assert.equal((await browser.get(me)).status, 401);
});

/** A workspace in which the member signs in by single sign-on, and what they had before the rule. */
async function requireSingleSignOn() {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const secret = await turnOn(admin);
  const old = await signInAs(app, workspace.member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const started = await old.send("POST", "/_/api/v1/me/passkeys/options");
  const added = await old.send("POST", "/_/api/v1/me/passkeys", {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  const client = await oauth.makeClient(app, workspace, {});
  const tokens = await oauth.obtainTokens(app, client, workspace.member);
  const unused = await oauth.obtainCode(app, client, workspace.member);
  await setRules(admin, { single_sign_on_only: true, break_glass_user_id: workspace.admin.id });
  return { workspace, admin, secret, old, key, client, tokens, unused };
}

async function signInAtProvider(workspace: TestWorkspace, user = workspace.member): Promise<Browser> {
  const subject = `sub-${user.id}`;
  provider.people.set(subject, { email: user.email, email_verified: true });
  const browser = openBrowser(app);
  const answer = await browser.get(await provider.visit(browser, subject));
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

test("single sign-on only: passwords, links, earlier sessions, tokens and apps are refused", async () => {
  const { workspace, old, key, client, tokens, unused } = await requireSingleSignOn();
  const byPassword = await openBrowser(app).send("POST", ruledSession, {
    json: { email: workspace.member.email, password },
  });
  assert.deepEqual([byPassword.status, byPassword.body.error], [403, "refused_by_rule"]);
  const page = openBrowser(app);
  const form = await page.submit("/sign-in", { email: workspace.member.email, password });
  assert.equal(form.status, 403);
  assert.match(form.text, /single sign-on only/);
  assert.equal(page.cookies.has("parley_session"), false);
  const { url } = await app.db.kysely.transaction().execute((tx) =>
    createLink(tx, {
      userId: workspace.member.id,
      purpose: "password_reset",
      ttlMs: 60_000,
      baseUrl: app.config.baseUrl,
      creator: null,
    }),
  );
  const byLink = openBrowser(app);
  assert.equal((await byLink.submit(new URL(url).pathname, { password: "another long one" })).status, 403);
  assert.equal(byLink.cookies.has("parley_session"), false);
  const byKey = openBrowser(app);
  const { options } = (await byKey.send("POST", "/_/api/v1/session/passkey/options")).body;
  const used = await byKey.send("POST", "/_/api/v1/session/passkey", {
    json: { response: key.use(options) },
  });
  assert.deepEqual([used.status, used.body.error], [403, "refused_by_rule"], used.text);
  assert.equal(byKey.cookies.has("parley_session"), false);
  const refused = (await auditOf(app.db, workspace.id)).filter(({ action }) => action === "sign_in_failed");
  assert.deepEqual(
    refused.map(({ user_id, details }) => [user_id, details]),
    ["password", "password", "link", "passkey"].map((method) => [
      workspace.member.id,
      { method, refused_by: "single_sign_on" },
    ]),
  );
  assert.equal((await old.get(me)).status, 401);
  for (const token of [
    ...[workspace.member.token, workspace.admin.token, workspace.token, tokens.access_token],
  ]) {
    const answer = await fetch(`${app.url}/_/public-api/v2/token-info`, {
      headers: { authorization: `Bearer ${token}`, "public-api-version": currentVersion },
    });
    assert.deepEqual(
      [answer.status, await errorOf(answer)],
      [403, "refused_by_rule"],
      "from before the rule",
    );
  }
  const exchanged = await oauth.exchange(app, client, unused);
  assert.deepEqual([exchanged.status, exchanged.body.error], [400, "invalid_grant"], "a code from before");
  const refreshed = await oauth.refresh(app, client, tokens.refresh_token);
  assert.deepEqual([refreshed.status, refreshed.body.error], [400, "invalid_grant"]);
  const authorize = oauth.openBrowser(app);
  const consent = oauth.authorizeUrl(client, {
    code_challenge: oauth.makePkce().challenge,
    code_challenge_method: "S256",
  });
  const shown = await authorize.submit(await authorize.get(consent), {
    email: workspace.member.email,
    password,
  });
  assert.equal(shown.status, 403);
  assert.match(shown.html, /single sign-on only/);
});

test("single sign-on only: the provider's sign-in works, new tokens too, and the break-glass admin needs a code", async () => {
  const { workspace, admin, secret } = await requireSingleSignOn();
  const member = await signInAtProvider(workspace);
  assert.equal((await member.get(me)).body.session.method, "single_sign_on");
  const made = await member.send("POST", "/_/api/v1/tokens", {
    json: { type: "personal_access_token", name: "After" },
  });
  assert.equal((await withToken(made.body.token)).status, 200);
  assert.equal((await admin.get(me)).status, 200, "the author's session");
  const signIn = (code?: string) =>
    openBrowser(app).send("POST", ruledSession, {
      json: { email: workspace.admin.email, password, ...(code === undefined ? {} : { code }) },
    });
  assert.equal((await signIn()).body.error, "second_factor_required");
  assert.equal((await signIn(codeOf(secret))).status, 200);
  assert.equal(
    (await admin.send("DELETE", factorPath)).status,
    409,
    "the second factor of the break-glass admin",
  );
});

test("the break-glass admin's first single sign-on, which proves the email, keeps password, code and passkeys", async () => {
  const { workspace, admin, secret } = await requireSingleSignOn();
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const started = await admin.send("POST", "/_/api/v1/me/passkeys/options");
  const added = await admin.send("POST", "/_/api/v1/me/passkeys", {
    json: { name: "Safe", response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  await signInAtProvider(workspace, workspace.admin);
  assert.ok((await auditOf(app.db, workspace.id)).some(({ action }) => action === "email_proven"));
  const byPassword = openBrowser(app);
  const answer = await byPassword.send("POST", ruledSession, {
    json: { email: workspace.admin.email, password, code: codeOf(secret) },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await byPassword.get("/_/api/v1/me/passkeys")).body.passkeys.length, 1);
});

test("the break-glass admin stays one while single sign-on only is on, and the rule can always be turned off", async () => {
  const { workspace } = await requireSingleSignOn();
  await sql`update users set role = 'admin' where id = ${workspace.member.id}`.execute(app.db.kysely);
  const other = await signInAtProvider(workspace);
  const user = `/_/api/v1/users/${workspace.admin.id}`;
  for (const [method, at, json, why] of [
    ["PATCH", user, { role: "member" }, /break-glass admin.*name another/],
    ["POST", `${user}/deactivate`, undefined, /break-glass admin.*name another/],
    ["DELETE", `${user}/second-factor`, undefined, /break-glass admin.*parley security reset/],
    [
      ...(["POST", "/_/api/v1/erasures"] as const),
      { email: workspace.admin.email, recordings: "anonymise" },
      /break-glass admin.*name another/,
    ],
  ] as const) {
    const refused = await other.send(method, at, json === undefined ? {} : { json });
    assert.deepEqual([refused.status, refused.body?.error], [409, "wrong_state"], `${at}: ${refused.text}`);
    assert.match(refused.body.detail, why);
  }
  const { token } = await makeScimToken(app.db, workspace);
  for (const method of ["PATCH", "DELETE"]) {
    const refused = await scimClient(app, token)(
      method,
      `/Users/${workspace.admin.id}`,
      method === "PATCH"
        ? {
            schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            Operations: [{ op: "replace", value: { active: false } }],
          }
        : undefined,
    );
    assert.deepEqual([refused.status, /break-glass admin/.test(refused.body.detail)], [409, true], method);
  }
  await sql`update users set role = 'member' where id = ${workspace.admin.id}`.execute(app.db.kysely);
  assert.equal(
    (await change(other, { session_max_hours: 8 })).status,
    400,
    "the admin can't be used any more",
  );
  await setRules(other, { single_sign_on_only: false });
  assert.equal((await other.send("POST", `${user}/deactivate`)).status, 200);
});

test("a session cookie that someone else has set does not become the user's session", async () => {
  const workspace = await makeRuled();
  const attacker = await signInAs(app, workspace.member);
  const planted = attacker.cookies.get("parley_session") ?? "";
  for (const cookie of [planted, "A".repeat(43)]) {
    const victim = openBrowser(app);
    victim.cookies.set("parley_session", cookie);
    const answer = await victim.send("POST", ruledSession, {
      json: { email: workspace.admin.email, password },
    });
    assert.equal(answer.status, 200, answer.text);
    assert.notEqual(victim.cookies.get("parley_session"), cookie);
    const asAttacker = openBrowser(app);
    asAttacker.cookies.set("parley_session", cookie);
    assert.equal((await asAttacker.get(me)).status, 401);
  }
});

test("a planted session cookie is replaced by every way to sign in, and so is a sign-in that someone else has begun", async () => {
  const workspace = await makeRuled();
  const attacker = workspace.admin;
  const { member } = workspace;
  await signInAtProvider(workspace);
  await givePassword(app.db, member);
  const owner = await signInAs(app, member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const started = await owner.send("POST", "/_/api/v1/me/passkeys/options");
  await owner.send("POST", "/_/api/v1/me/passkeys", {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  const secret = await turnOn(owner);
  const { url } = await app.db.kysely.transaction().execute((tx) =>
    createLink(tx, {
      ...{ userId: member.id, purpose: "password_reset", ttlMs: 60_000 },
      ...{ baseUrl: app.config.baseUrl, creator: null },
    }),
  );
  const ways: Record<string, (victim: Browser) => Promise<unknown>> = {
    provider: async (victim) => victim.get(await provider.visit(victim, `sub-${member.id}`)),
    passkey: async (victim) => {
      const { options } = (await victim.send("POST", "/_/api/v1/session/passkey/options")).body;
      await victim.send("POST", "/_/api/v1/session/passkey", { json: { response: key.use(options) } });
    },
    "link and code": async (victim) => {
      await victim.submit(new URL(url).pathname, { password });
      await victim.submit("/sign-in/code", { code: codeOf(secret) });
    },
  };
  for (const [way, signIn] of Object.entries(ways)) {
    const planted = (await signInAs(app, attacker)).cookies.get("parley_session") ?? "";
    const victim = openBrowser(app);
    victim.cookies.set("parley_session", planted);
    await signIn(victim);
    assert.notEqual(victim.cookies.get("parley_session"), planted, way);
    assert.equal((await victim.get(me)).body.user?.id, member.id, way);
    const asAttacker = openBrowser(app);
    asAttacker.cookies.set("parley_session", planted);
    assert.equal((await asAttacker.get(me)).status, 401, `${way}: the planted session has ended`);
  }
  // A sign-in of the attacker that lacks its code takes none of the victim.
  const attackersSecret = await turnOn(await signInAs(app, attacker));
  const begun = openBrowser(app);
  await begun.submit("/sign-in", { email: attacker.email, password });
  await sql`update second_factors set last_step = last_step - 10`.execute(app.db.kysely);
  assert.equal((await begun.submit("/sign-in/code", { code: codeOf(secret) })).status, 401);
  assert.equal((await begun.submit("/sign-in/code", { code: codeOf(attackersSecret) })).status, 303);
  assert.equal((await begun.get(me)).body.user?.id, attacker.id);
});

test("allowed IP addresses: sessions, tokens, apps and files work from them only, in both families", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const client = await oauth.makeClient(app, workspace);
  const tokens = await oauth.obtainTokens(app, client, workspace.member);
  await setRules(admin, { allowed_addresses: ["127.0.0.1", "192.0.2.0/24", "2001:db8:7::/48"] });
  const from = (ip: string) => ({ "x-forwarded-for": ip });
  for (const ip of ["192.0.2.77", "2001:db8:7::1", "::ffff:192.0.2.1"]) {
    assert.equal((await admin.get(me, from(ip))).status, 200, ip);
    assert.equal((await withToken(workspace.member.token, from(ip))).status, 200, ip);
  }
  for (const ip of ["192.0.3.1", "2001:db8:8::1", "::ffff:192.0.3.1"]) {
    const session = await admin.get(me, from(ip));
    assert.deepEqual([session.status, session.body.error], [403, "refused_by_rule"], ip);
    const page = await admin.get("/", from(ip));
    assert.equal(page.status, 403);
    assert.match(page.text, /network isn&#39;t allowed/);
    for (const token of [workspace.member.token, tokens.access_token]) {
      const answer = await fetch(`${app.url}${mcpPath}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, ...from(ip) },
      });
      assert.deepEqual([answer.status, await errorOf(answer)], [403, "refused_by_rule"], ip);
    }
    const signIn = await openBrowser(app).send("POST", ruledSession, {
      json: { email: workspace.member.email, password },
      headers: from(ip),
    });
    assert.deepEqual([signIn.status, signIn.body.error], [403, "refused_by_rule"]);
    await deleteAllAttempts(app.db);
  }
  const refresh = (ip: string) =>
    fetch(`${app.url}${oauth.tokenPath}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...from(ip) },
      body: JSON.stringify({
        grant_type: "refresh_token",
        refresh_token: tokens.refresh_token,
        ...oauth.credentials(client),
      }),
    });
  const recordingId = await insertRecording(app.db, { recorderId: workspace.member.id });
  const query = thumbnailQuery(app.signer, recordingId, workspace.member.id);
  const file = async (ip: string) => {
    const url = `${app.url}${mediaPath}/${recordingId}/thumbnail.jpg?${query}`;
    return ((await (await fetch(url, { headers: from(ip) })).json()) as { detail: string }).detail;
  };
  assert.match(await file("192.0.3.1"), /does not allow this IP address/);
  assert.match(await file("192.0.2.1"), /its recording was deleted/, "allowed; there is no picture");
  assert.equal((await refresh("192.0.3.1")).status, 400);
  assert.equal((await refresh("192.0.2.1")).status, 200, "the refused token was not used up");
});

test("sign-ins that a rule refuses are in the audit log, by passkey, provider and code, and what proved them stays used", async () => {
  const workspace = await makeRuled();
  const { member } = workspace;
  const admin = await signInAs(app, workspace.admin);
  await signInAtProvider(workspace);
  // The first proof of the email has removed it.
  await givePassword(app.db, member);
  const owner = await signInAs(app, member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const started = await owner.send("POST", "/_/api/v1/me/passkeys/options");
  const added = await owner.send("POST", "/_/api/v1/me/passkeys", {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  const secret = await turnOn(owner);
  await setRules(admin, { allowed_addresses: ["127.0.0.1"] });
  const headers = { "x-forwarded-for": "203.0.113.9" };
  const withKey = openBrowser(app);
  const { options } = (await withKey.send("POST", "/_/api/v1/session/passkey/options")).body;
  const json = { response: key.use(options) };
  const byKey = await withKey.send("POST", "/_/api/v1/session/passkey", { json, headers });
  assert.deepEqual([byKey.status, byKey.body.error], [403, "refused_by_rule"], byKey.text);
  const keyAgain = await withKey.send("POST", "/_/api/v1/session/passkey", { json });
  assert.equal(keyAgain.status, 401, "the challenge was used");
  const atProvider = openBrowser(app);
  const callback = await provider.visit(atProvider, `sub-${member.id}`);
  assert.equal((await atProvider.get(callback, headers)).status, 403);
  assert.ok((await atProvider.get(callback)).status >= 400, "the response of the provider was used");
  const byCode = openBrowser(app);
  const asked = await byCode.submit("/sign-in", { email: member.email, password });
  assert.equal(asked.location, "/sign-in/code");
  const code = codeOf(secret);
  const refused = await byCode.send("POST", "/sign-in/code", {
    form: { ...hiddenFields((await byCode.get("/sign-in/code")).text), code },
    headers: { ...headers, origin: app.url, "sec-fetch-site": "same-origin" },
  });
  assert.equal(refused.status, 403, refused.text);
  for (const browser of [withKey, atProvider, byCode])
    assert.equal(browser.cookies.has("parley_session"), false);
  const codeAgain = await openBrowser(app).send("POST", ruledSession, {
    json: { email: member.email, password, code },
  });
  assert.equal(codeAgain.body.error, "sign_in_refused", "the code was used");
  const failed = (await auditOf(app.db, workspace.id)).filter(({ action }) => action === "sign_in_failed");
  assert.deepEqual(
    failed.map(({ user_id, ip, details }) => [user_id, ip, details]),
    [
      ...["passkey", "single_sign_on", "password"].map((method) => [
        member.id,
        headers["x-forwarded-for"],
        { method, refused_by: "address" },
      ]),
      [member.id, "127.0.0.1", { method: "second_factor" }],
    ],
  );
});

test("the operator's reset ends all rules for the next request, and is audited", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await setRules(admin, { allowed_addresses: ["127.0.0.1"], second_factor: "all", session_max_hours: 8 });
  const outside = { "x-forwarded-for": "203.0.113.9" };
  assert.equal((await admin.get(me, outside)).status, 403);
  const reset = () => app.db.kysely.transaction().execute((tx) => resetRules(tx, commandLine(workspace.id)));
  assert.equal(await reset(), true);
  assert.equal((await admin.get(me, outside)).status, 200);
  assert.equal(await reset(), false);
  const [last] = (await auditOf(app.db, workspace.id)).slice(-1);
  assert.deepEqual([last?.action, last?.credential], ["security_rules_changed", "cli"]);
});

test("a stream that is open ends when a rule refuses it", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  const stream = await fetch(`${app.url}/_/api/v1/notifications/stream`, {
    headers: { authorization: `Bearer ${workspace.member.token}`, "x-forwarded-for": "203.0.113.9" },
  });
  assert.equal(stream.status, 200);
  await setRules(admin, { allowed_addresses: ["127.0.0.1"] });
  await assert.rejects(stream.text());
});

test("the preview names the users who would be locked out, by where they last came from", async () => {
  const workspace = await makeRuled();
  const admin = await signInAs(app, workspace.admin);
  await sql`update access_tokens set last_ip = '127.0.0.1' where user_id = ${workspace.admin.id}`.execute(
    app.db.kysely,
  );
  await turnOn(admin);
  const member = await signInAs(app, workspace.member);
  await sql`update sessions set last_used_at = now() - interval '2 minutes'
    where user_id = ${workspace.member.id}`.execute(app.db.kysely);
  await sql`update access_tokens set last_used_at = null where user_id = ${workspace.member.id}`.execute(
    app.db.kysely,
  );
  assert.equal((await member.get(me, { "x-forwarded-for": "203.0.113.9" })).status, 200);
  for (const [name, ip] of [
    ["Inside", "127.0.0.1"],
    ["Outside", "203.0.113.10"],
    ["Unused", null],
  ] as const) {
    const made = await admin.send("POST", "/_/api/v1/scim-tokens", { json: { name } });
    assert.equal(made.status, 200, made.text);
    if (ip === null) continue;
    const headers = { authorization: `Bearer ${made.body.token}`, "x-forwarded-for": ip };
    assert.equal((await fetch(`${app.url}/_/scim/v2/Users`, { headers })).status, 200);
  }
  const preview = await admin.send("POST", `${path}/preview`, {
    json: { allowed_addresses: ["127.0.0.0/8"], second_factor: "all", grace_days: 7 },
  });
  assert.equal(preview.status, 200, preview.text);
  const { users, ...counts } = preview.body;
  assert.equal(counts.refuses_you, null);
  assert.deepEqual([counts.user_count, counts.session_count, counts.token_count], [1, 1, 0]);
  assert.ok(counts.unknown_address_count >= 1);
  assert.deepEqual(
    users.map(({ id, reasons, addresses }: { id: string; reasons: string[]; addresses: string[] }) => [
      id,
      [...reasons].sort(),
      addresses,
    ]),
    [[workspace.member.id, ["address", "second_factor"], ["203.0.113.9"]]],
  );
  assert.deepEqual(
    counts.scim_tokens.map(({ name, address }: { name: string; address: string | null }) => [name, address]),
    [
      ["Outside", "203.0.113.10"],
      ["Unused", null],
    ],
  );
  assert.ok(Date.parse(users[0].second_factor_due) > Date.now());
  assert.equal(
    (await member.get(me, { "x-forwarded-for": "203.0.113.9" })).status,
    200,
    "nothing was changed",
  );
});

test("a new browser is reported by email, with its name and IP address; the first sign-in and known browsers are not", async () => {
  const workspace = await makeRuled();
  const { member } = workspace;
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0";
  const signIn = async (browser: Browser, ip: string, userAgent = firefox) => {
    const answer = await browser.send("POST", ruledSession, {
      json: { email: member.email, password },
      headers: { "x-forwarded-for": ip, "user-agent": userAgent },
    });
    assert.equal(answer.status, 200, answer.text);
  };
  const mailsTo = () => mails.filter((mail) => mail.to.includes(member.email));
  const first = openBrowser(app);
  await signIn(first, "192.0.2.1");
  await signIn(first, "198.51.100.1");
  await signIn(openBrowser(app), "192.0.2.1");
  await until("the mail", () => mailsTo().length === 1);
  assert.match(
    mailsTo()[0]?.text ?? "",
    /New sign-in to Parley[\s\S]*Firefox on Linux, from the IP address 192\.0\.2\.1/,
  );
  await first.send("DELETE", "/_/api/v1/sessions");
  await signIn(openBrowser(app), "192.0.2.1");
  await signIn(openBrowser(app), "203.0.113.5", "Buy at evil.example now");
  await until("the mail of the second", () => mailsTo().length === 2);
  assert.match(
    mailsTo()[1]?.text ?? "",
    /An unknown browser that you have not used before signed in to your Parley account, from the IP address 203\.0\.113\.5/,
  );
  assert.doesNotMatch(mailsTo()[1]?.text ?? "", /evil/);
});

test("a reset of the second factor by an admin is emailed to its user", async () => {
  const workspace = await makeRuled();
  const member = await signInAs(app, workspace.member);
  await turnOn(member);
  const admin = await signInAs(app, workspace.admin);
  const reset = await admin.send("DELETE", `/_/api/v1/users/${workspace.member.id}/second-factor`);
  assert.equal(reset.status, 200, reset.text);
  const mail = await mailTo(workspace.member, /was reset/);
  assert.match(mail.text, /An admin turned off your two-factor authentication/);
  assert.doesNotMatch(mail.text, /no longer linked/);
});

const mailTo = (user: { email: string }, words: RegExp) =>
  until(`the mail ${words}`, () => mails.find(({ to, text }) => to.includes(user.email) && words.test(text)));

test("where single sign-on counts as the second factor, a reset unlinks it, and the password sets up another one", async () => {
  const workspace = await makeRuled();
  const { member } = workspace;
  const admin = await signInAs(app, workspace.admin);
  await turnOn(admin);
  await signInAtProvider(workspace);
  // The first proof of the email has removed it.
  await givePassword(app.db, member);
  const url = `/_/api/v1/users/${member.id}/second-factor`;
  const isOffered = async () =>
    (await admin.get("/_/api/v1/users")).body.users.find(({ id }: { id: string }) => id === member.id)
      .can_reset_second_factor;
  const nothing = await admin.send("DELETE", url);
  assert.deepEqual([nothing.status, nothing.body.cause?.code], [409, "no_second_factor_to_reset"]);
  assert.equal(await isOffered(), false, "nothing requires a second factor");
  await setRules(admin, { second_factor: "all", grace_days: 0 });
  assert.equal(await isOffered(), true);
  const stuck = await signInAs(app, member);
  await assertSetUpOnly(stuck);
  assertUnproven(await stuck.send("POST", factorPath, { json: { type: "totp", password } }));
  const reset = await admin.send("DELETE", url);
  assert.equal(reset.status, 200, reset.text);
  assert.match((await mailTo(member, /was reset/)).text, /no longer linked to Tidewater ID/);
  const again = await signInAs(app, member);
  await turnOn(again);
  assert.equal((await again.get(me)).body.second_factor_due, null);
  assert.deepEqual((await again.get("/_/api/v1/me/single-sign-on")).body.connections, []);
  const log = (await auditOf(app.db, workspace.id)).map(({ action }) => action);
  assert.deepEqual(log.slice(log.indexOf("single_sign_on_unbound")).slice(0, 2), [
    "single_sign_on_unbound",
    "second_factor_reset",
  ]);
  // Where only the provider signs users in, it stays linked.
  await signInAtProvider(workspace);
  await setRules(admin, {
    ...{ second_factor: "all", single_sign_on_only: true, break_glass_user_id: workspace.admin.id },
  });
  assert.equal((await admin.send("DELETE", url)).status, 200, "the authenticator app");
  assert.equal((await admin.send("DELETE", url)).body.cause?.code, "no_second_factor_to_reset");
});

test("users get an email when a provider is linked to their account, or unlinked by them or an admin", async () => {
  const workspace = await makeRuled();
  const { member } = workspace;
  await signInAs(app, member);
  const atProvider = await signInAtProvider(workspace);
  assert.match(
    (await mailTo(member, /Subject: A sign-in provider was connected/)).text,
    /Tidewater ID was connected with your Parley account/,
  );
  await givePassword(app.db, member);
  assert.equal((await atProvider.send("DELETE", "/_/api/v1/me/single-sign-on")).status, 200);
  const unlinked = /no longer linked to Tidewater ID\. Other sessions/;
  await mailTo(member, unlinked);
  await signInAtProvider(workspace);
  const admin = await signInAs(app, workspace.admin);
  assert.equal((await admin.send("DELETE", `/_/api/v1/users/${member.id}/single-sign-on`)).status, 200);
  await until("the mail about the admin's change", () => {
    const sent = mails.filter(({ to, text }) => to.includes(member.email) && unlinked.test(text));
    return sent.length === 2;
  });
  // The first sign-in of a user who was just invited is no news to them.
  const invited = await makeUser(app.db, workspace);
  await signInAtProvider(workspace, invited);
  await admin.send("DELETE", `/_/api/v1/users/${invited.id}/single-sign-on`);
  await mailTo(invited, unlinked);
  assert.equal(mails.filter(({ to }) => to.includes(invited.email)).length, 1);
});

test("without recovery codes left, a sign-in asks for a code of the app only", async () => {
  const workspace = await makeRuled();
  const member = await signInAs(app, workspace.member);
  await turnOn(member);
  const methods = async () => {
    const answer = await openBrowser(app).send("POST", ruledSession, {
      json: { email: workspace.member.email, password },
    });
    return [answer.status, answer.body.methods];
  };
  assert.deepEqual(await methods(), [401, ["totp", "recovery_code"]]);
  await sql`delete from recovery_codes where user_id = ${workspace.member.id}`.execute(app.db.kysely);
  assert.deepEqual(await methods(), [401, ["totp"]]);
});
