import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace, type TestWorkspace } from "../../../../test/support/factories.ts";
import * as oauth from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { createLink } from "../one-time-links/one-time-links.ts";
import {
  type Browser,
  deleteAllAttempts,
  givePassword,
  openBrowser,
  password,
  signInAs,
} from "../test/accounts.ts";
import { Authenticator } from "../test/authenticator.ts";

const app = await startTestApp({
  env: {
    // Never reached: users only need to be able to sign in there.
    PARLEY_OIDC_ISSUER: "https://id.example",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
  },
  worker: false,
});

const session = "/_/api/v1/session";
const me = "/_/api/v1/session/me";
const factorPath = "/_/api/v1/me/second-factor";
const rulesPath = "/_/api/v1/workspace/security";
const attempts = 4;
const rounds = 5;

async function makeOwn(): Promise<TestWorkspace> {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.member, own.admin);
  return own;
}

/** Sends the same request several times at once. @returns the statuses, sorted. */
async function sendTogether(send: () => Promise<{ readonly status: number }>): Promise<number[]> {
  await deleteAllAttempts(app.db);
  const all = await Promise.all(Array.from({ length: attempts }, send));
  return all.map(({ status }) => status).sort();
}

const once = (good: number, refused: number) => [
  good,
  ...Array.from({ length: attempts - 1 }, () => refused),
];

/** Turns two-factor authentication on. */
async function turnOn(browser: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const added = await browser.send("POST", factorPath, { json: { type: "totp", password } });
  const confirmed = await browser.send("POST", `${factorPath}/confirm`, {
    json: { code: codeOf(added.body.secret) },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { secret: added.body.secret, recoveryCodes: confirmed.body.recovery_codes };
}

const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();

test("of several sign-ins at once with one code of the app, or one recovery code, one succeeds", async () => {
  const { member } = await makeOwn();
  const { secret, recoveryCodes } = await turnOn(await signInAs(app, member));
  const signIn = (code: string) => () =>
    openBrowser(app).send("POST", session, { json: { email: member.email, password, code } });
  for (const code of recoveryCodes.slice(0, rounds))
    assert.deepEqual(await sendTogether(signIn(code)), once(200, 401));
  for (let round = 0; round < rounds; round++) {
    // As if each round came five minutes later.
    await sql`update second_factors set last_step = last_step - 10 where user_id = ${member.id}`.execute(
      app.db.kysely,
    );
    assert.deepEqual(await sendTogether(signIn(codeOf(secret))), once(200, 401));
  }
});

test("of several sign-ins at once with one response of a passkey, one succeeds", async () => {
  const { member } = await makeOwn();
  const owner = await signInAs(app, member);
  const key = new Authenticator(new URL(app.config.baseUrl).origin);
  const keys = "/_/api/v1/me/passkeys";
  const started = await owner.send("POST", `${keys}/options`);
  const added = await owner.send("POST", keys, {
    json: { name: "Laptop", response: key.create(started.body.options) },
  });
  assert.equal(added.status, 200, added.text);
  for (let round = 0; round < rounds; round++) {
    const browser = openBrowser(app);
    const { options } = (await browser.send("POST", `${session}/passkey/options`)).body;
    const response = key.use(options);
    const copy = () => {
      const other = openBrowser(app);
      for (const [name, value] of browser.cookies) other.cookies.set(name, value);
      return other.send("POST", `${session}/passkey`, { json: { response } });
    };
    assert.deepEqual(await sendTogether(copy), once(200, 401));
  }
});

test("of several uses at once of one password reset link, one succeeds", async () => {
  const { member } = await makeOwn();
  for (let round = 0; round < rounds; round++) {
    const { url } = await app.db.kysely.transaction().execute((tx) =>
      createLink(tx, {
        ...{ userId: member.id, purpose: "password_reset", ttlMs: 60_000 },
        ...{ baseUrl: app.config.baseUrl, creator: null },
      }),
    );
    const browsers: Browser[] = [];
    const use = () => {
      const browser = openBrowser(app);
      browsers.push(browser);
      return browser.submit(new URL(url).pathname, { password });
    };
    assert.deepEqual(await sendTogether(use), once(303, 404));
    assert.equal(browsers.filter(({ cookies }) => cookies.has("parley_session")).length, 1);
  }
});

test("of several SCIM requests at once for one userName, in any case, one creates a user", async () => {
  const own = await makeOwn();
  const admin = await signInAs(app, own.admin);
  const { token } = (await admin.send("POST", "/_/api/v1/scim-tokens", { json: { name: "Entra" } })).body;
  for (let round = 0; round < rounds; round++) {
    const name = `Ada${round}@${own.domain}`;
    const names = [name, name.toUpperCase(), name.toLowerCase(), name];
    const create = () => {
      const userName = names.pop() ?? "";
      return fetch(`${app.url}/_/scim/v2/Users`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
        body: JSON.stringify({ userName, displayName: "Ada", active: true }),
      });
    };
    assert.deepEqual(await sendTogether(create), once(201, 409));
    const { rowCount } = await app.db.pool.query("select from users where email_key = lower($1)", [name]);
    assert.equal(rowCount, 1);
  }
});

/** A workspace whose admin can turn on single sign-on only, and what its member has from before. */
async function makeRuled() {
  const own = await makeOwn();
  const admin = await signInAs(app, own.admin);
  await turnOn(admin);
  const member = await signInAs(app, own.member);
  const client = await oauth.makeClient(app, own, {});
  const turn = (isOn: boolean) =>
    admin.send("PATCH", rulesPath, {
      json: isOn
        ? { single_sign_on_only: true, break_glass_user_id: own.admin.id }
        : { single_sign_on_only: false },
    });
  return { own, admin, member, client, turn };
}

const createToken = (browser: Browser) =>
  browser.send("POST", "/_/api/v1/tokens", { json: { type: "personal_access_token", name: "Quick" } });

const isRefused = async (token: string) => {
  const used = await fetch(`${app.url}/_/api/v1/tokens`, { headers: { authorization: `Bearer ${token}` } });
  return used.status === 403;
};

test("sessions and tokens that begin while single sign-on only is turned on are refused", async () => {
  const { own, member, turn } = await makeRuled();
  for (let round = 0; round < rounds; round++) {
    await deleteAllAttempts(app.db);
    const late = [openBrowser(app), openBrowser(app)];
    const [on, ...requests] = await Promise.all([
      turn(true),
      ...late.map((browser) =>
        browser.send("POST", session, { json: { email: own.member.email, password } }),
      ),
      ...Array.from({ length: attempts }, () => createToken(member)),
    ]);
    assert.equal(on.status, 200, on.text);
    for (const browser of [member, ...late]) assert.equal((await browser.get(me)).status, 401);
    for (const { status, body, text } of requests.slice(late.length)) {
      assert.ok([200, 401, 403].includes(status), text);
      if (status === 200) assert.equal(await isRefused(body.token), true, "a token from before the rule");
    }
    assert.equal((await turn(false)).status, 200);
  }
});

test("a request that began before single sign-on only creates no token and no access for an app after it", async () => {
  const { own, member, client } = await makeRuled();
  const authorizing = oauth.openBrowser(app);
  const url = oauth.authorizeUrl(client, {
    code_challenge: oauth.makePkce().challenge,
    code_challenge_method: "S256",
  });
  const consent = await authorizing.submit(await authorizing.get(url), {
    email: own.member.email,
    password,
  });
  assert.match(consent.html, /name="allow"/);
  const rules = JSON.stringify({
    ...{ second_factor: "nobody", grace_days: 7, session_max_hours: null, session_idle_minutes: null },
    ...{ token_max_days: null, allowed_addresses: [], admins_since: null, all_since: null },
    ...{ single_sign_on_only: true, break_glass_user_id: own.admin.id },
  });
  const { pending } = await app.db.kysely.transaction().execute(async (tx) => {
    await sql`select from workspaces where id = ${own.id} for no key update`.execute(tx);
    const { rows } = await sql<{ pid: number; at: Date }>`
      select pg_backend_pid() as pid, clock_timestamp() as at`.execute(tx);
    const pending = Promise.all([
      createToken(member),
      authorizing.submit(consent, { allow: "allow" }),
    ] as const);
    await until("both wait", async () => {
      const { rowCount } = await app.db.pool.query(
        "select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))",
        [rows[0]?.pid],
      );
      return rowCount === 2;
    });
    await sql`
      update workspaces set security_rules = ${rules}::jsonb || jsonb_build_object('single_sign_on_since', ${rows[0]?.at.toISOString()}::text)
      where id = ${own.id}`.execute(tx);
    return { pending };
  });
  const [token, consented] = await pending;
  assert.deepEqual([token.status, token.body.error], [403, "forbidden"], token.text);
  assert.equal(consented.leftTo, null, "no code");
  const { rowCount } = await app.db.pool.query(
    "select from oauth_grants where user_id = $1 union all select from access_tokens where user_id = $1 and name = 'Quick'",
    [own.member.id],
  );
  assert.equal(rowCount, 0);
});

test("a session that ends while its request waits changes no rules", async () => {
  const { own, admin } = await makeRuled();
  const { pending } = await app.db.kysely.transaction().execute(async (tx) => {
    await sql`select from workspaces where id = ${own.id} for no key update`.execute(tx);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    const pending = admin.send("PATCH", rulesPath, { json: { session_max_hours: 8 } });
    await until("it waits", async () => {
      const { rowCount } = await app.db.pool.query(
        "select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))",
        [rows[0]?.pid],
      );
      return rowCount === 1;
    });
    await sql`delete from sessions where user_id = ${own.admin.id}`.execute(tx);
    return { pending };
  });
  assert.equal((await pending).status, 403);
  const { rows } = await app.db.pool.query("select security_rules from workspaces where id = $1", [own.id]);
  assert.deepEqual(rows, [{ security_rules: null }]);
});

test("a session that begins while a second factor is required only sets it up", async () => {
  const { own, member, admin } = await makeRuled();
  for (let round = 0; round < rounds; round++) {
    await deleteAllAttempts(app.db);
    const late = openBrowser(app);
    const [on, signedIn] = await Promise.all([
      admin.send("PATCH", rulesPath, { json: { second_factor: "all", grace_days: 0 } }),
      late.send("POST", session, { json: { email: own.member.email, password } }),
    ]);
    assert.deepEqual([on.status, signedIn.status], [200, 200], on.text + signedIn.text);
    for (const browser of [member, late]) {
      const refused = await createToken(browser);
      assert.equal(refused.body.error, "second_factor_setup_required", refused.text);
    }
    await admin.send("PATCH", rulesPath, { json: { second_factor: "nobody" } });
  }
});
