import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { auditOf, givePassword, signInAs } from "../test/accounts.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const stranger = await makeWorkspace(app.db);

const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

test("users: only admins list the users of their workspace, with role and state", async () => {
  const { id, domain, admin, member, token } = await makeWorkspace(app.db);
  await manage("POST", "/users", admin.token, { email: `new@${domain}`, name: "New" });
  const gone = await makeUser(app.db, { id, domain });
  await manage("POST", `/users/${gone.id}/deactivate`, admin.token);
  const { body } = await manage("GET", "/users", admin.token);
  const states = Object.fromEntries(
    body.users.map((user: { email: string; role: string; state: string }) => [
      user.email,
      `${user.role} ${user.state}`,
    ]),
  );
  assert.deepEqual(states, {
    [admin.email]: "admin active",
    [member.email]: "member active",
    [`new@${domain}`]: "member invited",
    [gone.email]: "member deactivated",
  });
  for (const other of [member.token, token]) assert.equal((await manage("GET", "/users", other)).status, 403);
  assert.equal((await manage("GET", "/users", null)).status, 401);
  // The contract's list has who can be shared with: everybody but the deactivated.
  const listed = await call(app, "POST", "/users", {}, { token: member.token });
  assert.equal(
    listed.body.users.some((user: { id: string }) => user.id === gone.id),
    false,
  );
});

test("users: a taken email or a foreign team is refused, and nothing is created", async () => {
  const { domain, admin } = await makeWorkspace(app.db);
  const taken = await manage("POST", "/users", admin.token, { email: admin.email.toUpperCase(), name: "X" });
  assert.deepEqual([taken.status, taken.body.violations[0].pointer], [400, "/email"]);
  const foreign = await manage("POST", "/teams", stranger.admin.token, { name: "Foreign" });
  const wrong = await manage("POST", "/users", admin.token, {
    email: `y@${domain}`,
    name: "Y",
    team_ids: [foreign.body.id],
  });
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/team_ids/0"]);
  assert.equal((await manage("GET", "/users", admin.token)).body.users.length, 2);
});

test("users of another workspace are unknown to every operation", async () => {
  const { admin } = await makeWorkspace(app.db);
  for (const id of [stranger.member.id, unknownId()])
    for (const [method, path] of [
      ["PATCH", `/users/${id}`],
      ["POST", `/users/${id}/deactivate`],
      ["POST", `/users/${id}/reactivate`],
      ["POST", `/users/${id}/password-reset-link`],
      ["POST", `/users/${id}/invitation`],
      ["DELETE", `/users/${id}/single-sign-on`],
    ] as const)
      assert.equal((await manage(method, path, admin.token, { role: "viewer" })).status, 404, path);
});

test("the last active admin can't be removed, even concurrently; invited admins don't count", async () => {
  const { id, domain, admin, member } = await makeWorkspace(app.db);
  await manage("POST", "/users", admin.token, { email: `boss@${domain}`, name: "Boss", role: "admin" });
  for (const [method, path, body] of [
    ["PATCH", `/users/${admin.id}`, { role: "member" }],
    ["POST", `/users/${admin.id}/deactivate`, undefined],
  ] as const) {
    const answer = await manage(method, path, admin.token, body);
    assert.deepEqual([answer.status, answer.body.error], [409, "wrong_state"]);
  }
  assert.equal((await manage("PATCH", `/users/${member.id}`, admin.token, { role: "admin" })).status, 200);
  const answers = await Promise.all([
    manage("PATCH", `/users/${admin.id}`, admin.token, { role: "member" }),
    manage("POST", `/users/${member.id}/deactivate`, member.token),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const { rows } = await app.db.pool.query(
    "select 1 from users where workspace_id = $1 and role = 'admin' and deactivated_at is null and invited_at is null",
    [id],
  );
  assert.equal(rows.length, 1);
});

test("an admin who becomes a member loses issued workspace tokens, keeps personal ones, and the response reports it", async () => {
  const { admin, member, token, id } = await makeWorkspace(app.db);
  await manage("PATCH", `/users/${member.id}`, admin.token, { role: "admin" });
  const answer = await manage("PATCH", `/users/${admin.id}`, member.token, { role: "viewer", name: "Vi" });
  assert.deepEqual(
    [answer.body.user.role, answer.body.user.name, answer.body.revoked_tokens],
    ["viewer", "Vi", 1],
  );
  assert.equal((await call(app, "POST", "/users", {}, { token })).status, 401);
  assert.equal((await call(app, "POST", "/users", {}, { token: admin.token })).status, 200);
  const last = (await auditOf(app.db, id)).at(-1);
  assert.deepEqual(last?.details, { role: "viewer", name: "Vi", revoked_tokens: 1 });
});

test("a viewer sees recordings and changes nothing", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token);
  await manage("PATCH", `/users/${member.id}`, admin.token, { role: "viewer" });
  assert.equal(
    (await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token })).status,
    200,
  );
  for (const [method, path, body] of [
    ["PATCH", `/recordings/${recordingId}`, { title: "No" }],
    ["PUT", `/recordings/${recordingId}/tags`, { tag: "no" }],
    ["POST", "/hooks/create", { hook_url: "https://x.example", hook_type: "recording_added" }],
  ] as const)
    assert.equal((await call(app, method, path, body, { token: member.token })).status, 403, path);
});

test("deactivation ends sessions and tokens at once and keeps recordings; reactivation does not restore them", async () => {
  const own = await makeWorkspace(app.db);
  const { admin, member } = own;
  await givePassword(app.db, member);
  await manage("PATCH", `/users/${member.id}`, admin.token, { role: "admin" });
  const made = await manage("POST", "/tokens", member.token, {
    type: "workspace_access_token",
    name: "of the member",
  });
  const { recordingId } = await makeRecording(app, member.token);
  const browser = await signInAs(app, member);
  const answer = await manage("POST", `/users/${member.id}/deactivate`, admin.token);
  assert.deepEqual(
    [answer.body.user.state, answer.body.ended_sessions, answer.body.revoked_tokens],
    ["deactivated", 1, 2],
  );
  const isOut = async () => {
    assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
    for (const token of [member.token, made.body.token])
      assert.equal((await call(app, "POST", "/users", {}, { token })).status, 401);
  };
  await isOut();
  const read = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: own.token });
  assert.equal(read.body.recorders[0].id, member.id);
  await assert.rejects(signInAs(app, member));
  assert.equal((await manage("POST", `/users/${member.id}/password-reset-link`, admin.token)).status, 409);
  // Once more changes nothing and is no second entry.
  assert.equal((await manage("POST", `/users/${member.id}/deactivate`, admin.token)).status, 200);
  assert.equal((await manage("POST", `/users/${member.id}/reactivate`, admin.token)).body.state, "active");
  await isOut();
  await signInAs(app, member);
  const actions = (await auditOf(app.db, own.id)).map((row) => row.action);
  assert.equal(actions.filter((action) => action === "user_deactivated").length, 1);
  assert.equal(actions.filter((action) => action === "user_reactivated").length, 1);
});

test("deactivation during sign-in or token creation leaves no session and no token", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  const [, , issued] = await Promise.all([
    manage("POST", `/users/${member.id}/deactivate`, admin.token),
    signInAs(app, member).catch(() => null),
    manage("POST", "/tokens", member.token, { type: "personal_access_token", name: "late" }),
  ]);
  await manage("POST", `/users/${member.id}/reactivate`, admin.token);
  const { rows } = await app.db.pool.query(
    `select (select count(*)::int from sessions where user_id = $1) as sessions,
       (select count(*)::int from access_tokens where user_id = $1 and revoked_at is null) as tokens`,
    [member.id],
  );
  assert.deepEqual(rows[0], { sessions: 0, tokens: 0 }, issued.text);
});

test("deactivation disables the user's personal hooks at once", async () => {
  const { admin, member, token } = await makeWorkspace(app.db);
  const receiver = await startHookReceiver();
  const path = (name: string) =>
    receiver.requests.filter((request) => request.path === `/${name}` && request.body !== "{}");
  for (const [name, by] of [
    ["member", member.token],
    ["workspace", token],
  ] as const) {
    const body = { hook_url: `${receiver.url}/${name}`, hook_type: "recording_updated" };
    const made = await call(app, "POST", "/hooks/create", body, { token: by, version: "2025-10-31" });
    assert.equal(made.status, 200, made.text);
  }
  const { recordingId } = await makeRecording(app, member.token);
  const rename = (title: string) => call(app, "PATCH", `/recordings/${recordingId}`, { title }, { token });
  await rename("First");
  await until("both hear of the first", () => path("member").length === 1 && path("workspace").length === 1);
  await manage("POST", `/users/${member.id}/deactivate`, admin.token);
  await rename("Second");
  await until("the workspace hears of the second", () => path("workspace").length === 2);
  assert.equal(path("member").length, 1);
});

test("my own account: name, password, sessions", async () => {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.member);
  const [here, there] = [await signInAs(app, own.member), await signInAs(app, own.member)];
  assert.equal((await here.send("PATCH", "/_/api/v1/me", { json: { name: " Ny " } })).body.user.name, "Ny");
  const inLanguage = async (language: unknown) => {
    const { status, body } = await here.send("PATCH", "/_/api/v1/me", { json: { language } });
    return status === 200 ? body.user.language : body.violations[0].pointer;
  };
  assert.equal(await inLanguage("en-XA"), "en-XA");
  assert.equal((await there.get("/_/api/v1/session/me")).body.user.language, "en-XA");
  assert.equal(await inLanguage("tlh"), "/language");
  assert.equal(await inLanguage(null), null);
  const inZone = async (json: Readonly<Record<string, unknown>>) => {
    const { status, body } = await here.send("PATCH", "/_/api/v1/me", { json });
    return status === 200
      ? [body.user.time_zone, body.user.browser_time_zone]
      : [status, body.violations[0].pointer];
  };
  assert.deepEqual(await inZone({ browser_time_zone: "Asia/Kolkata" }), [null, "Asia/Kolkata"]);
  assert.deepEqual(await inZone({ time_zone: "Europe/Berlin" }), ["Europe/Berlin", "Asia/Kolkata"]);
  for (const wrong of ["Mars/Base", "", "+01:00", "Europe/Berlin ", "x".repeat(101)])
    assert.deepEqual(await inZone({ time_zone: wrong }), [400, "/time_zone"], wrong);
  assert.deepEqual(await inZone({ browser_time_zone: null }), [400, "/browser_time_zone"]);
  assert.deepEqual(await inZone({ time_zone: null }), [null, "Asia/Kolkata"]);
  const wrong = await here.send("POST", "/_/api/v1/me/password", {
    json: { current_password: "not it at all", new_password: "another good password" },
  });
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/current_password"]);
  const weak = await here.send("POST", "/_/api/v1/me/password", {
    json: { current_password: "a heron at low tide", new_password: "short" },
  });
  assert.deepEqual([weak.status, weak.body.violations[0].pointer], [400, "/new_password"]);
  const listed = (await here.get("/_/api/v1/sessions")).body.sessions;
  assert.deepEqual(listed.map((session: { current: boolean }) => session.current).sort(), [false, true]);
  const right = { current_password: "a heron at low tide", new_password: "another good password" };
  assert.equal((await here.send("POST", "/_/api/v1/me/password", { json: right })).status, 200);
  assert.equal((await here.get("/_/api/v1/session/me")).status, 200);
  assert.equal((await there.get("/_/api/v1/session/me")).status, 401);
  // Guessing the current password is throttled as at sign-in.
  const statuses = [];
  for (let round = 0; round < 7; round++)
    statuses.push((await here.send("POST", "/_/api/v1/me/password", { json: right })).status);
  assert.deepEqual(statuses.slice(-1), [429]);
});

test("sessions: users end one or all of their own sessions and no others", async () => {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.member, own.admin);
  const [a, b, other] = [
    await signInAs(app, own.member),
    await signInAs(app, own.member),
    await signInAs(app, own.admin),
  ];
  const id = (await b.get("/_/api/v1/session/me")).body.session.id;
  assert.equal((await other.send("DELETE", `/_/api/v1/sessions/${id}`)).status, 404);
  assert.equal((await a.send("DELETE", `/_/api/v1/sessions/${id}`)).status, 200);
  assert.equal((await b.get("/_/api/v1/session/me")).status, 401);
  await signInAs(app, own.member);
  assert.deepEqual((await a.send("DELETE", "/_/api/v1/sessions")).body, { ended: 2 });
  assert.equal((await a.get("/_/api/v1/session/me")).status, 401);
  assert.equal((await other.get("/_/api/v1/session/me")).status, 200);
  // A workspace token has no account, and its holder is not the admin who issued it.
  for (const path of ["/session/me", "/sessions", "/tokens"])
    assert.equal((await manage("GET", path, own.token)).status, 403);
});

test("sessions expire after two weeks without use or after ninety days; the sweep removes them a day later", async () => {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.member);
  const { sweepSessions } = await import("../sign-in/sessions.ts");
  for (const change of [
    "last_used_at = now() - interval '14 days 1 hour'",
    "expires_at = now() - interval '1 second'",
  ]) {
    const browser = await signInAs(app, own.member);
    await app.db.pool.query(`update sessions set ${change} where user_id = $1`, [own.member.id]);
    assert.equal((await browser.get("/_/api/v1/session/me")).status, 401);
  }
  const kept = await signInAs(app, own.member);
  const sweep = async () => {
    await sweepSessions(app.db);
    return (await app.db.pool.query("select 1 from sessions where user_id = $1", [own.member.id])).rows
      .length;
  };
  assert.equal(await sweep(), 3, "a download that began before the session expired may finish");
  await app.db.pool.query(
    "update sessions set expires_at = expires_at - interval '1 day' where user_id = $1",
    [own.member.id],
  );
  assert.equal(await sweep(), 1);
  assert.equal((await kept.get("/_/api/v1/session/me")).status, 200);
});
