import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { deleteAllAttempts, givePassword, openBrowser, password, signInAs } from "../test/accounts.ts";
import { createPasswordWork } from "./password-work.ts";
import {
  keyOf,
  type Limit,
  refundAttempt,
  rememberIpPrefix,
  sweepThrottle,
  takeAttempt,
} from "./throttle.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
await givePassword(app.db, admin, member);

const attempt = (email: string, word: string) =>
  openBrowser(app).send("POST", "/_/api/v1/session", { json: { email, password: word } });

/** As if this much time had passed. */
async function passTime(seconds: number): Promise<void> {
  await app.db.pool.query("update sign_in_failures set last_at = last_at - make_interval(secs => $1)", [
    seconds,
  ]);
}

const limitOf = (name: string): Limit => ({ key: keyOf(name), free: 3, leakSec: 100 });

test("brute force: after a few failures the right password has to wait too, for known and unknown accounts", async () => {
  await deleteAllAttempts(app.db);
  for (const email of [member.email, "nobody@nowhere.example"]) {
    const statuses = [];
    for (let round = 0; round < 7; round++) statuses.push((await attempt(email, `guess ${round}`)).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
    const locked = await attempt(email, password);
    assert.equal(locked.status, 429);
    assert.equal(locked.body.error, "rate_limited");
    const page = await openBrowser(app).submit("/sign-in", { email, password });
    assert.deepEqual([page.status, page.headers.getSetCookie()], [429, []]);
    assert.ok(Number(locked.headers.get("retry-after")) >= 1);
  }
  await passTime(5);
  assert.equal((await attempt(member.email, password)).status, 200);
});

test("brute force: concurrent guesses get no more attempts than sequential ones", async () => {
  await deleteAllAttempts(app.db);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, round) => attempt(member.email, `guess ${round}`)),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.equal(answers.filter(({ status }) => status === 429).length, 25);
});

test("the wait doubles up to fifteen minutes, and a persistent attacker gets one attempt per leak interval", async () => {
  const limit = limitOf("doubling");
  const waits: number[] = [];
  for (let round = 0; round < 40; round++) {
    const wait = await takeAttempt(app.db, [limit]);
    waits.push(wait);
    await passTime(wait);
  }
  assert.deepEqual(waits.slice(0, 3), [0, 0, 0]);
  assert.ok(Math.max(...waits) <= 900, String(waits));
  const slow = { ...limitOf("slow"), leakSec: 1e9 };
  let longest = 0;
  for (let round = 0; round < 40; round++) {
    const wait = await takeAttempt(app.db, [slow]);
    longest = Math.max(longest, wait);
    await passTime(wait);
  }
  assert.equal(longest, 900);
});

test("a refused attempt is not counted, and a refunded one is uncounted", async () => {
  const limit = limitOf("given back");
  for (let round = 0; round < 20; round++) {
    assert.equal(await takeAttempt(app.db, [limit]), 0);
    await refundAttempt(app.db.kysely, [limit.key]);
  }
  for (let round = 0; round < 3; round++) await takeAttempt(app.db, [limit]);
  const waits = [];
  for (let round = 0; round < 5; round++) waits.push(await takeAttempt(app.db, [limit]));
  assert.ok(
    waits.every((wait) => wait > 0 && wait <= 5),
    String(waits),
  );
});

test("guesses from elsewhere don't lock a user out of an IP prefix they have signed in from", async () => {
  await deleteAllAttempts(app.db);
  await signInAs(app, member);
  // What guesses from very many addresses would count.
  const account = { key: keyOf("account", member.email), free: 20, leakSec: 900 };
  for (let round = 0; round < 25; round++) {
    await takeAttempt(app.db, [account]);
    await passTime(60);
  }
  for (let round = 0; round < 3; round++) await takeAttempt(app.db, [account]);
  assert.ok((await takeAttempt(app.db, [account])) > 0);
  assert.equal((await attempt(member.email, password)).status, 200);
  // From a place that is not known it has to wait, as the guesses have.
  await app.db.kysely.deleteFrom("known_ip_addresses").execute();
  assert.equal((await attempt(member.email, password)).status, 429);
});

test("many successful sign-ins from one IP address are not throttled", async () => {
  await deleteAllAttempts(app.db);
  const rows = [];
  for (let round = 0; round < 12; round++) rows.push((await attempt(admin.email, password)).status);
  assert.deepEqual(new Set(rows), new Set([200]));
  const { rows: counted } = await app.db.pool.query("select max(count) as most from sign_in_failures");
  assert.ok(counted[0].most < 1, JSON.stringify(counted));
});

test("IP prefix: an IPv4 address, also when mapped to IPv6, or an IPv6 /64", () => {
  assert.equal(ipPrefixOf("192.0.2.7"), "192.0.2.7");
  assert.equal(ipPrefixOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(ipPrefixOf("2001:db8:1:2:3:4:5:6"), ipPrefixOf("2001:db8:1:2::1"));
  assert.notEqual(ipPrefixOf("2001:db8:1:2::1"), ipPrefixOf("2001:db8:1:3::1"));
});

test("sweep: removes counts older than a day and keeps newer ones and known IP prefixes", async () => {
  await deleteAllAttempts(app.db);
  await takeAttempt(app.db, [limitOf("old")]);
  await passTime(25 * 3600);
  await takeAttempt(app.db, [limitOf("new")]);
  await app.db.kysely.transaction().execute((tx) => rememberIpPrefix(tx, "a@b.example", "192.0.2.1"));
  await sweepThrottle(app.db);
  const { rows } = await app.db.pool.query(
    "select (select count(*)::int from sign_in_failures) as counts, (select count(*)::int from known_ip_addresses) as places",
  );
  assert.deepEqual(rows[0], { counts: 1, places: 1 });
  await app.db.pool.query("update known_ip_addresses set last_at = now() - interval '91 days'");
  await sweepThrottle(app.db);
  assert.equal((await app.db.pool.query("select 1 from known_ip_addresses")).rowCount, 0);
});

test("password hashing: limits concurrency and queue, and refuses the rest with Retry-After", async () => {
  const work = createPasswordWork({ concurrency: 2, maxWaiting: 3 });
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const one = () =>
    work.run(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    });
  const taken = Array.from({ length: 5 }, one);
  await assert.rejects(one(), (error: { code?: string; headers?: Record<string, string> }) => {
    assert.equal(error.code, "unavailable");
    assert.equal(error.headers?.["retry-after"], "5");
    return true;
  });
  for (let ended = 0; ended < 5; ended++) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(taken);
  assert.equal(most, 2);
  // A failure frees the place as well.
  for (let round = 0; round < 4; round++)
    await assert.rejects(
      work.run(() => Promise.reject(new Error("no"))),
      /no/,
    );
});

test("a flood of sign-ins for different accounts: the server keeps serving and refuses the excess with Retry-After", async () => {
  await deleteAllAttempts(app.db);
  // Fifty per address are free, so the bound of the queue is what some may meet first.
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, index) => attempt(`nobody${index}@flood.example`, "a guess of mine")),
  );
  const statuses = Map.groupBy(answers, ({ status }) => status);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![401, 429, 503].includes(status)),
    [],
  );
  assert.ok((statuses.get(401)?.length ?? 0) <= 60);
  for (const answer of [...(statuses.get(429) ?? []), ...(statuses.get(503) ?? [])])
    assert.ok(Number(answer.headers.get("retry-after")) >= 1);
});

test("sign-ins count against the rate limit of their IP address", async () => {
  const limited = await startTestApp({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "3" }, worker: false });
  const answers = [];
  for (let round = 0; round < 8; round++)
    answers.push(
      await openBrowser(limited).send("POST", "/_/api/v1/session", {
        json: { email: `nobody${round}@nowhere.example`, password: "a guess of mine" },
      }),
    );
  // The clock's minute may turn once meanwhile.
  assert.ok(answers.some(({ status }) => status === 429));
  assert.ok(answers.filter(({ status }) => status === 401).length <= 6);
  assert.equal(answers[0]?.headers.get("x-ratelimit-limit"), "3");
});
