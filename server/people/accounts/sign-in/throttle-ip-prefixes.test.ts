import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { createUser } from "../service.ts";
import { deleteAllAttempts, givePassword, openBrowser, password, signInAs } from "../test/accounts.ts";
import { keyOf, type Limit, takeAttempt } from "./throttle.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_TRUSTED_PROXIES: "127.0.0.1" } });
const workspace = await makeWorkspace(app.db);
const { member, admin } = workspace;
await givePassword(app.db, member, admin);

const attempt = (email: string, word: string, from = "127.0.0.1") =>
  openBrowser(app).send("POST", "/_/api/v1/session", {
    json: { email, password: word },
    headers: { "x-forwarded-for": from },
  });

/** As if so many people had mistyped in a place. */
async function fillPlace(ip: string): Promise<void> {
  const limit: Limit = { key: keyOf("place", ipPrefixOf(ip)), free: 50, leakSec: 30 };
  for (let round = 0; round < 60; round++) await takeAttempt(app.db, [limit]);
  assert.ok((await takeAttempt(app.db, [limit])) > 0);
}

async function countRows(): Promise<number> {
  const { rows } = await app.db.pool.query("select count(*)::int as rows from sign_in_failures");
  return rows[0].rows;
}

test("an IP prefix with many failures: users known there can still sign in, within their own five attempts", async () => {
  await deleteAllAttempts(app.db);
  await signInAs(app, member);
  await fillPlace("127.0.0.1");
  assert.equal((await attempt(admin.email, password)).status, 429, "not known there");
  assert.equal((await attempt(member.email, password)).status, 200);
  const statuses = [];
  for (let round = 0; round < 7; round++)
    statuses.push((await attempt(member.email, `guess ${round}`)).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
});

test("refused attempts write nothing to the database, even concurrent ones", async () => {
  await deleteAllAttempts(app.db);
  await fillPlace("203.0.113.9");
  const before = await countRows();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, round) => attempt(`flood${round}@x.example`, "a guess", "203.0.113.9")),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([429]));
  assert.equal(await countRows(), before);
  // What has to wait for one of its counts must not make a new one of another, either, when it was admitted by the first look.
  const full: Limit = { key: keyOf("full"), free: 1, leakSec: 900 };
  const waits = await Promise.all(
    Array.from({ length: 12 }, (_, round) =>
      takeAttempt(app.db, [full, { key: keyOf("own", String(round)), free: 9, leakSec: 900 }]),
    ),
  );
  assert.equal(waits.filter((wait) => wait === 0).length, 1);
  assert.equal(await countRows(), before + 2);
});

test("emails whose case folding depends on the language work as typed and in lower case", async () => {
  for (const email of ["ΣΊΣΥΦΟΣ@x.example", "İstanbul@x.example", "Straße@x.example"]) {
    await deleteAllAttempts(app.db);
    const user = await app.db.kysely
      .transaction()
      .execute((tx) => createUser(tx, { workspaceId: workspace.id, email, name: "P", role: "member" }));
    await givePassword(app.db, user);
    assert.equal((await attempt(` ${email} `, password)).status, 200, email);
    const { rows } = await app.db.pool.query("select email_key from users where id = $1", [user.id]);
    assert.equal((await attempt(rows[0].email_key, password)).status, 200, email);
    // One account, however it is written: the counts are shared, and so is the place.
    for (let round = 0; round < 5; round++) await attempt(rows[0].email_key, "a guess");
    assert.equal((await attempt(email, password)).status, 429, email);
  }
});
