import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { ownPath } from "../pages/next.ts";
import {
  auditOf,
  deleteAllAttempts,
  givePassword,
  hiddenFields,
  openBrowser,
  password,
  signInAs,
} from "../test/accounts.ts";
import { hashPassword, passwordCost } from "./passwords.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
await givePassword(app.db, admin, member);

test("sign in: the session cookie authenticates API requests and appears in no page", async () => {
  const browser = openBrowser(app);
  const answer = await browser.submit("/sign-in", { email: ` ${member.email.toUpperCase()} `, password });
  assert.deepEqual([answer.status, answer.location], [303, "/"]);
  const [cookie = "", device = "", ...others] = answer.headers.getSetCookie();
  assert.match(device, /^parley_device=[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/i);
  assert.deepEqual(others, []);
  assert.match(cookie, /^parley_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/i);
  const me = await browser.get("/_/api/v1/session/me");
  assert.equal(me.status, 200, me.text);
  assert.deepEqual(me.body.user, {
    id: member.id,
    name: member.name,
    email: member.email,
    role: "member",
    language: null,
    time_zone: null,
    browser_time_zone: null,
  });
  assert.equal(me.body.workspace.id, workspace.id);
  assert.deepEqual([me.body.session.method, me.body.has_password], ["password", true]);
  // The contract's operations as well, with their version.
  const users = await browser.send("POST", "/_/public-api/v2/users", {
    json: {},
    headers: { "public-api-version": "2026-10-01" },
  });
  assert.equal(users.status, 200);
  const tokenInfo = await browser.get("/_/public-api/v2/token-info", { "public-api-version": "2026-10-01" });
  assert.equal(tokenInfo.status, 403);
});

test("sign in under https: the cookie is Secure and __Host-", async () => {
  const secure = await startTestApp({ env: { PARLEY_BASE_URL: "https://parley.test" }, worker: false });
  const own = await makeWorkspace(secure.db);
  await givePassword(secure.db, own.member);
  const answer = await openBrowser(secure).submit("/sign-in", { email: own.member.email, password });
  assert.match(answer.headers.getSetCookie().join(), /^__Host-parley_session=[^;]+;.*Secure/);
  // A neighbouring host can set the plain name, which means nothing here.
  const browser = openBrowser(secure);
  browser.cookies.set("parley_session", /=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? "")?.[1] ?? "");
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
});

test("sign in: a wrong password and an unknown email get the same response, in JSON and on the page", async () => {
  const [wrong, unknown] = await Promise.all(
    [member.email, "nobody@nowhere.example"].map(async (email) => {
      const page = await openBrowser(app).submit("/sign-in", { email, password: "not the password" });
      const json = await openBrowser(app).send("POST", "/_/api/v1/session", {
        json: { email, password: "not the password" },
      });
      return [
        page.status,
        page.text.replaceAll(email, "EMAIL"),
        json.status,
        { ...json.body, request_id: "" },
        [...page.headers.keys()],
      ];
    }),
  );
  assert.deepEqual(wrong, unknown);
  assert.deepEqual([wrong?.[0], wrong?.[2]], [401, 401]);
  await deleteAllAttempts(app.db);
});

test("sign in: takes the same time for known and unknown accounts and for accounts without a password", async () => {
  // A quarter of the server's cost is far more than everything else a request takes.
  const cost = { ...passwordCost, memory: passwordCost.memory / 4 };
  const app = await startTestApp({ worker: false, passwordCost: cost });
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const [known, bare] = [member.email, (await makeUser(app.db, workspace)).email];
  assert.match(await hashPassword(password), /^\$argon2id\$v=19\$m=65536,t=3,p=4\$/);
  const password_hash = await hashPassword(password, cost);
  await app.db.kysely.updateTable("users").set({ password_hash }).where("id", "=", member.id).execute();
  const times = new Map<string, number[]>();
  for (let round = 0; round < 8; round++)
    for (const email of [known, bare, `nobody${round}@nowhere.example`]) {
      const began = performance.now();
      const answer = await openBrowser(app).send("POST", "/_/api/v1/session", {
        json: { email, password: "not the password" },
      });
      assert.equal(answer.status, 401, answer.text);
      const kind = email === known ? "known" : email === bare ? "bare" : "unknown";
      times.set(kind, [...(times.get(kind) ?? []), performance.now() - began]);
      await deleteAllAttempts(app.db);
    }
  // What else runs on the machine only adds to them.
  const least = [...times.values()].map((list) => Math.min(...list));
  // Without the pretended work the unknown would take a tenth.
  assert.ok(Math.max(...least) < 2 * Math.min(...least), JSON.stringify([...times.keys(), ...least]));
});

test("next: only paths on this server are followed", async () => {
  for (const good of ["/", "/recordings/1?a=b#c", "/_/public-api/oauth2/authorize?client_id=x&state=%2F%2Fy"])
    assert.equal(ownPath(good), good);
  for (const bad of [
    undefined,
    ["/a"],
    "",
    "recordings",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/",
    "https:evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/%2Fevil.example",
    "/%2f/evil.example",
    "/%5Cevil.example",
    "/%09/evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/a\r\nset-cookie: x=y",
    "/a b",
    "/é",
    `/${"a".repeat(3000)}`,
  ])
    assert.equal(ownPath(bad), "/", String(bad));
  for (const [next, expected] of [
    ["/recordings/1?a=b", "/recordings/1?a=b"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example", "/"],
  ] as const) {
    const browser = openBrowser(app);
    const path = `/sign-in?next=${encodeURIComponent(next)}`;
    assert.equal(hiddenFields((await browser.get(path)).text).next, expected);
    assert.equal((await browser.submit(path, { email: member.email, password })).location, expected);
    // And where the field itself was meddled with.
    const direct = await openBrowser(app).send("POST", "/sign-in", {
      form: { email: member.email, password, next },
    });
    assert.equal(direct.location, expected);
  }
});

test("sign out: ends the session on the server, not only in the browser", async () => {
  const browser = await signInAs(app, member);
  const cookie = browser.cookies.get("parley_session") ?? "";
  const answer = await browser.submit("/sign-out", {});
  assert.deepEqual([answer.status, answer.location], [303, "/sign-in"]);
  assert.deepEqual([...browser.cookies.keys()], ["parley_device"], "by which the browser is known");
  browser.cookies.set("parley_session", cookie);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
});

test("signing in again ends the browser's previous session", async () => {
  const browser = await signInAs(app, member);
  const before = browser.cookies.get("parley_session") ?? "";
  await browser.submit("/sign-out", {});
  browser.cookies.set("parley_session", before);
  const again = await signInAs(app, member);
  const old = new Map(again.cookies);
  const form = { ...hiddenFields((await again.get("/sign-out")).text), email: member.email, password };
  assert.equal((await again.send("POST", "/sign-in", { form })).status, 303);
  assert.notEqual(again.cookies.get("parley_session"), old.get("parley_session"));
  again.cookies.set("parley_session", old.get("parley_session") ?? "");
  assert.equal((await again.get("/_/api/v1/session/me")).status, 401);
});

test("forms of a signed-in user need their CSRF token", async () => {
  const browser = await signInAs(app, member);
  const stranger = await signInAs(app, admin);
  const foreign = hiddenFields((await stranger.get("/sign-out")).text).form_token ?? "";
  for (const form_token of [undefined, "", "x", foreign]) {
    const form = form_token === undefined ? {} : { form_token };
    assert.equal((await browser.send("POST", "/sign-out", { form })).status, 403);
    const again = { ...form, email: admin.email, password };
    assert.equal((await browser.send("POST", "/sign-in", { form: again })).status, 403);
  }
  assert.equal((await browser.get("/_/api/v1/session/me")).body.user.id, member.id);
});

test("pages of other sites can neither use a session nor sign a user in", async () => {
  const browser = await signInAs(app, member);
  const form = { ...hiddenFields((await browser.get("/sign-out")).text), email: admin.email, password };
  const version = { "public-api-version": "2026-10-01" };
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: app.url.replace("127.0.0.1", "127.0.0.1.evil.example") },
    { origin: "http://127.0.0.1:1" },
  ]) {
    for (const path of ["/sign-in", "/sign-out", "/password-reset", "/invitations/x", "/password-reset/x"])
      assert.equal((await browser.send("POST", path, { form, headers })).status, 403, path);
    const json = { email: admin.email, password };
    assert.equal((await openBrowser(app).send("POST", "/_/api/v1/session", { json, headers })).status, 403);
    for (const [method, path] of [
      ["DELETE", "/_/api/v1/session"],
      ["DELETE", "/_/api/v1/sessions"],
      ["POST", "/_/api/v1/me/password"],
      ["PATCH", "/_/api/v1/me"],
      ["POST", "/_/api/v1/tokens"],
      ["PUT", "/_/public-api/v2/recordings/0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11/tags"],
    ] as const)
      assert.equal(
        (await browser.send(method, path, { headers: { ...headers, ...version } })).status,
        403,
        path,
      );
  }
  // A program that sends no such header borrows nobody's cookie, and a token is sent by nobody but its owner.
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
  const byToken = await call(
    app,
    "PATCH",
    "/_/api/v1/me",
    {},
    {
      token: member.token,
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    },
  );
  assert.equal(byToken.status, 200);
});

test("sign-in page: no scripts but the one for passkeys, no frames or caching; input is escaped", async () => {
  const email = '"><script>alert(1)</script>@x.example';
  const answer = await openBrowser(app).submit("/sign-in", { email, password: "wrong" });
  assert.equal(answer.status, 401);
  assert.deepEqual(answer.text.match(/<script[^>]*>/g), ['<script src="/sign-in/passkeys.js" defer>']);
  const policy = answer.headers.get("content-security-policy") ?? "";
  assert.match(
    policy,
    /default-src 'none'.*; script-src 'self'; connect-src 'self'; .*frame-ancestors 'none'/,
  );
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(answer.headers.get("x-frame-options"), "DENY");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  // Or browsers would send `Origin: null` with the form, where the address is no https.
  assert.equal(answer.headers.get("referrer-policy"), "same-origin");
  await deleteAllAttempts(app.db);
});

test("sign-ins are in the audit log, with their origin and without the password", async () => {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.member);
  await openBrowser(app).submit("/sign-in", { email: own.member.email, password: "a wrong password" });
  const browser = openBrowser(app);
  await browser.send("POST", "/_/api/v1/session", {
    json: { email: own.member.email, password },
    headers: { "user-agent": "Test/1" },
  });
  await browser.send("DELETE", "/_/api/v1/session");
  const log = await auditOf(app.db, own.id);
  assert.deepEqual(
    log.map((row) => [row.action, row.user_id, row.ip]),
    ["sign_in_failed", "signed_in", "signed_out"].map((action) => [action, own.member.id, "127.0.0.1"]),
  );
  assert.equal(log[1]?.user_agent, "Test/1");
  assert.doesNotMatch(JSON.stringify(log), /wrong password|heron/);
});
