import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import {
  authorizePath,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  refresh,
  revokePath,
  tokenPath,
} from "../../../../test/support/oauth.ts";
import { withinOneMinute } from "../../../../test/support/until.ts";

const app = await startTestApp({ worker: false });

const formPaths = [
  tokenPath,
  revokePath,
  authorizePath,
  "/sign-in",
  "/sign-out",
  "/password-reset",
  "/password-reset/some-token",
  "/invitations/some-token",
];

const post = (path: string, body: string, contentType = "application/x-www-form-urlencoded") =>
  fetch(app.url + path, {
    method: "POST",
    headers: { "content-type": contentType },
    body,
    redirect: "manual",
  });

test("forms: 64 KB that repeat one field cost every form less than a second of CPU time", async () => {
  for (const path of formPaths)
    for (const body of ["a&".repeat(32_000), "email=x&".repeat(8000), "&".repeat(65_000)]) {
      await post(path, "a=1");
      // Time on the clock would depend on what else the machine does.
      const start = process.cpuUsage();
      const { status } = await post(path, body);
      const { user, system } = process.cpuUsage(start);
      const tookMs = (user + system) / 1000;
      // Empty pairs are no fields, so a form of them is an empty one.
      if (!body.startsWith("&")) assert.ok(status === 400 || status === 403, `${path} ${status}`);
      assert.ok(tookMs < 1000, `${path} took ${tookMs} ms`);
    }
});

test("forms: more than 100 fields are refused with the limit, as form and as JSON; 100 are read", async () => {
  const names = Array.from({ length: 101 }, (_, index) => `f${index}`);
  const asForm = (count: number) =>
    names
      .slice(0, count)
      .map((name) => `${name}=1`)
      .join("&");
  const asJson = (count: number) =>
    JSON.stringify(Object.fromEntries(names.slice(0, count).map((name) => [name, "1"])));
  for (const [body, type] of [
    [asForm(101), undefined],
    ["a=1&".repeat(101), undefined],
    [asJson(101), "application/json"],
    [JSON.stringify({ a: names }), "application/json"],
  ] as const) {
    const refused = await post(tokenPath, body, type);
    assert.equal(refused.status, 400);
    assert.match(((await refused.json()) as { error_description: string }).error_description, /at most 100/);
  }
  for (const [body, type] of [
    [asForm(100), undefined],
    [asJson(100), "application/json"],
  ] as const) {
    const read = await post(tokenPath, body, type);
    assert.match(((await read.json()) as { error_description: string }).error_description, /grant_type/);
  }
});

/** Announces a body, sends none of it, and gives the response's status line. */
function announce(url: string, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: parley.test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n`,
      ),
    );
    socket.setTimeout(3000, () => socket.destroy(new Error(`${method} ${path} waits for the body`)));
    socket.once("data", (chunk) => {
      resolve(String(chunk).split("\r\n", 1)[0] ?? "");
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

test("rate limit: every form and endpoint without a token refuses before it reads the body", async () => {
  const limited = await startTestApp({
    worker: false,
    env: { PARLEY_RATE_LIMIT_PER_MINUTE: "2", PARLEY_S3_NOTIFICATION_TOKEN: "t".repeat(32) },
  });
  const doors = [
    ...formPaths.map((path) => ["POST", path] as const),
    ["OPTIONS", tokenPath],
    ["OPTIONS", revokePath],
    ["POST", "/_/api/v1/session"],
    ["POST", "/_/storage/notifications"],
    ["POST", "/_/public-api/v2/recordings"],
    ["POST", "/_/api/v1/nothing"],
    ["POST", "/mcp"],
  ] as const;
  await withinOneMinute(async () => {
    for (let count = 0; count < 2; count++)
      await fetch(limited.url + tokenPath, { method: "POST", body: "a=1" });
    for (const [method, path] of doors) {
      const status = await announce(limited.url, method, path);
      // Requests to the API say first that they lack version or token, all before the body.
      assert.match(status, /^HTTP\/1\.1 429/, `${method} ${path}`);
    }
    const body = "grant_type=refresh_token";
    const slowed = await fetch(limited.url + tokenPath, { method: "POST", body });
    assert.equal(slowed.status, 429);
    assert.equal(((await slowed.json()) as { error: string }).error, "slow_down");
    assert.ok(Number(slowed.headers.get("retry-after")) > 0);
    // An unknown path is refused without reading, whatever the count.
    assert.match(await announce(limited.url, "POST", "/nothing-here"), /^HTTP\/1\.1 404/);
  });
});

test("rate limit: token requests that succeed are not counted by IP address, failed ones are", async () => {
  const limited = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "5" } });
  const workspace = await makeOAuthWorkspace(limited);
  const client = await makeClient(limited, workspace);
  await withinOneMinute(async () => {
    let { refresh_token: token } = await obtainTokens(limited, client, workspace.member);
    for (let round = 0; round < 8; round++) {
      const { status, body } = await refresh(limited, client, token);
      assert.equal(status, 200, `round ${round}`);
      token = body.refresh_token;
    }
    const statuses = [];
    for (let round = 0; round < 6; round++) statuses.push((await refresh(limited, client, "wrong")).status);
    assert.equal(statuses.at(0), 400);
    assert.equal(statuses.at(-1), 429);
  });
});
