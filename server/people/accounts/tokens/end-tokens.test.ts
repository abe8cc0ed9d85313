import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace, type TestWorkspace } from "../../../../test/support/factories.ts";
import { auditOf, givePassword, openBrowser, password, signInAs } from "../test/accounts.ts";

const app = await startTestApp({ worker: false });
const newPassword = "three geese over the weir";

const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function isActive(token: string): Promise<boolean> {
  return (await call(app, "GET", "/token-info", undefined, { token })).status === 200;
}

async function create(token: string, type = "personal_access_token"): Promise<{ id: string; token: string }> {
  const made = await manage("POST", "/tokens", token, { type, name: "made by a token" });
  assert.equal(made.status, 200, made.text);
  return made.body;
}

async function makeOwn(): Promise<TestWorkspace> {
  const own = await makeWorkspace(app.db);
  await givePassword(app.db, own.admin);
  return own;
}

test("revoking a token also revokes the tokens created with it, their tokens and no others", async () => {
  const own = await makeOwn();
  const first = await create(own.admin.token);
  const second = await create(first.token);
  const third = await create(second.token, "workspace_access_token");
  const sibling = await create(own.admin.token);
  const answer = await manage("DELETE", `/tokens/${first.id}`, own.admin.token);
  assert.deepEqual([answer.status, answer.body.revoked_tokens], [200, 3], answer.text);
  for (const { token } of [first, second, third]) assert.equal(await isActive(token), false);
  for (const token of [sibling.token, own.admin.token, own.token]) assert.equal(await isActive(token), true);
  const entries = (await auditOf(app.db, own.id)).filter(({ action }) => action === "token_revoked");
  assert.equal(entries.length, 3);
});

test("tokens created while their creator token is revoked end with it or are not created", async () => {
  const own = await makeOwn();
  for (let round = 0; round < 5; round++) {
    const parent = await create(own.admin.token);
    const [, ...made] = await Promise.all([
      manage("DELETE", `/tokens/${parent.id}`, own.admin.token),
      ...Array.from({ length: 4 }, () =>
        manage("POST", "/tokens", parent.token, { type: "personal_access_token", name: "late" }),
      ),
    ]);
    for (const answer of made) {
      assert.ok([200, 401, 403, 409].includes(answer.status), answer.text);
      if (answer.status === 200) assert.equal(await isActive(answer.body.token), false);
    }
  }
});

test("changing a password ends other sessions by default, and tokens if requested", async () => {
  const own = await makeOwn();
  const [here, there] = [await signInAs(app, own.admin), await signInAs(app, own.admin)];
  const change = (json: object) => here.send("POST", "/_/api/v1/me/password", { json });
  const kept = await change({
    current_password: password,
    new_password: newPassword,
    end_sessions: false,
  });
  assert.deepEqual(kept.body, { success: true, ended_sessions: 0, revoked_tokens: 0 });
  assert.equal((await there.get("/_/api/v1/session/me")).status, 200);
  assert.equal(await isActive(own.admin.token), true);
  const ended = await change({ current_password: newPassword, new_password: password, end_tokens: true });
  assert.deepEqual(ended.body, { success: true, ended_sessions: 1, revoked_tokens: 2 });
  assert.equal((await here.get("/_/api/v1/session/me")).status, 200);
  assert.equal((await there.get("/_/api/v1/session/me")).status, 401);
  for (const token of [own.admin.token, own.token]) assert.equal(await isActive(token), false);
  assert.equal(await isActive(own.member.token), true);
});

test("the password reset page offers to revoke tokens", async () => {
  const own = await makeOwn();
  await givePassword(app.db, own.member);
  for (const [fields, isKept] of [
    [{}, true],
    [{ end_tokens: "yes" }, false],
  ] as const) {
    const link = await manage("POST", `/users/${own.member.id}/password-reset-link`, own.admin.token);
    const path = new URL(link.body.url).pathname;
    const page = await openBrowser(app).send("GET", path);
    assert.match(page.text, /name="end_tokens"/);
    const answer = await openBrowser(app).submit(path, { password: newPassword, ...fields });
    assert.equal(answer.status, 303, answer.text);
    assert.equal(await isActive(own.member.token), isKept);
  }
});
