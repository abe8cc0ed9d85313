import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { auditOf, givePassword, signInAs } from "../test/accounts.ts";

const app = await startTestApp();
const stranger = await makeWorkspace(app.db);

const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function sees(token: string, recordingId: string): Promise<boolean> {
  const [read, list] = [
    await call(app, "POST", `/recordings/${recordingId}`, {}, { token }),
    await call(app, "POST", "/recordings", {}, { token }),
  ];
  const isListed = list.body.recordings.some((one: { id: string }) => one.id === recordingId);
  assert.equal(read.status === 200, isListed);
  return isListed;
}

test("teams: members see shared recordings from the next request on, until they leave", async () => {
  const own = await makeWorkspace(app.db);
  const { admin, member } = own;
  const colleague = await makeUser(app.db, own);
  const team = (await manage("POST", "/teams", admin.token, { name: "Crew", member_ids: [member.id] })).body;
  assert.deepEqual(team.member_ids, [member.id]);
  const { recordingId } = await makeRecording(app, member.token);
  await call(app, "PUT", `/recordings/${recordingId}/teams`, { team_id: team.id }, { token: member.token });
  assert.equal(await sees(colleague.token, recordingId), false);
  const joined = await manage("PUT", `/teams/${team.id}/members`, admin.token, { user_id: colleague.id });
  assert.deepEqual(joined.body.member_ids.sort(), [colleague.id, member.id].sort());
  assert.equal(await sees(colleague.token, recordingId), true);
  assert.equal(
    (await manage("DELETE", `/teams/${team.id}/members/${colleague.id}`, admin.token)).status,
    200,
  );
  assert.equal(await sees(colleague.token, recordingId), false);
  assert.equal(
    (await manage("DELETE", `/teams/${team.id}/members/${colleague.id}`, admin.token)).status,
    404,
  );
});

test("teams: deleting a team removes its shares and records recording_updated for each recording", async () => {
  const own = await makeWorkspace(app.db);
  const colleague = await makeUser(app.db, own);
  const { admin, member } = own;
  const team = (await manage("POST", "/teams", admin.token, { name: "Crew", member_ids: [colleague.id] }))
    .body;
  const ids: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { recordingId } = await makeRecording(app, member.token);
    await call(app, "PUT", `/recordings/${recordingId}/teams`, { team_id: team.id }, { token: member.token });
    ids.push(recordingId);
  }
  assert.equal(await sees(colleague.token, ids[0] ?? ""), true);
  await app.db.pool.query("delete from events where workspace_id = $1", [own.id]);
  assert.equal((await manage("DELETE", `/teams/${team.id}`, admin.token)).status, 200);
  for (const id of ids) assert.equal(await sees(colleague.token, id), false);
  const { rows } = await app.db.pool.query(
    "select type, subject_id from events where workspace_id = $1 order by subject_id",
    [own.id],
  );
  assert.deepEqual(
    rows,
    ids.sort().map((subject_id) => ({ type: "recording_updated", subject_id })),
  );
  const grants = await app.db.pool.query("select 1 from recording_grants where principal_id = $1", [team.id]);
  assert.equal(grants.rowCount, 0);
  assert.equal((await manage("DELETE", `/teams/${team.id}`, admin.token)).status, 404);
});

test("teams: deleting a team during a share leaves no grant", async () => {
  const own = await makeWorkspace(app.db);
  const { admin, member } = own;
  const team = (await manage("POST", "/teams", admin.token, { name: "Crew" })).body;
  const recordings = await Promise.all(Array.from({ length: 6 }, () => makeRecording(app, member.token)));
  const share = ({ recordingId }: { recordingId: string }) =>
    call(app, "PUT", `/recordings/${recordingId}/teams`, { team_id: team.id }, { token: member.token });
  const shares = recordings.map(share);
  await shares[0];
  const [deleted] = await Promise.all([manage("DELETE", `/teams/${team.id}`, admin.token), ...shares]);
  assert.equal(deleted.status, 200, deleted.text);
  const grants = await app.db.pool.query("select 1 from recording_grants where principal_id = $1", [team.id]);
  assert.equal(grants.rowCount, 0);
});

test("teams: names are unique ignoring case; users and teams of other workspaces are unknown", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const team = (await manage("POST", "/teams", admin.token, { name: "Équipe" })).body;
  assert.equal((await manage("POST", "/teams", admin.token, { name: "equipe" })).status, 409);
  const other = (await manage("POST", "/teams", admin.token, { name: "Other" })).body;
  assert.equal((await manage("PATCH", `/teams/${other.id}`, admin.token, { name: "EQUIPE" })).status, 409);
  const renamed = await manage("PATCH", `/teams/${team.id}`, admin.token, { name: "equipe" });
  assert.equal(renamed.body.name, "equipe");
  const foreign = await manage("PUT", `/teams/${team.id}/members`, admin.token, {
    user_id: stranger.member.id,
  });
  assert.deepEqual([foreign.status, foreign.body.violations[0].pointer], [400, "/user_id"]);
  const theirs = (await manage("POST", "/teams", stranger.admin.token, { name: "Theirs" })).body;
  for (const [method, path] of [
    ["PATCH", `/teams/${theirs.id}`],
    ["DELETE", `/teams/${theirs.id}`],
    ["PUT", `/teams/${theirs.id}/members`],
    ["DELETE", `/teams/${theirs.id}/members/${member.id}`],
  ] as const)
    assert.equal((await manage(method, path, admin.token, { name: "X", user_id: member.id })).status, 404);
  assert.equal((await manage("POST", "/teams", member.token, { name: "Mine" })).status, 403);
  const { body } = await manage("GET", "/teams", member.token);
  assert.deepEqual(
    body.teams.map((one: { name: string }) => one.name),
    ["equipe", "Other"].sort(),
  );
});

test("workspace: admins change name and domains; existing recordings keep who counts as internal", async () => {
  const own = await makeWorkspace(app.db);
  const attributes = { participants: [{ name: "Eve", email: "eve@new.example" }] };
  const scopeOf = async (recordingId: string) =>
    (
      await call(
        app,
        "POST",
        `/recordings/${recordingId}`,
        { include: { participants: true } },
        { token: own.admin.token },
      )
    ).body.participants[0].scope;
  const before = await makeRecording(app, own.admin.token, attributes);
  const answer = await manage("PATCH", "/workspace", own.admin.token, {
    name: "Renamed",
    email_domains: ["@New.Example", "new.example", "two.example"],
  });
  assert.deepEqual(answer.body, {
    id: own.id,
    name: "Renamed",
    email_domains: ["new.example", "two.example"],
    new_recordings: "server_setting",
    new_recording_share_state: "restricted",
    recording_added: "when_ready",
    spoken_language: null,
    vocabulary: [],
    trash_days: 30,
    voice_profiles: false,
    self_registered_apps: true,
    resolves_old_ids: false,
    recording_consent: null,
    single_sign_on: null,
  });
  const later = await makeRecording(app, own.admin.token, attributes);
  assert.deepEqual(
    [await scopeOf(before.recordingId), await scopeOf(later.recordingId)],
    ["external", "internal"],
  );
  const wrong = await manage("PATCH", "/workspace", own.admin.token, { email_domains: ["a.b", "no domain"] });
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/email_domains/1"]);
  assert.equal((await manage("PATCH", "/workspace", own.member.token, { name: "X" })).status, 403);
  assert.ok((await auditOf(app.db, own.id)).some(({ action }) => action === "settings_changed"));
});

const soon = () => new Date(Date.now() + 3_600_000).toISOString();

test("tokens: shown once, valid at once, listed without their value, refused once revoked", async () => {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.admin);
  const browser = await signInAs(app, own.admin);
  for (const [type, prefix] of [
    ["personal_access_token", "parley_pat_"],
    ["workspace_access_token", "parley_wat_"],
  ] as const) {
    const expires_at = soon();
    const made = await browser.send("POST", "/_/api/v1/tokens", { json: { type, name: "CI", expires_at } });
    assert.equal(made.status, 200, made.text);
    const { token, ...shown } = made.body;
    assert.ok(token.startsWith(prefix));
    assert.deepEqual([shown.type, shown.expires_at, shown.last_used_datetime], [type, expires_at, null]);
    const info = await call(app, "GET", "/token-info", undefined, { token });
    assert.deepEqual([info.body.type, info.body.expires_at], [type, expires_at]);
    const list = await browser.get("/_/api/v1/tokens");
    assert.equal(list.text.includes(token.slice(11)), false);
    const listed = list.body.tokens.find((one: { id: string }) => one.id === shown.id);
    assert.ok(listed.last_used_datetime);
    assert.deepEqual({ ...listed, last_used_datetime: null }, shown);
    assert.equal((await browser.send("DELETE", `/_/api/v1/tokens/${shown.id}`)).status, 200);
    assert.equal((await call(app, "POST", "/users", {}, { token })).status, 401);
    assert.equal((await browser.send("DELETE", `/_/api/v1/tokens/${shown.id}`)).status, 404);
  }
});

test("tokens: expired ones are refused, and an expiry in the past is invalid", async () => {
  const { member } = await makeWorkspace(app.db);
  const past = await manage("POST", "/tokens", member.token, {
    type: "personal_access_token",
    name: "x",
    expires_at: "2020-01-01T00:00:00Z",
  });
  assert.deepEqual([past.status, past.body.violations[0].pointer], [400, "/expires_at"]);
  const made = await manage("POST", "/tokens", member.token, {
    type: "personal_access_token",
    name: "x",
    expires_at: soon(),
  });
  await app.db.pool.query("update access_tokens set expires_at = now() - interval '1 second' where id = $1", [
    made.body.id,
  ]);
  assert.equal((await call(app, "POST", "/users", {}, { token: made.body.token })).status, 401);
});

test("tokens: a token created by a token does not outlive it", async () => {
  const { member } = await makeWorkspace(app.db);
  const first = await manage("POST", "/tokens", member.token, {
    type: "personal_access_token",
    name: "first",
    expires_at: soon(),
  });
  const type = "personal_access_token";
  const later = new Date(Date.parse(first.body.expires_at) + 1000).toISOString();
  for (const values of [{}, { expires_at: later }]) {
    const refused = await manage("POST", "/tokens", first.body.token, { type, name: "second", ...values });
    assert.deepEqual([refused.status, refused.body.violations[0].pointer], [400, "/expires_at"]);
  }
  const expires_at = first.body.expires_at;
  assert.equal(
    (await manage("POST", "/tokens", first.body.token, { type, name: "second", expires_at })).status,
    200,
  );
});

test("tokens: members manage their own, admins all of the workspace, workspace tokens none", async () => {
  const { admin, member, token } = await makeWorkspace(app.db);
  const wat = { type: "workspace_access_token", name: "x" };
  assert.equal((await manage("POST", "/tokens", member.token, wat)).status, 403);
  assert.equal((await manage("POST", "/tokens", token, wat)).status, 403);
  assert.equal((await manage("GET", "/tokens?of=workspace", member.token)).status, 403);
  const all = (await manage("GET", "/tokens?of=workspace", admin.token)).body.tokens;
  assert.deepEqual(
    all.map((one: { user_id: string }) => one.user_id).sort(),
    [admin.id, admin.id, member.id].sort(),
  );
  const mine = (await manage("GET", "/tokens", member.token)).body.tokens;
  assert.equal(mine.length, 1);
  const ofAdmin = all.find((one: { user_id: string }) => one.user_id === admin.id).id;
  assert.equal((await manage("DELETE", `/tokens/${ofAdmin}`, member.token)).status, 404);
  assert.equal((await manage("DELETE", `/tokens/${ofAdmin}`, stranger.admin.token)).status, 404);
  assert.equal((await manage("DELETE", `/tokens/${unknownId()}`, admin.token)).status, 404);
  assert.equal((await manage("DELETE", `/tokens/${mine[0].id}`, admin.token)).status, 200);
  assert.equal((await call(app, "POST", "/users", {}, { token: member.token })).status, 401);
});

test("workspace: sets access to new recordings, or returns to the server default", async () => {
  const own = await makeWorkspace(app.db);
  const stateOfNew = async () => {
    const { recordingId } = await makeRecording(app, own.admin.token);
    const row = await app.db.kysely
      .selectFrom("recordings")
      .select("share_state")
      .where("id", "=", recordingId)
      .executeTakeFirstOrThrow();
    return row.share_state;
  };
  const set = async (new_recordings: string) => {
    const { body, text } = await manage("PATCH", "/workspace", own.admin.token, { new_recordings });
    assert.equal(body.new_recordings, new_recordings, text);
    return body.new_recording_share_state;
  };
  assert.equal(await stateOfNew(), "restricted");
  assert.equal(await set("workspace"), "workspace");
  assert.equal(await stateOfNew(), "workspace");
  assert.equal(await set("server_setting"), "restricted");
  assert.equal(await stateOfNew(), "restricted");
  const wrong = await manage("PATCH", "/workspace", own.admin.token, { new_recordings: "public" });
  assert.equal(wrong.status, 400);
});
