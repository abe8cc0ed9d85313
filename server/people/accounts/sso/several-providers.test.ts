import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { changeMembership } from "../../access/grants.ts";
import { rulesOf } from "../security/rules.ts";
import { sweepSessions } from "../sign-in/sessions.ts";
import { auditOf, type Browser, givePassword, openBrowser, signInAs } from "../test/accounts.ts";
import { clientSecret, startProvider, type TestProvider } from "../test/provider.ts";

const first = await startProvider();
const second = await startProvider(0, "http://parley.test", { id: "second" });
after(() => Promise.all([first.close(), second.close()]));
const app = await startTestApp({
  env: {
    PARLEY_OIDC_ISSUER: first.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: clientSecret,
    PARLEY_OIDC_NAME: "First ID",
  },
  worker: false,
});
const operator = await makeWorkspace(app.db, "Operator");
const providers = "/system/sign-in-providers";

function manage(method: string, path: string, body?: unknown, by: { token: string } = operator.admin) {
  return call(app, method, `/_/api/v1${path}`, body, { token: by.token, version: null });
}

const values = {
  ...{ name: "Second ID", issuer: second.issuer, client_id: "parley", client_secret: clientSecret },
};
const save = (change: object = {}, id = "second") =>
  manage("PUT", `${providers}/${id}`, { ...values, ...change });

async function signIn(provider: TestProvider, subject: string) {
  const browser = openBrowser(app);
  const answer = await browser.get(await provider.visit(browser, subject));
  return { browser, answer };
}

async function undoLast(): Promise<number> {
  const { body } = await manage("GET", "/system/settings/changes");
  return (await manage("POST", `/system/settings/changes/${body.changes[0].id}/undo`)).status;
}

test("a second provider is added, changed, removed and brought back in the app, without showing its secret", async () => {
  const added = await save();
  assert.equal(added.status, 200, added.text);
  assert.ok(!added.text.includes(clientSecret));
  assert.deepEqual(
    added.body.providers.map((one: Record<string, unknown>) => [one.id, one.source, one.redirect_uri]),
    [
      ["default", "environment", "http://parley.test/sign-in/callback"],
      ["second", "app", "http://parley.test/sign-in/callback/second"],
    ],
  );
  assert.equal(added.body.providers[1].logout_uri, "http://parley.test/sign-in/back-channel-logout/second");
  const page = (await openBrowser(app).get("/sign-in?next=/x")).text;
  assert.match(page, /href="\/sign-in\/sso\?next=%2Fx">Sign in with First ID/);
  assert.match(page, /href="\/sign-in\/sso\?provider=second&amp;next=%2Fx">Sign in with Second ID/);
  // Without the secret it stays, unless the issuer changes.
  const { client_secret: _left, ...rest } = values;
  const renamed = await manage("PUT", `${providers}/second`, { ...rest, name: "Other ID" });
  assert.equal(renamed.status, 200, renamed.text);
  assert.equal(app.config.signInProviders[1]?.clientSecret, clientSecret);
  const moved = await manage("PUT", `${providers}/second`, { ...rest, issuer: "https://elsewhere.example" });
  assert.deepEqual(
    [moved.status, moved.body.violations[0].pointer, moved.body.violations[0].detail],
    [400, "/client_secret", "was entered for another issuer; enter it again"],
  );
  // In the database only encrypted.
  const { rows } = await app.db.pool.query("select value, encrypted from settings");
  assert.deepEqual([rows[0].value, rows[0].encrypted.includes(Buffer.from(clientSecret))], [null, false]);
  assert.equal((await manage("DELETE", `${providers}/second`)).status, 200);
  assert.equal(app.config.signInProviders.length, 1);
  assert.equal((await manage("DELETE", `${providers}/second`)).status, 404);
  assert.equal(await undoLast(), 200);
  assert.equal(app.config.signInProviders[1]?.name, "Other ID");
  const log = await auditOf(app.db, operator.id);
  assert.ok(
    log.some(
      ({ action, details }) =>
        action === "system_settings_changed" && JSON.stringify(details).includes("PARLEY_OIDC_PROVIDERS"),
    ),
  );
  assert.ok(!JSON.stringify(log).includes(clientSecret));
});

test("wrong values of a provider are refused at their field", async () => {
  for (const [change, id, pointer, words] of [
    [
      { trust_email: true, issuer: "https://login.microsoftonline.com/common/v2.0" },
      "second",
      "/trust_email",
      /shared by every tenant/,
    ],
    [{ issuer: "http://id.example" }, "second", "/issuer", /must be the https URL/],
    [{ groups: [{ group: "a", teams: ["A"] }] }, "second", "/groups_claim", /must name the claim/],
    [
      { groups_claim: "g", groups: [{ group: "a" }, { group: "a" }] },
      "second",
      "/groups/1/group",
      /listed twice/,
    ],
    [{}, "third", "/issuer", /set up each issuer once/],
    [{ issuer: `${second.issuer}/` }, "third", "/issuer", /set up each issuer once/],
    [{ allowed_domains: ["no domain"] }, "second", "/allowed_domains/0", /must be a domain/],
    [{ scopes: ['a"b'] }, "second", "/scopes/0", /must be scopes/],
  ] as const) {
    const { status, body } = await save(change, id);
    assert.deepEqual([status, body.violations?.[0]?.pointer], [400, pointer], JSON.stringify(body));
    assert.match(body.violations[0].detail, words);
  }
  // The environment has set up the first one.
  assert.equal((await save({ issuer: first.issuer }, "default")).status, 409);
  assert.equal((await manage("DELETE", `${providers}/default`)).status, 409);
  assert.equal((await save({}, "Not-An-Id")).status, 404);
});

test("two providers that assert the same email: the account stays with the first, until an admin unlinks it", async () => {
  const own = await makeWorkspace(app.db);
  for (const { people } of [first, second])
    people.set("both", { email: own.member.email, email_verified: true });
  assert.equal((await signIn(first, "both")).answer.status, 303);
  const refused = await signIn(second, "both");
  assert.equal(refused.answer.status, 403);
  assert.match(refused.answer.text, /The account with your email signs in with First ID/);
  assert.equal(refused.browser.cookies.size, 0);
  // The same subject at another issuer is another identity.
  const { rows } = await app.db.pool.query("select issuer from identities where user_id = $1", [
    own.member.id,
  ]);
  assert.deepEqual(rows, [{ issuer: first.issuer }]);
  await manage("DELETE", `/users/${own.member.id}/single-sign-on`, undefined, own.admin);
  const { browser, answer } = await signIn(second, "both");
  assert.equal(answer.status, 303, answer.text);
  assert.equal((await browser.get("/_/api/v1/session/me")).body.user.id, own.member.id);
});

test("an account of a removed provider is linked to another one by its verified email, without what its groups gave", async () => {
  const own = await makeWorkspace(app.db);
  const removed = "https://removed.example";
  const [kept, left] = [await makeTeam(app.db, own, [own.member]), await makeTeam(app.db, own, [own.member])];
  await app.db.kysely
    .insertInto("identities")
    .values({ issuer: removed, subject: "s", user_id: own.member.id, mapped_role: "admin" })
    .execute();
  await app.db.kysely
    .insertInto("mapped_team_members")
    .values({ team_id: left.id, user_id: own.member.id, issuer: removed })
    .execute();
  const setRole = (role: "admin" | "member", user: { id: string }) =>
    app.db.kysely.updateTable("users").set({ role }).where("id", "=", user.id).execute();
  await setRole("admin", own.member);
  await setRole("member", own.admin);
  second.people.set("moved", { email: own.member.email, email_verified: true });
  const rights = async () => {
    assert.equal((await signIn(second, "moved")).answer.status, 303);
    const { rows } = await app.db.pool.query(
      "select role, array(select team_id from team_members where user_id = u.id) as teams from users u where id = $1",
      [own.member.id],
    );
    return rows[0];
  };
  // The last admin stays one.
  assert.deepEqual(await rights(), { role: "admin", teams: [kept.id] });
  await setRole("admin", own.admin);
  assert.deepEqual(await rights(), { role: "member", teams: [kept.id] });
});

test("sessions that a removed provider began end at once, and continue once it is back", async () => {
  await save();
  const member = await makeUser(app.db, operator);
  second.people.set("gone", { email: member.email, email_verified: true });
  await givePassword(app.db, member);
  const { browser } = await signIn(second, "gone");
  await givePassword(app.db, member);
  // Users of other tests depend on the provider, which then can't be removed.
  await sql`update users set password_hash = '' where password_hash is null`.execute(app.db.kysely);
  const byPassword = await signInAs(app, member);
  const statuses = () =>
    Promise.all([browser, byPassword].map(async (one) => (await one.get("/_/api/v1/session/me")).status));
  assert.deepEqual(await statuses(), [200, 200]);
  assert.equal((await manage("DELETE", `${providers}/second`)).status, 200);
  assert.deepEqual(await statuses(), [401, 200]);
  assert.equal((await browser.get("/")).location, "/sign-in?next=%2F");
  assert.equal(await undoLast(), 200);
  assert.deepEqual(await statuses(), [200, 200]);
});

test("sessions from before issuers were stored end with the provider that began them, or with the upgrade", async () => {
  await save();
  const [one, two] = [await makeUser(app.db, operator), await makeUser(app.db, operator)];
  const browsers: Browser[] = [];
  for (const [subject, user] of [
    ["old-1", one],
    ["old-2", two],
  ] as const) {
    second.people.set(subject, { email: user.email, email_verified: true });
    browsers.push((await signIn(second, subject)).browser);
  }
  const statuses = () =>
    Promise.all(browsers.map(async (one) => (await one.get("/_/api/v1/session/me")).status));
  const forget = () =>
    sql`update sessions set sign_in_issuer = null, sign_in_subject = null where user_id in (${one.id}, ${two.id})`.execute(
      app.db.kysely,
    );
  await forget();
  // Which of two providers began the session of the second user isn't known.
  await app.db.kysely
    .insertInto("identities")
    .values({ issuer: first.issuer, subject: "old-3", user_id: two.id })
    .execute();
  await app.db.pool.query(
    await readFile(new URL("../../../../migrations/0098_sessions_of_providers.sql", import.meta.url), "utf8"),
  );
  assert.deepEqual(await statuses(), [200, 401]);
  const unlinked = await manage("DELETE", `/users/${one.id}/single-sign-on`);
  assert.equal(unlinked.status, 200, unlinked.text);
  assert.deepEqual(await statuses(), [401, 401]);
  browsers.splice(0, 2, (await signIn(second, "old-1")).browser);
  await forget();
  assert.deepEqual(await statuses(), [200], "a process of the previous version began it");
  await sweepSessions(app.db);
  assert.deepEqual(await statuses(), [401]);
});

test("users connect a second provider themselves, with a fresh session and their own verified email only", async () => {
  await save();
  const path = "/_/api/v1/me/single-sign-on";
  const member = await makeUser(app.db, operator);
  const claims = { email: member.email, email_verified: true };
  first.people.set("own-1", claims);
  second.people.set("own-2", claims);
  second.people.set("stranger", { email: "stranger@else.test", email_verified: true });
  second.people.set("unverified", { email: member.email, email_verified: false });
  const { browser } = await signIn(first, "own-1");
  // Someone signed in with a password that they set before the email was proven.
  const unproven = await makeUser(app.db, operator);
  await givePassword(app.db, unproven);
  second.people.set("unproven", { email: unproven.email, email_verified: true });
  const connect = async (subject: string, by = browser, to = browser) => {
    const started = await by.send("POST", path, { json: { provider: "second" } });
    assert.equal(started.status, 200, started.text);
    return to.get(await second.signIn(started.body.url, subject));
  };
  const state = async () => {
    const { connections, available } = (await browser.get(path)).body;
    return [
      connections.map((one: { name: string; can_unlink: boolean }) => [one.name, one.can_unlink]),
      available.map(({ id }: { id: string }) => id),
    ];
  };
  assert.deepEqual(await state(), [[["First ID", false]], ["second"]]);
  for (const subject of ["stranger", "unverified"]) {
    const refused = await connect(subject);
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /Nothing was connected/);
  }
  const byPassword = await signInAs(app, unproven);
  const early = await connect("unproven", byPassword, byPassword);
  assert.deepEqual([early.status, (await byPassword.get(path)).body.connections], [403, []], early.text);
  assert.match(early.text, /Sign out, then sign in with Second ID/);
  const role = (mapped_role: "member" | null) =>
    app.db.kysely.updateTable("identities").set({ mapped_role }).where("user_id", "=", member.id).execute();
  const rules = (security_rules: object | null) =>
    app.db.kysely
      .updateTable("workspaces")
      .set({ security_rules: security_rules && JSON.stringify(security_rules) })
      .where("id", "=", operator.id)
      .execute();
  for (const refuse of [() => role("member"), () => rules({ ...rulesOf(null), single_sign_on_only: true })]) {
    const started = await browser.send("POST", path, { json: { provider: "second" } });
    await refuse();
    const early = await browser.send("POST", path, { json: { provider: "second" } });
    assert.deepEqual([early.status, early.body.cause?.code], [409, "provider_not_allowed"], early.text);
    const refused = await browser.get(await second.signIn(started.body.url, "own-2"));
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /let you connect Second ID/);
    assert.deepEqual((await state())[1], []);
    await Promise.all([role(null), rules(null)]);
  }
  // The response counts only in the session that asked for it.
  const other = openBrowser(app);
  const elsewhere = await connect("own-2", browser, other);
  assert.ok(elsewhere.status >= 400 && !other.cookies.has("parley_session"), elsewhere.text);
  const cookies = new Map(browser.cookies);
  const started = await browser.send("POST", path, { json: { provider: "second" } });
  const callback = await second.signIn(started.body.url, "own-2");
  browser.cookies.delete("parley_session");
  const signedOut = await browser.get(callback);
  assert.match(signedOut.text, /signed out meanwhile/);
  assert.ok(!browser.cookies.has("parley_session"));
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  assert.deepEqual(await state(), [[["First ID", false]], ["second"]]);
  const connected = await connect("own-2");
  assert.deepEqual([connected.status, connected.location], [303, "/settings"], connected.text);
  assert.deepEqual(await state(), [
    [
      ["First ID", true],
      ["Second ID", true],
    ],
    [],
  ]);
  const bySecond = (await signIn(second, "own-2")).browser;
  assert.equal((await bySecond.get("/_/api/v1/session/me")).body.user.id, member.id);
  const unlink = (issuer: string) => browser.send("DELETE", `${path}?issuer=${encodeURIComponent(issuer)}`);
  assert.equal((await unlink(second.issuer)).status, 200);
  assert.equal((await bySecond.get("/_/api/v1/session/me")).status, 401, "the session that it began");
  const last = await unlink(first.issuer);
  assert.deepEqual([last.status, last.body.cause?.code], [409, "last_sign_in_method"], last.text);
  await sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${member.id}`.execute(
    app.db.kysely,
  );
  const stale = await browser.send("POST", path, { json: { provider: "second" } });
  assert.equal(stale.body.error, "proof_required");
});

test("unlinking an account revokes the role and teams that its groups gave", async () => {
  const own = await makeWorkspace(app.db);
  const team = await makeTeam(app.db, own, [own.member]);
  const values = { issuer: first.issuer, user_id: own.member.id };
  await app.db.kysely
    .insertInto("identities")
    .values({ ...values, subject: "unlinked", mapped_role: "admin" })
    .execute();
  await app.db.kysely
    .insertInto("mapped_team_members")
    .values({ ...values, team_id: team.id })
    .execute();
  await app.db.pool.query("update users set role = 'admin' where id = $1", [own.member.id]);
  const path = `/users/${own.member.id}/single-sign-on`;
  assert.equal((await manage("DELETE", path, undefined, own.admin)).status, 200);
  const { rows } = await app.db.pool.query(
    "select role, array(select team_id from team_members where user_id = u.id) as teams from users u where id = $1",
    [own.member.id],
  );
  assert.deepEqual(rows, [{ role: "member", teams: [] }]);
});

test("a signed-in user who has to sign in again is sent to the provider that began the session", async () => {
  const own = await makeWorkspace(app.db);
  second.people.set("proof", { email: own.member.email, email_verified: true });
  const { browser } = await signIn(second, "proof");
  const origin = async (path: string) => new URL((await browser.get(path)).location ?? "").origin;
  assert.equal(await origin("/sign-in/sso?next=/x"), second.issuer);
  assert.equal(await origin("/sign-in/sso?provider=default"), first.issuer);
  browser.cookies.delete("parley_session");
  assert.equal(await origin("/sign-in/sso?next=/x"), first.issuer);
});

test("a sign-in locks the workspace before the account, as changes of users do", async () => {
  const own = await makeWorkspace(app.db);
  second.people.set("locks", { email: own.member.email, email_verified: true });
  for (const kind of ["found by email", "linked"]) {
    const browser = openBrowser(app);
    const path = await second.visit(browser, "locks");
    const answer = await app.db.kysely.transaction().execute(async (tx) => {
      await changeMembership(tx, own.id);
      const pending = browser.get(path);
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      const waits = "select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))";
      while ((await app.db.pool.query(waits, [rows[0]?.pid])).rowCount === 0);
      await sql`select id from users where id = ${own.member.id} for no key update nowait`.execute(tx);
      return { pending };
    });
    assert.equal((await answer.pending).status, 303, kind);
  }
});

test("a provider speaks only for its allowed domains", async () => {
  const own = await makeWorkspace(app.db);
  second.people.set("domain", { email: own.member.email, email_verified: true });
  await save({ allowed_domains: ["elsewhere.example"] });
  const refused = await signIn(second, "domain");
  assert.equal(refused.answer.status, 403);
  assert.match(refused.answer.text, /is not accepted for/);
  await save({ allowed_domains: ["Elsewhere.example", own.domain.toUpperCase()] });
  assert.equal((await signIn(second, "domain")).answer.status, 303);
  await save();
});

test("the response of one provider is refused at the callback of another, and from another issuer", async () => {
  const own = await makeWorkspace(app.db);
  for (const { people } of [first, second])
    people.set("mixed", { email: own.member.email, email_verified: true });
  const browser = openBrowser(app);
  const refused = async (path: string, why: string) => {
    const answer = await browser.get(path);
    assert.ok([400, 403].includes(answer.status), `${why}: ${answer.status}`);
    assert.equal(browser.cookies.has("parley_session"), false, why);
  };
  // A code of the first at the second's callback, with the state that the first was sent.
  const ofFirst = await first.visit(browser, "mixed");
  await refused(ofFirst.replace("/sign-in/callback", "/sign-in/callback/second"), "another callback");
  // A code of the first for a sign-in that was started at the second: the attacker's provider has swapped them.
  const code = new URL(await first.visit(browser, "mixed"), app.url).searchParams.get("code") ?? "";
  const ofSecond = new URL(await second.visit(browser, "mixed"), app.url);
  ofSecond.searchParams.set("code", code);
  await refused(ofSecond.pathname + ofSecond.search, "a code of another provider");
  // The issuer that the response names is another one (RFC 9207).
  const named = new URL(await second.visit(browser, "mixed"), app.url);
  named.searchParams.set("iss", first.issuer);
  await refused(named.pathname + named.search, "another issuer");
  // The state and response of an earlier sign-in in the same browser.
  const earlier = await second.visit(browser, "mixed");
  await first.visit(browser, "mixed");
  await refused(earlier, "a replayed state");
  // An attacker's response in another browser, which started no sign-in.
  const planted = await second.visit(openBrowser(app), "mixed");
  await refused(planted, "fixation");
  assert.equal((await browser.get(await second.visit(browser, "mixed"))).status, 303);
});

test("a provider that was removed or replaced during a sign-in signs nobody in", async () => {
  const own = await makeWorkspace(app.db);
  second.people.set("late", { email: own.member.email, email_verified: true });
  const [gone, replaced] = [openBrowser(app), openBrowser(app)];
  const [toGone, toReplaced] = [await second.visit(gone, "late"), await second.visit(replaced, "late")];
  await app.db.pool.query("update users set password_hash = 'x'");
  const removed = await manage("DELETE", `${providers}/second`);
  assert.equal(removed.status, 200, removed.text);
  const answer = await gone.get(toGone);
  assert.equal(answer.status, 403);
  assert.match(answer.text, /no longer has this provider/);
  assert.equal((await openBrowser(app).get("/sign-in/sso?provider=second")).status, 404);
  assert.equal((await save({ issuer: "https://elsewhere.example" })).status, 200);
  const other = await replaced.get(toReplaced);
  assert.equal(other.status, 403);
  assert.match(other.text, /the provider was changed meanwhile/);
  await save();
  assert.equal((await signIn(second, "late")).answer.status, 303);
});

test("a provider that users without a password depend on can't be removed; another one can", async () => {
  const own = await makeWorkspace(app.db);
  await app.db.pool.query("update users set password_hash = 'x'");
  await app.db.pool.query("update users set password_hash = null where id = $1", [own.member.id]);
  await app.db.kysely
    .insertInto("identities")
    .values({ issuer: second.issuer, subject: "needs", user_id: own.member.id })
    .execute();
  const refused = await manage("DELETE", `${providers}/second`);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.body.violations[0].detail, /can't be removed: 1 user has no password/);
  const third = { name: "Third ID", issuer: "https://third.example", client_id: "x", client_secret: "y" };
  assert.equal((await manage("PUT", `${providers}/third`, third)).status, 200);
  assert.equal((await manage("DELETE", `${providers}/third`)).status, 200);
  await app.db.pool.query("delete from identities where user_id = $1", [own.member.id]);
});

test("a provider of the single variables moves to the list when it is changed in the app, and undo brings it back", async () => {
  const plain = await startTestApp({ worker: false });
  const { admin } = await makeWorkspace(plain.db, "Operator");
  const send = (method: string, path: string, body?: unknown) =>
    call(plain, method, `/_/api/v1${path}`, body, { token: admin.token, version: null });
  await send("PATCH", "/system/settings", {
    settings: {
      PARLEY_OIDC_ISSUER: first.issuer,
      PARLEY_OIDC_CLIENT_ID: "parley",
      PARLEY_OIDC_CLIENT_SECRET: clientSecret,
    },
  });
  const { name, issuer, client_id } = { ...values, issuer: first.issuer };
  const changed = await send("PUT", `${providers}/default`, { name, issuer, client_id, scopes: ["groups"] });
  assert.equal(changed.status, 200, changed.text);
  const [provider] = plain.config.signInProviders;
  assert.deepEqual(
    [provider?.id, provider?.name, provider?.clientSecret, provider?.scopes],
    ["default", "Second ID", clientSecret, ["groups"]],
  );
  const { rows } = await plain.db.pool.query(
    "select name from settings where value is not null or encrypted is not null",
  );
  assert.deepEqual(rows, [{ name: "PARLEY_OIDC_PROVIDERS" }]);
  const { body } = await send("GET", "/system/settings/changes");
  assert.equal((await send("POST", `/system/settings/changes/${body.changes[0].id}/undo`)).status, 200);
  assert.deepEqual(plain.config.signInProviders[0]?.name, "single sign-on");
  // Nothing is left of a removed provider.
  assert.equal((await send("DELETE", `${providers}/default`)).status, 200);
  assert.deepEqual(plain.config.signInProviders, []);
});
