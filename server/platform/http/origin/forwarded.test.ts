import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { startTestApp } from "../../../../test/support/app.ts";
import { withinOneMinute } from "../../../../test/support/until.ts";
import { readForwardedAddresses, validAddresses } from "./forwarded.ts";

const json = { "content-type": "application/json" };

test("forwarded IP addresses: ports are removed, and entries beyond an invalid one are not trusted", () => {
  for (const [header, addresses] of [
    ["203.0.113.5", ["203.0.113.5"]],
    ["203.0.113.5:4711", ["203.0.113.5"]],
    ["[2001:db8::1]:80, 10.0.0.1", ["2001:db8::1", "10.0.0.1"]],
    ["[2001:db8::1]", ["2001:db8::1"]],
    ["2001:db8::1", ["2001:db8::1"]],
    ["::ffff:1.2.3.4", ["::ffff:1.2.3.4"]],
    ["1.2.3.4, garbage", []],
    ["<script>, 1.2.3.4", ["1.2.3.4"]],
    ["unknown", []],
    ["10.1", []],
    ["1.2.3.4:99999999", []],
    [`${"a".repeat(5000)}`, []],
    ["", []],
  ] as const)
    assert.deepEqual(validAddresses(header), addresses, header.slice(0, 40));
});

test("a trusted proxy's entry with a port counts as its IP address, an invalid one as the proxy's", () =>
  withinOneMinute(async () => {
    const app = await startTestApp({
      worker: false,
      env: { PARLEY_TRUSTED_PROXIES: "127.0.0.1", PARLEY_RATE_LIMIT_PER_MINUTE: "100" },
    });
    const left = async (forwarded: string) => {
      const answer = await fetch(`${app.url}/_/api/v1/session`, {
        method: "POST",
        headers: { ...json, "x-forwarded-for": forwarded },
        body: "{}",
      });
      return Number(answer.headers.get("x-ratelimit-remaining"));
    };
    assert.equal(await left("203.0.113.5:1111"), 99);
    assert.equal(await left("203.0.113.5:2222"), 98);
    assert.equal(await left("[2001:db8::1]:80"), 99);
    assert.equal(await left("2001:db8::2"), 98, "who signs in counts by the /64 as well");
    assert.equal(await left("unknown"), 99);
    assert.equal(await left("<script>"), 98);
  }));

test("X-Forwarded-For without a trusted proxy: the log says so, once", async () => {
  for (const [trustedProxies, expected] of [
    [[], 1],
    [["127.0.0.1"], 0],
  ] as const) {
    const lines: string[] = [];
    const app = Fastify({
      logger: { level: "warn", stream: { write: (line: string) => void lines.push(line) } },
    });
    readForwardedAddresses(app, { trustedProxies });
    for (let round = 0; round < 3; round++)
      await app.inject({ url: "/", headers: { "x-forwarded-for": "203.0.113.5" } });
    await app.inject({ url: "/" });
    assert.equal(lines.filter((line) => /PARLEY_TRUSTED_PROXIES/.test(line)).length, expected);
    await app.close();
  }
});

test("forms are counted by IP address with all other requests without a token", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "3" } });
    const post = async (path: string) => {
      const answer = await fetch(limited.url + path, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "email=a%40b.example&password=x",
      });
      await answer.text();
      return answer;
    };
    const paths = ["/sign-in", "/password-reset", "/_/public-api/oauth2/authorize"];
    for (const path of paths) assert.notEqual((await post(path)).status, 429, path);
    for (const path of [...paths, `/invitations/${"A".repeat(43)}`]) {
      const answer = await post(path);
      assert.equal(answer.status, 429, path);
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    }
    assert.equal((await fetch(`${limited.url}/sign-in`)).status, 200, "pages are shown all the same");
  }));
