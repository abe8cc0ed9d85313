import assert from "node:assert/strict";
import { test } from "node:test";
import { call, currentVersion, everyVersion, olderVersion, startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../test/support/factories.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeWorkspace(app.db, "Ours");
await makeWorkspace(app.db, "Theirs");

for (const version of everyVersion) {
  test(`users: active users of the workspace, by name (${version})`, async () => {
    const gone = await makeUser(app.db, workspace);
    await app.db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
    for (const token of [workspace.token, workspace.member.token]) {
      const { body } = await call(app, "POST", "/users", undefined, { token, version });
      const expected = [workspace.admin, workspace.member]
        .map(({ id, name, email }) => ({ id, name, email }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      assert.deepEqual(body, { users: expected });
    }
  });

  test(`meeting types: twelve defaults, internal and external (${version})`, async () => {
    const { body } = await call(
      app,
      "POST",
      "/meeting_types",
      {},
      { token: workspace.member.token, version },
    );
    assert.equal(body.meeting_types.length, 12);
    assert.deepEqual(
      [...new Set(body.meeting_types.map((type: { scope: string }) => type.scope))],
      ["internal", "external"],
    );
    assert.equal(new Set(body.meeting_types.map((type: { name: string }) => type.name)).size, 12);
  });
}

test("invited users: those of the workspace who have not accepted, for every user of it", async () => {
  const own = await makeWorkspace(app.db);
  const [invited, gone] = [await makeUser(app.db, own), await makeUser(app.db, own)];
  await app.db.pool.query("update users set invited_at = now() where id = any($1)", [[invited.id, gone.id]]);
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  for (const [token, expected] of [
    [own.member.token, [invited.id]],
    [workspace.member.token, []],
  ] as const) {
    const { body } = await call(app, "GET", "/_/api/v1/users/invited", undefined, { token, version: null });
    assert.deepEqual(body, { user_ids: expected });
  }
});

test("teams: only those of the workspace", async () => {
  const own = await makeWorkspace(app.db);
  const other = await makeWorkspace(app.db);
  await makeTeam(app.db, other);
  const b = await makeTeam(app.db, own, [own.member], "B");
  const a = await makeTeam(app.db, own, [], "A");
  const { body } = await call(app, "POST", "/teams", {}, { token: own.member.token });
  assert.deepEqual(body, { teams: [a, b] });
});

test("token info: a personal token names its user, a workspace token its workspace", async () => {
  const personal = await call(app, "GET", "/token-info", undefined, { token: workspace.member.token });
  assert.deepEqual(personal.body, {
    type: "personal_access_token",
    scope: "personal",
    user_id: workspace.member.id,
    name: workspace.member.name,
    expires_at: null,
  });
  await app.db.pool.query(
    "update access_tokens set expires_at = '2030-01-01T00:00:00Z' where workspace_id = $1 and type = 'workspace_access_token'",
    [workspace.id],
  );
  const shared = await call(app, "GET", "/token-info", undefined, {
    token: workspace.token,
    version: currentVersion,
  });
  assert.deepEqual(shared.body, {
    type: "workspace_access_token",
    scope: "workspace",
    workspace_id: workspace.id,
    name: "Ours",
    expires_at: "2030-01-01T00:00:00.000Z",
  });
});

test("token info is not part of 2025-10-31", async () => {
  const answer = await call(app, "GET", "/token-info", undefined, {
    token: workspace.token,
    version: olderVersion,
  });
  assert.equal(answer.status, 404);
  assert.equal(answer.body.error, "not_in_version");
});
