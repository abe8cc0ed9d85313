import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, type TestUser } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import {
  ask,
  credentials,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  revokePath,
} from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { createAccessToken } from "../../../people/accounts/service.ts";
import { disableExpiredHooks } from "./access.ts";

const receiver = await startHookReceiver();
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const workspace = await makeOAuthWorkspace(app);
const { admin } = workspace;

type TokenType = "personal_access_token" | "workspace_access_token";

function manage(method: string, path: string, token: string, body?: unknown) {
  return call(app, method, `/_/api/v1${path}`, body, { token, version: null });
}

async function issue(user: TestUser, type: TokenType, expiresAt: Date | null = null) {
  return app.db.kysely
    .transaction()
    .execute((tx) => createAccessToken(tx, { email: user.email, type, name: "test", expiresAt }));
}

let count = 0;

/** Creates a hook with a token. @returns its id and a count of the events it received. */
async function makeHook(token: string) {
  count += 1;
  const path = `/hook-${count}`;
  const made = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: `${receiver.url}${path}`, hook_type: "recording_added" },
    { token, version: olderVersion },
  );
  assert.equal(made.status, 200, made.text);
  const heard = () =>
    receiver.requests.filter((request) => request.path === path && request.body !== "{}").length;
  return { id: made.body.id as string, heard };
}

async function row(id: string) {
  const { rows } = await app.db.pool.query("select * from hooks where id = $1", [id]);
  return rows[0];
}

/** A recording that every hook's owner in these tests can see. */
const happen = (user: TestUser) => makeRecording(app, user.token, { recorder_ids: [user.id] });

interface Case {
  readonly how: string;
  readonly kind: TokenType;
  readonly end: (made: { user: TestUser; tokenId: string; token: string }) => Promise<unknown>;
  readonly reason: RegExp;
}

const ok = async (answer: Promise<{ status: number; text: string }>) => {
  const { status, text } = await answer;
  assert.equal(status, 200, text);
};
const both = ["personal_access_token", "workspace_access_token"] as const;
const cases: Case[] = [
  ...both.flatMap((kind): Case[] => [
    {
      how: "its token is revoked",
      kind,
      end: ({ tokenId }) => ok(manage("DELETE", `/tokens/${tokenId}`, admin.token)),
      reason: /^the token that created it was revoked$/,
    },
    {
      how: "the token that created its token is revoked",
      kind,
      end: async ({ user, tokenId }) => {
        const parent = await issue(user, "personal_access_token");
        const middle = await issue(user, "personal_access_token");
        for (const [child, by] of [
          [tokenId, middle.id],
          [middle.id, parent.id],
        ])
          await app.db.pool.query("update access_tokens set created_by_token_id = $2 where id = $1", [
            child,
            by,
          ]);
        await ok(manage("DELETE", `/tokens/${parent.id}`, admin.token));
      },
      reason: /^the token that created it was revoked$/,
    },
    {
      how: "its user is deactivated",
      kind,
      end: ({ user }) => ok(manage("POST", `/users/${user.id}/deactivate`, admin.token)),
      reason: /^the account it belongs to was deactivated$/,
    },
    {
      how: "its user becomes a viewer",
      kind,
      end: ({ user }) => ok(manage("PATCH", `/users/${user.id}`, admin.token, { role: "viewer" })),
      reason: /^the user it belongs to became a viewer$/,
    },
    {
      how: "its user changes the password and ends tokens",
      kind,
      end: ({ user }) =>
        ok(
          manage("POST", "/me/password", user.token, {
            current_password: "correct horse battery staple",
            new_password: "another horse, another battery",
            end_tokens: true,
          }),
        ),
      reason: /^the token that created it was revoked$/,
    },
  ]),
  {
    how: "its admin becomes a member",
    kind: "workspace_access_token",
    end: ({ user }) => ok(manage("PATCH", `/users/${user.id}`, admin.token, { role: "member" })),
    reason: /^the user it belongs to is no longer an admin$/,
  },
  {
    how: "the personal data of its admin is erased",
    kind: "workspace_access_token",
    end: ({ user }) =>
      ok(manage("POST", "/erasures", admin.token, { email: user.email, recordings: "anonymise" })),
    reason: /^(the token that created it was revoked|the account it belongs to was deactivated)$/,
  },
];

for (const { how, kind, end, reason } of cases)
  test(`a hook created with a ${kind} is disabled when ${how}`, async () => {
    const user = await makeUser(app.db, workspace, { role: "admin" });
    const { rows } = await app.db.pool.query("select password_hash from users where id = $1", [admin.id]);
    await app.db.pool.query("update users set password_hash = $2 where id = $1", [
      user.id,
      rows[0].password_hash,
    ]);
    const { id: tokenId, token } = await issue(user, kind);
    const hook = await makeHook(token);
    await happen(user);
    await until("the hook receives it", () => hook.heard() === 1);
    await end({ user, tokenId, token });
    const after = await row(hook.id);
    assert.ok(after.disabled_at !== null);
    assert.match(after.disabled_reason, reason);
    const witness = await makeHook(admin.token);
    await happen(admin);
    await until("another hook receives it", () => witness.heard() === 1);
    assert.equal(hook.heard(), 1);
    const { body } = await manage("GET", `/audit?action=hook_disabled&subject=${hook.id}`, admin.token);
    assert.equal(body.entries.length, 1, JSON.stringify(body));
    assert.match(body.entries[0].details.reason, reason);
  });

for (const kind of both)
  test(`a hook created with a ${kind} gets nothing from the moment the token expires, and says why`, async () => {
    const user = await makeUser(app.db, workspace, { role: "admin" });
    const { id: tokenId, token } = await issue(user, kind, new Date(Date.now() + 3_600_000));
    const hook = await makeHook(token);
    for (const table of ["access_tokens set expires_at", "hooks set access_until"])
      await app.db.pool.query(
        `update ${table} = now() - interval '1 s' where ${table.startsWith("hooks") ? "token_id" : "id"} = $1`,
        [tokenId],
      );
    const witness = await makeHook(admin.token);
    await happen(user);
    await happen(admin);
    await until("another hook receives it", () => witness.heard() > 0);
    assert.equal(hook.heard(), 0);
    if (kind === "workspace_access_token") {
      const { body } = await manage("GET", `/hooks/${hook.id}`, admin.token);
      assert.deepEqual([body.enabled, body.disabled_reason], [false, "the token that created it expired"]);
    }
    await disableExpiredHooks(app.db.kysely);
    assert.equal((await row(hook.id)).disabled_reason, "the token that created it expired");
  });

test("a workspace hook of a deactivated admin is taken over by the admin who enables it, and misses no events", async () => {
  const former = await makeUser(app.db, workspace, { role: "admin" });
  const hook = await makeHook((await issue(former, "workspace_access_token")).token);
  const since = new Date().toISOString();
  const ended = await manage("POST", `/users/${former.id}/deactivate`, admin.token);
  assert.equal(ended.body.disabled_hooks, 1, ended.text);
  await happen(admin);
  const enabled = await manage("POST", `/hooks/${hook.id}/enable`, admin.token);
  assert.equal(enabled.status, 200, enabled.text);
  assert.deepEqual([enabled.body.enabled, enabled.body.user_id], [true, admin.id]);
  const replayed = await manage("POST", `/hooks/${hook.id}/replay`, admin.token, {
    since,
    which: "undelivered",
  });
  assert.equal(replayed.status, 200, replayed.text);
  await until("what happened meanwhile arrives", () => hook.heard() >= 1);

  // From now on it ends with the new admin's access.
  await manage("POST", `/users/${former.id}/reactivate`, admin.token);
  assert.equal((await row(hook.id)).disabled_at, null);
  const other = await makeUser(app.db, workspace, { role: "admin" });
  await ok(manage("POST", `/hooks/${hook.id}/disable`, other.token));
  await ok(manage("POST", `/hooks/${hook.id}/enable`, other.token));
  assert.equal((await row(hook.id)).created_by, admin.id, "active access is not replaced");
});

test("the hooks that a deactivation would disable are counted before it", async () => {
  const user = await makeUser(app.db, workspace, { role: "admin" });
  await makeHook(user.token);
  await makeHook((await issue(user, "workspace_access_token")).token);
  const { body, status, text } = await manage("GET", `/users/${user.id}/access`, admin.token);
  assert.equal(status, 200, text);
  assert.deepEqual(body, {
    sessions: 0,
    tokens: 2,
    apps: 0,
    personal_hooks: 1,
    workspace_hooks: 1,
    unfinished_uploads: 0,
  });
});

test("a token that is revoked during the reachability test creates no hook", async () => {
  const { id, token } = await issue(admin, "workspace_access_token");
  receiver.at("/slow", async (_request, response) => {
    await ok(manage("DELETE", `/tokens/${id}`, admin.token));
    response.end();
  });
  const made = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: `${receiver.url}/slow`, hook_type: "recording_added" },
    { token, version: olderVersion },
  );
  assert.deepEqual([made.status, made.body.error], [403, "forbidden"], made.text);
  const { rowCount } = await app.db.pool.query("select 1 from hooks where hook_url like '%/slow'");
  assert.equal(rowCount, 0);
});

test("revoking an app's refresh token disables the hooks created with its tokens, not those of another sign-in", async () => {
  const client = await makeClient(app, workspace);
  const user = await makeUser(app.db, workspace);
  const { rows } = await app.db.pool.query("select password_hash from users where id = $1", [admin.id]);
  await app.db.pool.query("update users set password_hash = $2 where id = $1", [
    user.id,
    rows[0].password_hash,
  ]);
  const first = await obtainTokens(app, client, user);
  const second = await obtainTokens(app, client, user);
  const ended = await makeHook(first.access_token);
  const kept = await makeHook(second.access_token);
  const answer = await ask(app, revokePath, { token: first.refresh_token, ...credentials(client) });
  assert.equal(answer.status, 200);
  assert.equal((await row(ended.id)).disabled_reason, "the access of the app that created it was revoked");
  assert.equal((await row(kept.id)).disabled_at, null);
});
