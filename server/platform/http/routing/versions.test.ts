import assert from "node:assert/strict";
import { test } from "node:test";
import {
  call,
  currentVersion,
  olderVersion,
  startTestApp,
  type TestApp,
} from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { withinOneMinute } from "../../../../test/support/until.ts";
import { rateShare, statusAt } from "./version-gate.ts";

const dayMs = 86_400_000;
const dateIn = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

interface Running {
  readonly app: TestApp;
  readonly token: string;
}

async function withStatus(status: string, limit = "0"): Promise<Running> {
  const app = await startTestApp({
    worker: false,
    env: { PARLEY_VERSION_STATUS: status, PARLEY_RATE_LIMIT_PER_MINUTE: limit },
  });
  return { app, token: (await makeWorkspace(app.db)).token };
}

const users = ({ app, token }: Running, version: string = olderVersion) =>
  call(app, "POST", "/users", {}, { token, version });

test("deprecated and sunsetting: every response says so, including errors", () =>
  withinOneMinute(async () => {
    const sunset = dateIn(30);
    const running = await withStatus(`${olderVersion}=sunsetting@${sunset}`, "60");
    const { app, token } = running;
    const at = (method: string, path: string, body: unknown, extra: object = {}) =>
      call(app, method, path, body, { token, version: olderVersion, ...extra });
    const answers = new Map([
      [200, await users(running)],
      [
        400,
        await at("POST", "/recordings", undefined, {
          raw: "{",
          headers: { "content-type": "application/json" },
        }),
      ],
      [401, await at("POST", "/users", {}, { token: "parley_pat_x" })],
      [404, await at("POST", "/nothing", {})],
      [413, await at("POST", "/users", undefined, { raw: `"${"x".repeat(1_100_000)}"` })],
    ]);
    for (let n = 0; n < 30; n += 1) answers.set(429, await users(running));
    for (const [status, answer] of answers) {
      assert.equal(answer.status, status);
      assert.equal(
        answer.headers.get("deprecation"),
        `@${Date.parse("2026-10-01T00:00:00Z") / 1000}`,
        `${status}`,
      );
      assert.equal(answer.headers.get("sunset"), new Date(sunset).toUTCString(), `${status}`);
      assert.equal(
        answer.headers.get("link"),
        '</docs/migration>; rel="deprecation"; type="text/html", </docs/migration>; rel="sunset"; type="text/html"',
      );
    }
    for (const header of ["deprecation", "sunset", "link"])
      assert.equal((await users(running, currentVersion)).headers.get(header), null);
  }));

test("sunsetting: the limit falls daily, only for this version, and never to zero", async () => {
  const limits: number[] = [];
  for (const days of [120, 60, 30, 3]) {
    const running = await withStatus(`${olderVersion}=sunsetting@${dateIn(days)}`, "900");
    limits.push(Number((await users(running)).headers.get("x-ratelimit-limit")));
    assert.equal((await users(running, currentVersion)).headers.get("x-ratelimit-limit"), "900");
  }
  const [first = 0, second = 0, third = 0, last = 0] = limits;
  assert.equal(first, 900);
  assert.ok(second > 580 && second <= 600, `${second}`);
  assert.ok(third > 280 && third <= 300, `${third}`);
  assert.equal(last, 90);
  const undated = await withStatus(`${olderVersion}=sunsetting`, "900");
  const answer = await users(undated);
  assert.deepEqual([answer.headers.get("x-ratelimit-limit"), answer.headers.get("sunset")], ["450", null]);
});

test("sunsetting: requests over the reduced limit get 429, and the current version is unaffected", () =>
  withinOneMinute(async () => {
    const running = await withStatus(`${olderVersion}=sunsetting@${dateIn(1)}`, "40");
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await users(running)).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429]);
    assert.equal((await users(running, currentVersion)).status, 200);
  }));

for (const status of [`sunsetting@${dateIn(0)}`, "sunsetting@2026-10-02", "retired@2026-10-02", "retired"])
  test(`${status}: 410 with a link to the migration page, and the current version is unaffected`, async () => {
    const running = await withStatus(`${olderVersion}=${status}`);
    const answer = await users(running);
    assert.deepEqual([answer.status, answer.body.error], [410, "version_retired"]);
    assert.match(answer.body.detail, /\/docs\/migration/);
    assert.ok(answer.headers.get("deprecation"));
    const date = status.split("@")[1];
    assert.equal(answer.headers.get("sunset"), date === undefined ? null : new Date(date).toUTCString());
    assert.equal((await users(running, currentVersion)).status, 200);
    const page = await (await fetch(`${running.app.url}/docs/migration`)).text();
    assert.match(page, new RegExp(`<td>${olderVersion}</td><td>retired</td>`));
  });

test("a version deprecated by the operator has a deprecation date too", async () => {
  const running = await withStatus(`${currentVersion}=deprecated`);
  const answer = await users(running, currentVersion);
  assert.equal(answer.headers.get("deprecation"), `@${Date.parse(currentVersion) / 1000}`);
});

test("status and share change on time, without a restart", () => {
  const version = { name: olderVersion, status: "sunsetting", sunsetOn: "2027-03-01" } as const;
  const at = (text: string) => new Date(text);
  assert.equal(statusAt(version, at("2027-02-28T23:59:59.999Z")), "sunsetting");
  assert.equal(statusAt(version, at("2027-03-01T00:00:00Z")), "retired");
  assert.equal(rateShare(version, at("2026-12-01T00:00:00Z")), 1);
  assert.equal(rateShare(version, at("2027-01-15T00:00:00Z")), 0.5);
  assert.equal(rateShare(version, at("2027-02-28T00:00:00Z")), 0.1);
});

test("migration page: names every operation of the older version, with examples that name both", async () => {
  const { app } = await withStatus(`${olderVersion}=deprecated`);
  const page = await (await fetch(`${app.url}/docs/migration`)).text();
  for (const name of [
    "List Recordings",
    "Get Recording",
    "Download Recording",
    "Update Recording",
    "Add Tag",
    "Remove Tag",
    "Share to User",
    "List Users",
    "List Teams",
    "List Meeting Types",
    "Create Hook",
    "List Hooks",
    "Delete Hook",
    "Upload Recording",
  ])
    assert.ok(page.includes(name), name);
  for (const version of [olderVersion, currentVersion])
    assert.ok(page.includes(`Public-Api-Version: ${version}`));
});
