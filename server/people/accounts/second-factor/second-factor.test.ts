import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { commandLine } from "../../../platform/audit/record.ts";
import { createLink } from "../one-time-links/one-time-links.ts";
import {
  auditOf,
  type Browser,
  deleteAllAttempts,
  givePassword,
  openBrowser,
  password,
  signInAs,
} from "../test/accounts.ts";
import { resetSecondFactor } from "./changes.ts";

const app = await startTestApp();

const path = "/_/api/v1/me/second-factor";
const session = "/_/api/v1/session";

/** The code of an authenticator app, `steps` later than now. */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
}

/** A user with a password. */
async function makeMember() {
  const workspace = await makeWorkspace(app.db);
  await givePassword(app.db, workspace.member, workspace.admin);
  return { ...workspace, user: workspace.member };
}

/** Turns two-factor authentication on. @returns the secret and the recovery codes. */
async function turnOn(browser: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const added = await browser.send("POST", path, { json: { type: "totp", password } });
  assert.equal(added.status, 200, added.text);
  const confirmed = await browser.send("POST", `${path}/confirm`, {
    json: { code: codeOf(added.body.secret) },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  // As if it had been a while ago: the current code can be used again.
  await sql`update second_factors set last_step = last_step - 10`.execute(app.db.kysely);
  return { secret: added.body.secret, recoveryCodes: confirmed.body.recovery_codes };
}

const signInWith = (email: string, code?: string) =>
  openBrowser(app).send("POST", session, {
    json: { email, password, ...(code === undefined ? {} : { code }) },
  });

test("turning on asks for the password, shows a secret, and takes effect with the first right code", async () => {
  const { user, workspace } = await withWorkspace();
  const browser = await signInAs(app, user);
  const other = await signInAs(app, user);
  const wrong = await browser.send("POST", path, { json: { type: "totp", password: "wrong password" } });
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/password"]);
  const added = await browser.send("POST", path, { json: { type: "totp", password } });
  assert.match(added.body.secret, /^[A-Z2-7]{32}$/);
  const uri = new URL(added.body.uri);
  assert.deepEqual(
    [uri.protocol, uri.host, uri.searchParams.get("secret")],
    ["otpauth:", "totp", added.body.secret],
  );
  assert.equal((await signInWith(user.email)).status, 200, "not confirmed yet");
  const guess = codeOf(added.body.secret, 0) === "000000" ? "000001" : "000000";
  assert.equal((await browser.send("POST", `${path}/confirm`, { json: { code: guess } })).status, 400);
  const code = codeOf(added.body.secret);
  const confirmed = await browser.send("POST", `${path}/confirm`, {
    json: { code: `${code.slice(0, 3)} ${code.slice(3)}` },
  });
  assert.equal(confirmed.body.recovery_codes.length, 10);
  assert.equal(new Set(confirmed.body.recovery_codes).size, 10);
  const state = await browser.get(path);
  assert.deepEqual([state.body.type, state.body.recovery_codes_left], ["totp", 10]);
  assert.equal((await browser.get("/_/api/v1/session/me")).body.has_second_factor, true);
  assert.equal((await other.get("/_/api/v1/session/me")).status, 401, "other sessions end");
  assert.equal((await browser.send("POST", path, { json: { type: "totp", password } })).status, 409);
  const stored = await app.db.kysely
    .selectFrom("second_factors")
    .selectAll()
    .where("user_id", "=", user.id)
    .execute();
  const codes = await app.db.kysely
    .selectFrom("recovery_codes")
    .selectAll()
    .where("user_id", "=", user.id)
    .execute();
  const text = JSON.stringify([stored, codes]);
  for (const secret of [added.body.secret, ...confirmed.body.recovery_codes])
    assert.ok(!text.includes(secret));
  const actions = (await auditOf(app.db, workspace.id)).map(({ action }) => action);
  assert.ok(actions.includes("second_factor_turned_on"));
});

test("a waiting secret can't be confirmed after an hour", async () => {
  const { user } = await makeMember();
  const browser = await signInAs(app, user);
  const added = await browser.send("POST", path, { json: { type: "totp", password } });
  await sql`update second_factors set created_at = now() - interval '61 minutes' where user_id = ${user.id}`.execute(
    app.db.kysely,
  );
  const late = await browser.send("POST", `${path}/confirm`, { json: { code: codeOf(added.body.secret) } });
  assert.equal(late.status, 400);
  assert.equal((await signInWith(user.email)).status, 200);
});

test("signing in takes the password, then a code: 401 second_factor_required names the methods", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  const asked = await signInWith(user.email);
  assert.deepEqual(
    [asked.status, asked.body.error, asked.body.methods],
    [401, "second_factor_required", ["totp", "recovery_code"]],
  );
  assert.equal(asked.headers.getSetCookie().length, 0);
  const wrongPassword = await openBrowser(app).send("POST", session, {
    json: { email: user.email, password: "not the password", code: codeOf(secret) },
  });
  assert.deepEqual([wrongPassword.status, wrongPassword.body.error], [401, "sign_in_refused"]);
  const done = await signInWith(user.email, codeOf(secret));
  assert.equal(done.status, 200, done.text);
  assert.equal(done.body.session.second_factor, "totp");
});

test("a code is accepted one step early or late, and once, also when it is sent twice at the same time", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  const first = codeOf(secret);
  assert.equal((await signInWith(user.email, first)).status, 200);
  assert.equal((await signInWith(user.email, first)).status, 401, "used");
  assert.equal((await signInWith(user.email, codeOf(secret, 3))).status, 401, "too early");
  const code = codeOf(secret, 1);
  const both = await Promise.all([signInWith(user.email, code), signInWith(user.email, code)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
  assert.equal((await signInWith(user.email, codeOf(secret))).status, 401, "older than the last one");
});

test("a recovery code replaces a code of the app, once, however it is typed", async () => {
  const { user } = await makeMember();
  const { recoveryCodes } = await turnOn(await signInAs(app, user));
  const [first = "", second = ""] = recoveryCodes;
  const done = await signInWith(user.email, ` ${first.toUpperCase().replaceAll("-", " ")} `);
  assert.deepEqual([done.status, done.body.session?.second_factor], [200, "recovery_code"]);
  assert.equal((await signInWith(user.email, first)).status, 401);
  const browser = openBrowser(app);
  await browser.send("POST", session, { json: { email: user.email, password, code: second } });
  assert.equal((await browser.get(path)).body.recovery_codes_left, 8);
  const replaced = await browser.send("POST", `${path}/recovery-codes`);
  assert.equal(replaced.body.recovery_codes.length, 10);
  assert.equal((await signInWith(user.email, recoveryCodes[2])).status, 401, "earlier codes stop working");
  assert.equal((await signInWith(user.email, replaced.body.recovery_codes[0])).status, 200);
});

test("guesses of a code are throttled, with the right password and whatever the guesser waits for", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  const wrong = codeOf(secret, 40);
  let refused = 0;
  let waits = 0;
  for (let guess = 0; guess < 12; guess++) {
    const { status } = await signInWith(user.email, wrong);
    if (status === 401) refused++;
    if (status === 429) waits++;
  }
  assert.ok(refused <= 6 && waits >= 6, `${refused} guesses, ${waits} waits`);
  const right = await signInWith(user.email, codeOf(secret));
  assert.equal(right.status, 429);
  assert.ok(Number(right.headers.get("retry-after")) > 0);
  await deleteAllAttempts(app.db);
});

test("the sign-in page asks for the code on a page of its own, and then redirects to where the user wanted to go", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  const browser = openBrowser(app);
  const first = await browser.submit("/sign-in?next=/search", { email: user.email, password });
  assert.deepEqual([first.status, first.location], [303, "/sign-in/code"]);
  assert.equal(browser.cookies.has("parley_session"), false);
  const cookie = browser.cookies.get("parley_second_factor") ?? "";
  assert.ok(
    !Buffer.from(cookie, "base64url").toString("latin1").includes(user.id),
    "the cookie is encrypted",
  );
  const wrong = await browser.submit("/sign-in/code", { code: codeOf(secret, 40) });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /The code is wrong or was already used/);
  const done = await browser.submit("/sign-in/code", { code: codeOf(secret) });
  assert.deepEqual([done.status, done.location], [303, "/search"]);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
  assert.equal(browser.cookies.has("parley_second_factor"), false);
  const nothing = await openBrowser(app).get("/sign-in/code");
  assert.deepEqual([nothing.status, nothing.location], [303, "/sign-in"]);
});

test("a started sign-in ends when the password changes, and when the user is deactivated", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  for (const change of [
    sql`update users set password_hash = 'other' where id = ${user.id}`,
    sql`update users set deactivated_at = now() where id = ${user.id}`,
  ]) {
    await givePassword(app.db, user);
    const browser = openBrowser(app);
    await browser.submit("/sign-in", { email: user.email, password });
    await change.execute(app.db.kysely);
    const answer = await browser.submit("/sign-in/code", { code: codeOf(secret) });
    assert.equal(answer.status, 401, answer.text);
    assert.equal(browser.cookies.has("parley_session"), false);
  }
});

test("neither a password reset nor an invitation skips the code", async () => {
  const { user } = await makeMember();
  const { secret } = await turnOn(await signInAs(app, user));
  for (const purpose of ["password_reset", "invitation"] as const) {
    const link = await app.db.kysely
      .transaction()
      .execute((tx) =>
        createLink(tx, { userId: user.id, purpose, ttlMs: 60_000, baseUrl: app.url, creator: null }),
      );
    const browser = openBrowser(app);
    const fields = { name: "Ines", password: "another heron at high tide" };
    const used = await browser.submit(new URL(link.url).pathname, fields);
    assert.deepEqual([used.status, used.location], [303, "/sign-in/code"], used.text);
    assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
    assert.equal((await browser.submit("/sign-in/code", { code: codeOf(secret) })).status, 303);
    assert.equal((await browser.get("/_/api/v1/session/me")).body.session.method, "link");
    await sql`update second_factors set last_step = last_step - 10`.execute(app.db.kysely);
  }
});

test("an old session can't turn it off, replace recovery codes, create tokens or change the password; a new one can", async () => {
  const { user } = await makeMember();
  const browser = await signInAs(app, user);
  const { secret } = await turnOn(browser);
  await sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${user.id}`.execute(
    app.db.kysely,
  );
  const calls = [
    ["POST", `${path}/recovery-codes`, undefined],
    ["POST", "/_/api/v1/tokens", { type: "personal_access_token", name: "x" }],
    [
      "POST",
      "/_/api/v1/me/password",
      { current_password: password, new_password: "another heron at high tide" },
    ],
    ["DELETE", path, undefined],
  ] as const;
  for (const [method, url, json] of calls) {
    const refused = await browser.send(method, url, { json });
    assert.deepEqual([refused.status, refused.body.error], [403, "proof_required"], url);
  }
  assert.equal((await browser.get(path)).body.type, "totp");
  const fresh = openBrowser(app);
  await fresh.send("POST", session, { json: { email: user.email, password, code: codeOf(secret) } });
  for (const [method, url, json] of calls) {
    const done = await fresh.send(method, url, { json });
    assert.equal(done.status, 200, `${url}: ${done.text}`);
  }
  assert.equal((await fresh.send("DELETE", path)).status, 409);
});

test("an access token can't turn the second factor off", async () => {
  const { user } = await makeMember();
  await turnOn(await signInAs(app, user));
  const answer = await openBrowser(app).send("DELETE", path, {
    headers: { authorization: `Bearer ${user.token}` },
  });
  assert.deepEqual([answer.status, answer.body.error], [403, "forbidden"]);
});

test("an admin resets a colleague's, which ends their sessions; the operator's command does the same", async () => {
  const { user, admin, workspace } = await withWorkspace();
  const stranger = await makeMember();
  const browser = await signInAs(app, user);
  await turnOn(browser);
  const url = `/_/api/v1/users/${user.id}/second-factor`;
  assert.equal((await browser.send("DELETE", url)).status, 403, "only admins");
  assert.equal((await (await signInAs(app, stranger.admin)).send("DELETE", url)).status, 404);
  const byAdmin = await signInAs(app, admin);
  assert.equal((await byAdmin.send("DELETE", url)).status, 200);
  assert.equal((await byAdmin.send("DELETE", url)).status, 409);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
  const again = await signInAs(app, user);
  await turnOn(again);
  await app.db.kysely
    .transaction()
    .execute((tx) =>
      resetSecondFactor(tx, commandLine(workspace.id), user.id, { mail: null, providers: [] }),
    );
  assert.equal((await signInWith(user.email)).status, 200);
  await sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${admin.id}`.execute(
    app.db.kysely,
  );
  for (const [method, path] of [
    ["DELETE", url],
    ["POST", `/_/api/v1/users/${admin.id}/password-reset-link`],
  ] as const)
    assert.equal((await byAdmin.send(method, path)).body.error, "proof_required", path);
  const resets = (await auditOf(app.db, workspace.id)).filter(
    ({ action }) => action === "second_factor_reset",
  );
  assert.equal(resets.length, 2);
});

async function withWorkspace() {
  const workspace = await makeWorkspace(app.db);
  await givePassword(app.db, workspace.member, workspace.admin);
  return { workspace, user: workspace.member, admin: workspace.admin };
}
