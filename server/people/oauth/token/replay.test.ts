import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import {
  credentials,
  exchange,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  obtainCode,
  obtainTokens,
  refresh,
  type TestClient,
  type TokenReply,
  tokenPath,
} from "../../../../test/support/oauth.ts";
import { until, withinOneMinute } from "../../../../test/support/until.ts";
import { hashToken } from "../../accounts/tokens/access-tokens.ts";

/** Codes and refresh tokens that are used more than once, and responses that get lost. */
const app = await startTestApp({ worker: false });
const workspace = await makeOAuthWorkspace(app);
const { member, admin } = workspace;

async function countReuses(client: TestClient): Promise<number> {
  const { rows } = await app.db.pool.query(
    "select count(*)::int as count from audit_log where action = 'oauth_reuse_detected' and subject_id = $1",
    [client.id],
  );
  return rows[0].count;
}

/** Lets time pass for a refresh token, as if it had been rotated earlier. */
async function rotatedAgo(refreshToken: string, seconds: number): Promise<void> {
  const { rowCount } = await app.db.pool.query(
    `update oauth_refresh_tokens set rotated_at = now() - make_interval(secs => $2)
     where hash = $1 and rotated_at is not null`,
    [hashToken(refreshToken), seconds],
  );
  assert.equal(rowCount, 1);
}

function assertRefused(reply: TokenReply, note?: string): void {
  assert.deepEqual(
    [reply.status, reply.body.error],
    [400, "invalid_grant"],
    note ?? reply.body.error_description,
  );
}

test("code reuse: refused, and the tokens of the first use are revoked", async () => {
  const client = await makeClient(app, workspace);
  const input = await obtainCode(app, client, member);
  const first = await exchange(app, client, input);
  const refreshed = await refresh(app, client, first.body.refresh_token);
  assertRefused(await exchange(app, client, input));
  for (const { body } of [first, refreshed]) {
    assert.ok(!(await isActive(app, body.access_token)));
    assertRefused(await refresh(app, client, body.refresh_token));
  }
  assert.equal(await countReuses(client), 1);
});

test("code reuse: detected even long after the code has expired", async () => {
  const client = await makeClient(app, workspace);
  const input = await obtainCode(app, client, member);
  const first = await exchange(app, client, input);
  await app.db.pool.query("update oauth_codes set expires_at = now() - interval '30 days' where hash = $1", [
    hashToken(input.code),
  ]);
  assertRefused(await exchange(app, client, input));
  assert.ok(!(await isActive(app, first.body.access_token)));
  assert.equal(await countReuses(client), 1);
});

test("a code expires after a minute", async () => {
  const client = await makeClient(app, workspace);
  const input = await obtainCode(app, client, member);
  const { rows } = await app.db.pool.query(
    "select extract(epoch from expires_at - now())::float8 as left from oauth_codes where hash = $1",
    [hashToken(input.code)],
  );
  assert.ok(rows[0].left > 50 && rows[0].left <= 60, rows[0].left);
  await app.db.pool.query("update oauth_codes set expires_at = now() - interval '1 second' where hash = $1", [
    hashToken(input.code),
  ]);
  assertRefused(await exchange(app, client, input));
});

test("code race: one of twenty concurrent exchanges succeeds, and its tokens are revoked", async () => {
  const client = await makeClient(app, workspace);
  const input = await obtainCode(app, client, member);
  const replies = await Promise.all(Array.from({ length: 20 }, () => exchange(app, client, input)));
  const good = replies.filter(({ status }) => status === 200);
  assert.equal(good.length, 1);
  assert.ok(!(await isActive(app, good[0]?.body.access_token)));
  assertRefused(await refresh(app, client, good[0]?.body.refresh_token));
});

test("refresh: after a lost response the client can retry within the grace period and continues with the newest tokens", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const lost = await refresh(app, client, tokens.refresh_token);
  const again = await refresh(app, client, tokens.refresh_token);
  assert.equal(again.status, 200);
  assert.notEqual(again.body.refresh_token, lost.body.refresh_token);
  for (const { body } of [lost, again]) assert.ok(await isActive(app, body.access_token));
  const next = await refresh(app, client, again.body.refresh_token);
  assert.equal(next.status, 200);
  for (const { body } of [lost, again])
    assert.ok(await isActive(app, body.access_token), "an access token lives out its time");
  assert.equal(await countReuses(client), 0);
});

test("refresh reuse: after the grace period all tokens of the family are revoked, and no others", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const otherDevice = await obtainTokens(app, client, member);
  const otherPerson = await obtainTokens(app, client, admin);
  const next = await refresh(app, client, tokens.refresh_token);
  await rotatedAgo(tokens.refresh_token, 31);
  assertRefused(await refresh(app, client, tokens.refresh_token));
  for (const body of [tokens, next.body]) {
    assert.ok(!(await isActive(app, body.access_token)));
    assertRefused(await refresh(app, client, body.refresh_token));
  }
  assert.equal(await countReuses(client), 1);
  for (const body of [otherDevice, otherPerson])
    assert.equal((await refresh(app, client, body.refresh_token)).status, 200);
});

test("refresh reuse: the grace period starts at the first use, however often the token is used", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  await refresh(app, client, tokens.refresh_token);
  await rotatedAgo(tokens.refresh_token, 28);
  assert.equal((await refresh(app, client, tokens.refresh_token)).status, 200);
  await rotatedAgo(tokens.refresh_token, 31);
  assertRefused(await refresh(app, client, tokens.refresh_token));
});

test("refresh reuse: once its successor is used a token returns nothing, and after the grace period it revokes the family", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const next = await refresh(app, client, tokens.refresh_token);
  const third = await refresh(app, client, next.body.refresh_token);
  // A request that was late on its way, or sent twice.
  assertRefused(await refresh(app, client, tokens.refresh_token));
  assert.ok(await isActive(app, third.body.access_token));
  assert.equal(await countReuses(client), 0);
  await rotatedAgo(tokens.refresh_token, 31);
  assertRefused(await refresh(app, client, tokens.refresh_token));
  assert.ok(!(await isActive(app, third.body.access_token)));
  assert.equal(await countReuses(client), 1);
});

test("refresh reuse: a theft within the grace period is detected when the second of thief and owner refreshes", async () => {
  for (const thiefGoesFirst of [true, false]) {
    const client = await makeClient(app, workspace);
    const tokens = await obtainTokens(app, client, member);
    const owner = await refresh(app, client, tokens.refresh_token);
    const thief = await refresh(app, client, tokens.refresh_token);
    const [first, second] = thiefGoesFirst ? [thief, owner] : [owner, thief];
    const next = await refresh(app, client, first.body.refresh_token);
    assert.equal(next.status, 200);
    await rotatedAgo(tokens.refresh_token, 31);
    assertRefused(await refresh(app, client, second.body.refresh_token));
    assert.ok(!(await isActive(app, next.body.access_token)));
    assert.equal(await countReuses(client), 1);
  }
});

test("refresh: two threads with one response each both continue within the grace period, in one line of tokens", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const [a, b] = await Promise.all([
    refresh(app, client, tokens.refresh_token),
    refresh(app, client, tokens.refresh_token),
  ]);
  const nextOfA = await refresh(app, client, a.body.refresh_token);
  assert.equal(nextOfA.status, 200);
  assert.ok(await isActive(app, b.body.access_token), "the use of the one does not end the other's access");
  const nextOfB = await refresh(app, client, b.body.refresh_token);
  assert.equal(nextOfB.status, 200);
  for (const { body } of [a, b, nextOfA, nextOfB]) assert.ok(await isActive(app, body.access_token));
  assert.equal(await countReuses(client), 0);
  // The two are successors of one token: the first that is used spends the other, which is noticed later on.
  assert.equal((await refresh(app, client, nextOfB.body.refresh_token)).status, 200);
  assertRefused(await refresh(app, client, b.body.refresh_token), "a line of its own would never be noticed");
  assert.equal(await countReuses(client), 0);
  await rotatedAgo(a.body.refresh_token, 31);
  assertRefused(await refresh(app, client, nextOfA.body.refresh_token));
  assert.ok(!(await isActive(app, nextOfB.body.access_token)));
  assert.equal(await countReuses(client), 1);
});

test("a family can be refreshed sixty times a minute: more is 429 and revokes nothing", () =>
  withinOneMinute(async () => {
    const client = await makeClient(app, workspace);
    const tokens = await obtainTokens(app, client, member);
    const other = await obtainTokens(app, client, member);
    const replies = await Promise.all(
      Array.from({ length: 65 }, () => refresh(app, client, tokens.refresh_token)),
    );
    const good = replies.filter(({ status }) => status === 200);
    const slowed = replies.filter(({ status }) => status === 429);
    assert.deepEqual([good.length, slowed.length], [60, 5]);
    for (const { headers, body } of slowed) {
      assert.equal(body.error, "slow_down");
      assert.match(headers.get("retry-after") ?? "", /^\d+$/);
    }
    assert.equal((await refresh(app, client, good[0]?.body.refresh_token)).status, 429);
    for (const { body } of good) assert.ok(await isActive(app, body.access_token));
    assert.equal(await countReuses(client), 0);
    assert.equal((await refresh(app, client, other.refresh_token)).status, 200, "another device");
  }));

test("refresh race: twenty concurrent uses all get working tokens, and each can be the one that continues", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => refresh(app, client, tokens.refresh_token)),
  );
  for (const reply of replies) {
    assert.equal(reply.status, 200);
    assert.ok(await isActive(app, reply.body.access_token));
  }
  assert.equal((await refresh(app, client, replies[7]?.body.refresh_token)).status, 200);
  assert.equal(await countReuses(client), 0);
});

/** Sends a refresh. @returns the connection, for hanging up. */
async function sendRefresh(client: TestClient, refreshToken: string): Promise<Socket> {
  const body = JSON.stringify({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...credentials(client),
  });
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const head = `POST ${tokenPath} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve, reject) =>
    socket.write(head + body, (error) => (error ? reject(error) : resolve())),
  );
  return socket;
}

async function refreshAndHangUp(client: TestClient, refreshToken: string): Promise<void> {
  (await sendRefresh(client, refreshToken)).destroy();
}

test("a request whose client has disconnected before its turn does nothing", async () => {
  const client = await makeClient(app, workspace);
  const tokens = await obtainTokens(app, client, member);
  const holder = await app.db.pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select id from oauth_grants where client_id = $1 for update", [client.id]);
    const socket = await sendRefresh(client, tokens.refresh_token);
    await until("the request waits for the grant", async () => {
      const { rows } = await app.db.pool.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%oauth_grants%' and datname = current_database()",
      );
      return rows.length > 0;
    });
    // The server, in this process, sees it while the next statement is on its way.
    socket.destroy();
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  // The next request waits until the aborted request has released the grant.
  const reply = await refresh(app, client, tokens.refresh_token);
  assert.equal(reply.status, 200);
  const { rows } = await app.db.pool.query(
    "select count(*)::int as count from oauth_refresh_tokens t join oauth_refresh_tokens p on p.id = t.parent_id where p.hash = $1",
    [hashToken(tokens.refresh_token)],
  );
  assert.equal(rows[0].count, 1);
});

test("100 clients refreshing at once with lost responses: all end with working tokens, none is revoked", async () => {
  const clients = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const client = await makeClient(app, workspace, { isPublic: index % 2 === 1 });
      return { client, tokens: await obtainTokens(app, client, index % 3 === 0 ? admin : member) };
    }),
  );
  const results = await Promise.all(
    clients.map(async ({ client, tokens }, index) => {
      let current = tokens.refresh_token;
      let last: TokenReply | undefined;
      for (let round = 0; round < 3; round += 1) {
        // The response is lost in transit, before it is created, or while a second request is already in flight.
        if (index % 3 === 0) await refreshAndHangUp(client, current);
        else if (index % 3 === 1) await refresh(app, client, current);
        else await Promise.all([refreshAndHangUp(client, current), refresh(app, client, current)]);
        last = await refresh(app, client, current);
        assert.equal(last.status, 200, `client ${index}, round ${round}: ${JSON.stringify(last.body)}`);
        current = last.body.refresh_token;
      }
      return { client, last };
    }),
  );
  for (const { client, last } of results) {
    assert.ok(last !== undefined && (await isActive(app, last.body.access_token)));
    assert.equal(await countReuses(client), 0);
  }
});

test("revocation during a refresh: in either order no token stays valid", async () => {
  for (let round = 0; round < 10; round += 1) {
    const client = await makeClient(app, workspace);
    const tokens = await obtainTokens(app, client, member);
    const [reply] = await Promise.all([
      refresh(app, client, tokens.refresh_token),
      fetch(`${app.url}/_/api/v1/oauth/clients/${client.id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${admin.token}` },
      }).then((response) => assert.equal(response.status, 200)),
    ]);
    assert.ok([200, 400, 401].includes(reply.status), JSON.stringify(reply.body));
    assert.ok(!(await isActive(app, tokens.access_token)));
    if (reply.status === 200) assert.ok(!(await isActive(app, reply.body.access_token)));
  }
});

test("secrets: only hashes of codes, tokens and client secrets are stored", async () => {
  const client = await makeClient(app, workspace);
  const input = await obtainCode(app, client, member);
  const { body } = await exchange(app, client, input);
  const tables = [
    "oauth_clients",
    "oauth_grants",
    "oauth_families",
    "oauth_codes",
    "oauth_refresh_tokens",
    "access_tokens",
    "audit_log",
    "rate_limit_counters",
  ];
  const dump = await Promise.all(
    tables.map(async (table) => (await app.db.pool.query(`select t::text as text from ${table} t`)).rows),
  );
  const text = JSON.stringify(dump);
  for (const secret of [
    client.secret ?? "",
    input.code,
    input.verifier,
    body.access_token,
    body.refresh_token,
  ]) {
    assert.ok(secret.length >= 43);
    assert.ok(!text.includes(secret) && !text.includes(secret.replace(/^parley_..._/, "")));
    assert.ok(!text.includes(Buffer.from(secret).toString("hex")));
  }
});
