import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../test/support/app.ts";
import { makeRecording } from "../../test/support/factories.ts";
import { startHookReceiver } from "../../test/support/hook-receiver.ts";
import { makeClient, makeOAuthWorkspace, obtainTokens } from "../../test/support/oauth.ts";
import { until } from "../../test/support/until.ts";
import { sweepOAuth } from "../oauth/sweep.ts";

const receiver = await startHookReceiver();
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const workspace = await makeOAuthWorkspace(app);
const { member, admin } = workspace;

/** A hook that an app made for the member. @param path tells its requests apart. */
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
    "the person takes back its access",
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
  test(`a hook that an app made ends when ${how}, and says why`, async () => {
    const path = how.replaceAll(" ", "-");
    const { hookId, clientId } = await makeHookOfApp(path);
    await makeRecording(app, member.token);
    await until("the app hears", () => heard(path) === 1);
    assert.equal((await take(clientId)).status, 200);
    const state = await stateOf(hookId);
    assert.deepEqual(
      [state.enabled, state.disabled_reason],
      [false, "the access of the app that made it was taken back"],
    );
    const other = await makeHookOfApp(`${path}-other`);
    await makeRecording(app, member.token);
    await until("another app hears", () => heard(`${path}-other`) === 1);
    assert.equal(heard(path), 1);

    // Switched on again by the person, it is the person's own.
    assert.equal((await manage("POST", `/hooks/${hookId}/enable`, member.token)).status, 200);
    await manage("DELETE", `/oauth/clients/${other.clientId}`, admin.token);
    await makeRecording(app, member.token);
    await until("the person hears", () => heard(path) === 2);
  });
}

test("tidying up grants that nobody has used for long ends no hooks", async () => {
  const { hookId } = await makeHookOfApp("tidied");
  await app.db.pool.query("delete from oauth_families");
  await app.db.pool.query("update oauth_grants set last_used_at = now() - interval '1 day'");
  await sweepOAuth(app.db);
  const { rows } = await app.db.pool.query("select 1 from oauth_grants");
  assert.equal(rows.length, 0);
  assert.equal((await stateOf(hookId)).enabled, true);
});
