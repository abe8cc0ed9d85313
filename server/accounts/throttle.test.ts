import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../test/support/app.ts";
import { makeWorkspace } from "../../test/support/factories.ts";
import { createPasswordWork } from "./password-work.ts";
import { forgetAll, givePassword, openBrowser, password, signInAs } from "./testing.ts";
import {
  giveBack,
  keyOf,
  type Limit,
  placeOf,
  rememberPlace,
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

test("brute force: after a few failures the right password waits as well, known account or not", async () => {
  await forgetAll(app.db);
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

test("brute force at once: no more guesses get through than one after the other", async () => {
  await forgetAll(app.db);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, round) => attempt(member.email, `guess ${round}`)),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.equal(answers.filter(({ status }) => status === 429).length, 25);
});

test("the wait doubles, is fifteen minutes at most, and whoever goes on gets one attempt in a leak's time", async () => {
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

test("a wait counts nothing, and an attempt given back is none", async () => {
  const limit = limitOf("given back");
  for (let round = 0; round < 20; round++) {
    assert.equal(await takeAttempt(app.db, [limit]), 0);
    await giveBack(app.db.kysely, [limit.key]);
  }
  for (let round = 0; round < 3; round++) await takeAttempt(app.db, [limit]);
  const waits = [];
  for (let round = 0; round < 5; round++) waits.push(await takeAttempt(app.db, [limit]));
  assert.ok(
    waits.every((wait) => wait > 0 && wait <= 5),
    String(waits),
  );
});

test("nobody is locked out of a place they have signed in from, however many guess elsewhere", async () => {
  await forgetAll(app.db);
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
  await app.db.kysely.deleteFrom("known_addresses").execute();
  assert.equal((await attempt(member.email, password)).status, 429);
});

test("many who sign in well from one address are not slowed down", async () => {
  await forgetAll(app.db);
  const rows = [];
  for (let round = 0; round < 12; round++) rows.push((await attempt(admin.email, password)).status);
  assert.deepEqual(new Set(rows), new Set([200]));
  const { rows: counted } = await app.db.pool.query("select max(count) as most from sign_in_failures");
  assert.ok(counted[0].most < 1, JSON.stringify(counted));
});

test("a place: an IPv4 address, also mapped into IPv6, or 64 bits of IPv6", () => {
  assert.equal(placeOf("192.0.2.7"), "192.0.2.7");
  assert.equal(placeOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(placeOf("2001:db8:1:2:3:4:5:6"), placeOf("2001:db8:1:2::1"));
  assert.notEqual(placeOf("2001:db8:1:2::1"), placeOf("2001:db8:1:3::1"));
});

test("sweep: counts of a day ago go, newer ones stay, and so do places", async () => {
  await forgetAll(app.db);
  await takeAttempt(app.db, [limitOf("old")]);
  await passTime(25 * 3600);
  await takeAttempt(app.db, [limitOf("new")]);
  await app.db.kysely.transaction().execute((tx) => rememberPlace(tx, "a@b.example", "192.0.2.1"));
  await sweepThrottle(app.db);
  const { rows } = await app.db.pool.query(
    "select (select count(*)::int from sign_in_failures) as counts, (select count(*)::int from known_addresses) as places",
  );
  assert.deepEqual(rows[0], { counts: 1, places: 1 });
  await app.db.pool.query("update known_addresses set last_at = now() - interval '91 days'");
  await sweepThrottle(app.db);
  assert.equal((await app.db.pool.query("select 1 from known_addresses")).rowCount, 0);
});

test("password work: a bounded number at once, a bounded number waiting, the rest is refused and told when", async () => {
  const work = createPasswordWork({ atOnce: 2, waiting: 3 });
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

test("a flood of sign-ins for different accounts: the server goes on, the rest is asked to come again", async () => {
  await forgetAll(app.db);
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

test("signing in is counted by the rate limit as well, by address", async () => {
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
