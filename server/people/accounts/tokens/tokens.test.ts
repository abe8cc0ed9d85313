import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser } from "../../../../test/support/factories.ts";
import { makeClient, makeOAuthWorkspace, obtainTokens } from "../../../../test/support/oauth.ts";
import { givePassword, signInAs } from "../test/accounts.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_PAGE_SIZE: "3" } });
const workspace = await makeOAuthWorkspace(app);
const { admin } = workspace;

const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function listAll(
  path: string,
  token: string,
): Promise<{ sizes: number[]; ids: string[]; types: string[] }> {
  const [sizes, ids, types]: [number[], string[], string[]] = [[], [], []];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `${path.includes("?") ? "&" : "?"}cursor=${cursor}`;
    const { status, body, text } = await manage("GET", path + query, token);
    assert.equal(status, 200, text);
    sizes.push(body.tokens.length);
    for (const one of body.tokens) {
      ids.push(one.id);
      types.push(one.type);
    }
    cursor = body.cursor;
  } while (cursor !== null);
  return { sizes, ids, types };
}

test("tokens: pages list every active one once, newest first, even if created in the same millisecond", async () => {
  const person = await makeUser(app.db, workspace);
  const made: string[] = [];
  for (let round = 0; round < 7; round++) {
    const { body } = await manage("POST", "/tokens", person.token, {
      type: "personal_access_token",
      name: "x",
    });
    made.push(body.id);
  }
  await app.db.pool.query("update access_tokens set created_at = '2026-01-01' where id = any($1)", [made]);
  const { sizes, ids } = await listAll("/tokens", person.token);
  assert.deepEqual(sizes, [3, 3, 2]);
  assert.deepEqual(ids.slice(1), made.toSorted().reverse(), "after the one it was asked with");
  assert.equal(new Set(ids).size, 8);
  const everybody = await listAll("/tokens?of=workspace", admin.token);
  assert.equal(new Set(everybody.ids).size, everybody.ids.length);
  assert.deepEqual(
    made.filter((id) => !everybody.ids.includes(id)),
    [],
  );
  const wrong = await manage("GET", "/tokens?cursor=nonsense", person.token);
  assert.deepEqual([wrong.status, wrong.body.error], [400, "invalid_cursor"]);
});

test("tokens: concurrent requests with many tokens, valid and not, are each told apart", async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => makeUser(app.db, workspace)));
  const [revoked, deactivated, ...valid] = people as [(typeof people)[0], ...typeof people];
  await app.db.pool.query("update access_tokens set revoked_at = now() where user_id = $1", [revoked.id]);
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [deactivated?.id]);
  const { rows } = await app.db.pool.query<{ id: string; user_id: string }>(
    "select id, user_id from access_tokens where user_id = any($1)",
    [valid.map(({ id }) => id)],
  );
  const unknown = `${revoked.token.slice(0, -4)}AAAA`;
  const callers = Array.from({ length: 40 }, (_, index) => [...valid, revoked, deactivated, null][index % 7]);
  const answers = await Promise.all(
    callers.map((caller) => manage("GET", "/tokens", caller === null ? unknown : (caller?.token ?? ""))),
  );
  assert.deepEqual(
    answers.map(({ status, body }) => (status === 200 ? body.tokens[0].id : status)),
    callers.map((caller) => rows.find(({ user_id }) => user_id === caller?.id)?.id ?? 401),
  );
});

test("tokens: the list contains neither expired tokens nor those of apps", async () => {
  const person = await makeUser(app.db, workspace);
  await obtainTokens(app, await makeClient(app, workspace), person);
  const { body } = await manage("POST", "/tokens", person.token, {
    type: "personal_access_token",
    name: "x",
  });
  assert.equal((await listAll("/tokens", person.token)).ids.length, 2);
  await app.db.pool.query("update access_tokens set expires_at = now() - interval '1 second' where id = $1", [
    body.id,
  ]);
  const { ids, types } = await listAll("/tokens", person.token);
  assert.deepEqual([ids.length, types], [1, ["personal_access_token"]]);
  assert.equal((await manage("GET", "/oauth/grants", person.token)).body.grants.length, 1);
});

test("a token can create password links for other accounts only; a signed-in admin also for their own", async () => {
  const path = (id: string) => `/users/${id}/password-reset-link`;
  for (const id of [admin.id, admin.id.toUpperCase()])
    assert.equal((await manage("POST", path(id), admin.token)).status, 403, id);
  const other = await makeUser(app.db, workspace);
  assert.equal((await manage("POST", path(other.id), admin.token)).status, 200);
  await givePassword(app.db, admin);
  const browser = await signInAs(app, admin);
  assert.equal((await browser.send("POST", `/_/api/v1${path(admin.id)}`)).status, 200);
});

test("tokens: concurrent requests of a user get exactly the quota; revoking a token frees a slot", async () => {
  const limited = await startTestApp({ worker: false, env: { PARLEY_TOKENS_PER_USER: "5" } });
  const own = await makeOAuthWorkspace(limited);
  const person = await makeUser(limited.db, own);
  const issue = () =>
    call(
      limited,
      "POST",
      "/_/api/v1/tokens",
      { type: "personal_access_token", name: "one of many" },
      { token: person.token, version: null },
    );
  // The person's first token is the one that asks.
  const answers = await Promise.all(Array.from({ length: 9 }, issue));
  assert.equal(answers.filter(({ status }) => status === 200).length, 4);
  const refused = await issue();
  assert.deepEqual([refused.status, refused.body.error], [403, "quota_exceeded"]);
  assert.equal(
    refused.body.detail,
    "the limit of 5 active tokens is reached; revoke one that is no longer used",
  );
  const made = answers.find(({ status }) => status === 200)?.body;
  await call(limited, "DELETE", `/_/api/v1/tokens/${made.id}`, undefined, {
    token: person.token,
    version: null,
  });
  assert.equal((await issue()).status, 200);
});
