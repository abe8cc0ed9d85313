import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call, startTestApp, type TestApp } from "../../../../test/support/app.ts";
import {
  insertRecording,
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
} from "../../../../test/support/factories.ts";
import { withinOneMinute } from "../../../../test/support/until.ts";

const app = await startTestApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "0" } });

const list = (token: string, body: unknown = {}, of: TestApp = app) =>
  call(of, "POST", "/recordings", body, { token });

const revoke = (token: string, of: TestApp = app) =>
  of.db.pool.query("update access_tokens set revoked_at = now() where hash = sha256($1)", [
    Buffer.from(token),
  ]);

test("a revoked token is refused at once, whatever else is wrong with the request", async () => {
  const { member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token);
  assert.equal((await list(member.token)).body.recordings.length, 1);
  await revoke(member.token);
  const path = `/recordings/${recordingId}`;
  const answers = [
    await list(member.token),
    await list(member.token, { filter: { team: 5 } }),
    await list(member.token, { cursor: "nonsense" }),
    await call(app, "POST", "/recordings", {}, { token: member.token, raw: "{" }),
    await call(app, "POST", path, {}, { token: member.token }),
    await call(app, "POST", "/recordings/none", {}, { token: member.token }),
    await call(app, "GET", `${path}/transcript`, undefined, { token: member.token }),
    await call(app, "GET", `${path}/transcript.vtt`, undefined, { token: member.token }),
  ];
  for (const answer of answers) {
    assert.deepEqual([answer.status, answer.body?.error], [401, "token_invalid"], answer.text);
    assert.match(answer.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
  }
});

test("of many requests at once all that begin after a deactivation are refused", async () => {
  const { id, domain } = await makeWorkspace(app.db);
  const person = await makeUser(app.db, { id, domain });
  await list(person.token);
  const before = Array.from({ length: 20 }, () => list(person.token));
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [person.id]);
  const after = await Promise.all(Array.from({ length: 20 }, () => list(person.token)));
  assert.deepEqual(new Set(after.map(({ status }) => status)), new Set([401]));
  // Those that wait when access is checked are cut off.
  for (const one of await Promise.allSettled(before))
    if (one.status === "fulfilled") assert.ok(one.value.status === 200 || one.value.status === 401);
    else assert.match(one.reason.message, /fetch failed/);
});

test("what a caller sees, and may use, is what applies now and not in an earlier request", async () => {
  const workspace = await makeWorkspace(app.db);
  const person = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, []);
  const recordingId = await insertRecording(app.db, { recorderId: workspace.admin.id });
  const path = `/recordings/${recordingId}`;
  const shared = await call(
    app,
    "PUT",
    `${path}/teams`,
    { team_id: team.id },
    { token: workspace.admin.token },
  );
  assert.equal(shared.status, 200, shared.text);
  const seen = async () => [
    (await list(person.token)).body.recordings.length,
    (await call(app, "POST", path, {}, { token: person.token })).status,
  ];
  assert.deepEqual(await seen(), [0, 404]);
  await app.db.pool.query("insert into team_members (team_id, user_id) values ($1, $2)", [
    team.id,
    person.id,
  ]);
  assert.deepEqual(await seen(), [1, 200]);
  await app.db.pool.query("delete from team_members where user_id = $1", [person.id]);
  assert.deepEqual(await seen(), [0, 404]);
});

test("a token that is revoked while its request waits for the database is cut off within a second", async () => {
  const { member } = await makeWorkspace(app.db);
  await makeRecording(app, member.token, { title: "Lighthouse" });
  const path = "/_/api/v1/search?q=lighthouse";
  const searchFor = () => call(app, "GET", path, undefined, { token: member.token, version: null });
  assert.equal((await searchFor()).status, 200);
  for (const [table, read] of [
    ["recordings", () => list(member.token)],
    ["search_recordings", searchFor],
  ] as const) {
    await app.db.pool.query("update access_tokens set revoked_at = null where hash = sha256($1)", [
      Buffer.from(member.token),
    ]);
    assert.equal((await read()).status, 200);
    const blocker = await app.db.pool.connect();
    await blocker.query("begin");
    await blocker.query(`lock table ${table} in access exclusive mode`);
    try {
      const cut = assert.rejects(read(), /fetch failed/);
      await delay(200);
      await revoke(member.token);
      const revokedAt = performance.now();
      await cut;
      assert.ok(performance.now() - revokedAt < 1500, table);
    } finally {
      await blocker.query("rollback");
      blocker.release();
    }
  }
});

test("an invalid token counts for its IP address, also if it was valid before", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "4" } });
    const { member, admin } = await makeWorkspace(limited.db);
    for (const { token } of [member, admin]) assert.equal((await list(token, {}, limited)).status, 200);
    await revoke(member.token, limited);
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) statuses.push((await list(member.token, {}, limited)).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429]);
    // Others of the address are counted by their tokens.
    assert.equal((await list(admin.token, {}, limited)).status, 200);
  }));

test("a statement that fails leaves the token checked and the connections usable", async () => {
  const { member } = await makeWorkspace(app.db);
  await list(member.token);
  await app.db.pool.query("alter table recording_grants rename to hidden_grants");
  try {
    const failed = await list(member.token);
    assert.deepEqual([failed.status, failed.body.error], [500, "internal"]);
    await revoke(member.token);
    assert.equal((await list(member.token)).status, 401);
  } finally {
    await app.db.pool.query("alter table hidden_grants rename to recording_grants");
  }
  const { member: other } = await makeWorkspace(app.db);
  for (let turn = 0; turn < 20; turn += 1) assert.equal((await list(other.token)).status, 200);
});
