import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { createLink } from "../one-time-links/one-time-links.ts";
import { auditOf, type Browser, givePassword, openBrowser, password, signInAs } from "../test/accounts.ts";
import { Authenticator } from "../test/authenticator.ts";

const app = await startTestApp();
const { origin } = new URL(app.config.baseUrl);
const path = "/_/api/v1/me/passkeys";
const signInPath = "/_/api/v1/session/passkey";

async function makeMember() {
  const workspace = await makeWorkspace(app.db);
  await givePassword(app.db, workspace.member);
  return { workspace, user: workspace.member, browser: await signInAs(app, workspace.member) };
}

/** Adds a passkey. */
async function add(browser: Browser, name = "Laptop"): Promise<{ key: Authenticator; id: string }> {
  const key = new Authenticator(origin);
  const started = await browser.send("POST", `${path}/options`);
  assert.equal(started.status, 200, started.text);
  const added = await browser.send("POST", path, {
    json: { name, response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  return { key, id: added.body.id };
}

/** Signs in with a passkey in a new browser. */
async function signInWith(key: Authenticator, wrong: Parameters<Authenticator["use"]>[1] = {}) {
  const browser = openBrowser(app);
  const started = await browser.send("POST", `${signInPath}/options`);
  const json = { response: key.use(started.body.options, wrong) };
  return { browser, json, answer: await browser.send("POST", signInPath, { json }) };
}

test("a passkey is added, named, and signs in without email, password and code", async () => {
  const { user, browser, workspace } = await makeMember();
  const { key, id } = await add(browser);
  const again = await browser.send("POST", `${path}/options`);
  assert.equal(again.body.options.authenticatorSelection.userVerification, "required");
  assert.equal(again.body.options.authenticatorSelection.residentKey, "required");
  assert.deepEqual(
    again.body.options.excludeCredentials.map((credential: { id: string }) => credential.id),
    [key.id.toString("base64url")],
  );
  const { browser: other, answer } = await signInWith(key);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.user.id, answer.body.session.method], [user.id, "passkey"]);
  assert.equal((await other.get("/_/api/v1/session/me")).status, 200);
  const renamed = await browser.send("PATCH", `${path}/${id}`, { json: { name: "Work laptop" } });
  assert.deepEqual([renamed.body.name, renamed.body.uses], ["Work laptop", 1]);
  const { passkeys } = (await browser.get(path)).body;
  assert.equal(passkeys.length, 1);
  assert.ok(Date.parse(passkeys[0].last_used_datetime) > Date.now() - 60_000);
  const actions = (await auditOf(app.db, workspace.id)).map(({ action }) => action);
  assert.ok(actions.includes("passkey_added"));
});

test("a user has several passkeys; a removed one doesn't sign in any more", async () => {
  const { browser } = await makeMember();
  const first = await add(browser);
  const second = await add(browser, "Phone");
  assert.equal((await browser.send("DELETE", `${path}/${first.id}`)).status, 200);
  const { answer } = await signInWith(first.key);
  assert.deepEqual([answer.status, answer.body.error], [401, "sign_in_refused"]);
  assert.match(answer.body.detail, /not known here/);
  assert.equal((await signInWith(second.key)).answer.status, 200);
});

test("a passkey of another user can't be renamed or removed", async () => {
  const { browser } = await makeMember();
  const { id } = await add(browser);
  const stranger = (await makeMember()).browser;
  assert.equal((await stranger.send("PATCH", `${path}/${id}`, { json: { name: "Mine" } })).status, 404);
  assert.equal((await stranger.send("DELETE", `${path}/${id}`)).status, 404);
});

test("wrong origin, wrong host, a foreign challenge and an unverified user are refused, when adding and when signing in", async () => {
  const { browser } = await makeMember();
  const { key } = await add(browser);
  const wrongs = [
    [{ origin: "https://evil.example" }, /another website/],
    [{ rpId: "evil.example" }, /another website/],
    [{ challenge: Buffer.alloc(32).toString("base64url") }, /not valid/],
    [{ flags: 0x01 }, /did not verify its user/],
  ] as const;
  for (const [wrong, reason] of wrongs) {
    const { answer, browser: other } = await signInWith(key, wrong);
    assert.deepEqual([answer.status, answer.body.error], [401, "sign_in_refused"], JSON.stringify(wrong));
    assert.match(answer.body.detail, reason);
    assert.equal(other.cookies.has("parley_session"), false);
    const started = await browser.send("POST", `${path}/options`);
    const flags = "flags" in wrong ? { flags: 0x41 } : {};
    const response = new Authenticator(origin).create(started.body.options, { ...wrong, ...flags });
    const refused = await browser.send("POST", path, { json: { name: "x", response } });
    assert.deepEqual(
      [refused.status, refused.body.violations[0].pointer],
      [400, "/response"],
      JSON.stringify(wrong),
    );
  }
});

test("a response is accepted once, in the browser that was asked, and by the account that asked", async () => {
  const { browser } = await makeMember();
  const { key } = await add(browser);
  const asked = openBrowser(app);
  const started = await asked.send("POST", `${signInPath}/options`);
  const json = { response: key.use(started.body.options) };
  assert.equal((await openBrowser(app).send("POST", signInPath, { json })).status, 401, "another browser");
  const cookie = asked.cookies.get("parley_passkey") ?? "";
  const both = await Promise.all(
    [1, 2].map(() => {
      const one = openBrowser(app);
      one.cookies.set("parley_passkey", cookie);
      return one.send("POST", signInPath, { json });
    }),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
  const mine = await browser.send("POST", `${path}/options`);
  const stranger = (await makeMember()).browser;
  stranger.cookies.set("parley_passkey", browser.cookies.get("parley_passkey") ?? "");
  const response = new Authenticator(origin).create(mine.body.options);
  assert.equal((await stranger.send("POST", path, { json: { name: "x", response } })).status, 400);
});

test("a counter that goes back means a copied key: it is refused and says so", async () => {
  const { browser } = await makeMember();
  const { key } = await add(browser);
  assert.equal((await signInWith(key, { counter: 10 })).answer.status, 200);
  const { answer } = await signInWith(key, { counter: 7 });
  assert.equal(answer.status, 401);
  assert.match(answer.body.detail, /may have been copied/);
  assert.equal((await signInWith(key, { counter: 11 })).answer.status, 200);
});

test("adding and removing takes a session that was started in the last 15 minutes, and no token", async () => {
  const { user, browser } = await makeMember();
  const { id } = await add(browser);
  await sql`update sessions set created_at = now() - interval '16 minutes' where user_id = ${user.id}`.execute(
    app.db.kysely,
  );
  for (const [method, url] of [
    ["POST", `${path}/options`],
    ["DELETE", `${path}/${id}`],
  ] as const) {
    assert.equal((await browser.send(method, url)).body.error, "proof_required");
    const headers = { authorization: `Bearer ${user.token}` };
    assert.equal((await openBrowser(app).send(method, url, { headers })).body.error, "forbidden");
  }
});

test("deactivating ends it, and proving the email for the first time removes passkeys that were there before", async () => {
  const { user, browser } = await makeMember();
  const { key } = await add(browser);
  await sql`update users set email_proven_at = null where id = ${user.id}`.execute(app.db.kysely);
  const link = await app.db.kysely.transaction().execute((tx) =>
    createLink(tx, {
      userId: user.id,
      purpose: "password_reset",
      ttlMs: 60_000,
      baseUrl: app.url,
      creator: null,
    }),
  );
  await openBrowser(app).submit(new URL(link.mailedUrl).pathname, { password: `${password} again` });
  assert.equal((await signInWith(key)).answer.status, 401);
  const other = await makeMember();
  const kept = await add(other.browser);
  await sql`update users set deactivated_at = now() where id = ${other.user.id}`.execute(app.db.kysely);
  assert.equal((await signInWith(kept.key)).answer.status, 401);
});

test("any response ends in an error that says what is wrong", async () => {
  const browser = openBrowser(app);
  const started = await browser.send("POST", `${signInPath}/options`);
  const right = new Authenticator(origin).use(started.body.options);
  for (const response of [
    {},
    { ...right, id: "x" },
    { ...right, type: "password" },
    { ...right, response: { ...right.response, clientDataJSON: "!" } },
    { ...right, response: { ...right.response, authenticatorData: "" } },
    { ...right, id: "a".repeat(100_000) },
  ]) {
    const answer = await browser.send("POST", signInPath, { json: { response } });
    assert.ok([400, 401].includes(answer.status), answer.text);
    assert.ok(answer.body.detail.length > 0);
  }
});
