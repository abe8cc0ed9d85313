import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser } from "../../../../test/support/factories.ts";
import {
  ask,
  credentials,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  refresh,
  revokePath,
} from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { lockGrant } from "../tokens/oauth-grants.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeOAuthWorkspace(app);
const client = await makeClient(app, workspace);

const deactivate = (id: string) =>
  call(app, "POST", `/_/api/v1/users/${id}/deactivate`, undefined, {
    token: workspace.admin.token,
    version: null,
  });

test("deactivation locks an app's grant before the app's tokens", async () => {
  const person = await makeUser(app.db, workspace);
  const tokens = await obtainTokens(app, client, person);
  const { rows } = await app.db.pool.query("select id from oauth_grants where user_id = $1", [person.id]);
  let answer: ReturnType<typeof deactivate> | undefined;
  await app.db.kysely.transaction().execute(async (tx) => {
    assert.ok(await lockGrant(tx, rows[0].id));
    answer = deactivate(person.id);
    await until("the deactivation waits", async () => {
      const waiting = await app.db.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return waiting.rowCount === 1;
    });
    // What a revocation does next. Were the token held, the two would wait in a circle.
    await sql`select id from access_tokens where user_id = ${person.id} and type = 'oauth' for update nowait`.execute(
      tx,
    );
  });
  assert.equal((await answer)?.status, 200);
  assert.equal(await isActive(app, tokens.access_token), false);
});

test("deactivation succeeds while apps refresh and revoke, and leaves no valid token", async () => {
  for (let round = 0; round < 4; round++) {
    const person = await makeUser(app.db, workspace);
    const first = await obtainTokens(app, client, person);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => refresh(app, client, first.refresh_token)),
    );
    const tokens = answers.map(({ body }) => body);
    const revoke = (token: string) => ask(app, revokePath, { token, ...credentials(client) });
    const results = await Promise.all([
      revoke(tokens[3].access_token),
      refresh(app, client, tokens[5].refresh_token),
      deactivate(person.id),
      revoke(tokens[4].access_token),
      revoke(first.refresh_token),
    ]);
    assert.equal(results[2].status, 200, results[2].text);
    for (const { status, body } of results) assert.ok(status < 500, JSON.stringify(body));
    for (const { access_token } of [first, ...tokens]) assert.equal(await isActive(app, access_token), false);
    const { rowCount } = await app.db.pool.query(
      "select 1 from access_tokens where user_id = $1 and revoked_at is null",
      [person.id],
    );
    assert.equal(rowCount, 0);
  }
});

test("a deadlocked transaction is retried at most twice, other errors are not", async () => {
  const fail = (code: string, times: number) => {
    let runs = 0;
    const done = transactWithRetry(app.db, async (tx) => {
      runs += 1;
      if (runs <= times)
        await sql`do ${sql.raw(`$$ begin raise exception 'no' using errcode = '${code}'; end $$`)}`.execute(
          tx,
        );
      return runs;
    });
    return done.catch((error: { code: string }) => [error.code, runs]);
  };
  assert.equal(await fail("40P01", 2), 3);
  assert.deepEqual(await fail("40P01", 9), ["40P01", 3]);
  assert.deepEqual(await fail("23505", 1), ["23505", 1]);
});
