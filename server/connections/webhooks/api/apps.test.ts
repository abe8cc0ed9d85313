import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { makeClient, makeOAuthWorkspace, obtainTokens } from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { sweepOAuth } from "../../../people/oauth/sweep.ts";

const receiver = await startHookReceiver();
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const workspace = await makeOAuthWorkspace(app);
const { member, admin } = workspace;

/** A hook that an app created for the member. @param path of its requests. */
async function makeHookOfApp(path: string): Promise<{ hookId: string; clientId: string }> {
  const client = await makeClient(app, workspace);
  const { access_token } = await obtainTokens(app, client, member);
  const made = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: `${receiver.url}/${path}`, hook_type: "recording_added" },
    { token: access_token, version: olderVersion },
  );
  assert.equal(made.status, 200, made.text);
  return { hookId: made.body.id, clientId: client.id };
}

function manage(method: string, path: string, token: string, body?: unknown) {
  return call(app, method, `/_/api/v1${path}`, body, { token, version: null });
}

const stateOf = async (hookId: string) => (await manage("GET", `/hooks/${hookId}`, member.token)).body;
const heard = (path: string) =>
  receiver.requests.filter((request) => request.path === `/${path}` && request.body !== "{}").length;

for (const [how, take] of [
  [
    "the user revokes its access",
    async (clientId: string) => {
      const { body } = await manage("GET", "/oauth/grants", member.token);
      const grant = body.grants.find((one: { client_id: string }) => one.client_id === clientId);
      assert.ok(grant, JSON.stringify(body));
      return manage("DELETE", `/oauth/grants/${grant.id}`, member.token);
    },
  ],
  [
    "an admin deletes the app",
    (clientId: string) => manage("DELETE", `/oauth/clients/${clientId}`, admin.token),
  ],
] as const) {
  test(`a hook that an app created is disabled when ${how}, and says why`, async () => {
    const path = how.replaceAll(" ", "-");
    const { hookId, clientId } = await makeHookOfApp(path);
    await makeRecording(app, member.token);
    await until("the app receives it", () => heard(path) === 1);
    assert.equal((await take(clientId)).status, 200);
    const state = await stateOf(hookId);
    assert.deepEqual(
      [state.enabled, state.disabled_reason],
      [false, "the access of the app that created it was revoked"],
    );
    const other = await makeHookOfApp(`${path}-other`);
    await makeRecording(app, member.token);
    await until("another app receives it", () => heard(`${path}-other`) === 1);
    assert.equal(heard(path), 1);

    // Enabled by the user, it is the user's own.
    assert.equal((await manage("POST", `/hooks/${hookId}/enable`, member.token)).status, 200);
    await manage("DELETE", `/oauth/clients/${other.clientId}`, admin.token);
    await makeRecording(app, member.token);
    await until("the user receives it", () => heard(path) === 2);
  });
}

test("an app's hooks are disabled when its access expires, unless it has other access to the same account", async () => {
  const client = await makeClient(app, workspace);
  const makeOne = async (path: string) => {
    const { access_token } = await obtainTokens(app, client, member);
    const made = await call(
      app,
      "POST",
      "/hooks/create",
      { hook_url: `${receiver.url}/${path}`, hook_type: "recording_added" },
      { token: access_token, version: olderVersion },
    );
    assert.equal(made.status, 200, made.text);
    return made.body.id as string;
  };
  const first = await makeOne("older");
  await app.db.pool.query("update oauth_families set last_used_at = now() - interval '1 year'");
  const second = await makeOne("newer");
  await sweepOAuth(app.db);
  for (const id of [first, second]) assert.equal((await stateOf(id)).enabled, true);
  await app.db.pool.query("update oauth_families set last_used_at = now() - interval '1 year'");
  await app.db.pool.query("update oauth_grants set last_used_at = now() - interval '1 day'");
  await sweepOAuth(app.db);
  for (const id of [first, second]) {
    const { enabled, disabled_reason } = await stateOf(id);
    assert.deepEqual([enabled, disabled_reason], [false, "the access of the app that created it expired"]);
  }
});
