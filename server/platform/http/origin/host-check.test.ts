import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { ConfigError, readConfig } from "../../config/config.ts";
import { createMetricsHostCheck } from "./host-check.ts";

const app = await startTestApp({
  worker: false,
  env: {
    PARLEY_BASE_URL: "https://Parley.example:8443",
    PARLEY_TRUSTED_HOSTS: "parley.lan, 192.168.1.20,2001:db8::5,bücher.example",
  },
});
const proxied = await startTestApp({ worker: false, env: { PARLEY_TRUSTED_PROXIES: "127.0.0.1" } });

/** Sends a request as it is written. @returns status and body. */
async function send(
  lines: readonly string[],
  { at = app, target = "/sign-in", version = "1.1", method = "GET" } = {},
): Promise<{ status: number; body: string; head: string }> {
  const { port, hostname } = new URL(at.url);
  const socket = connect(Number(port), hostname);
  const close = version === "1.1" ? ["Connection: close"] : [];
  socket.write(`${[`${method} ${target} HTTP/${version}`, ...lines, ...close].join("\r\n")}\r\n\r\n`);
  const whole = await text(socket);
  const at_ = whole.indexOf("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(whole)?.[1]),
    head: whole.slice(0, at_),
    body: whole.slice(at_ + 4),
  };
}

test("hosts: the base URL's, loopback names and trusted hosts are served, with any port, in any case", async () => {
  for (const host of [
    "parley.example",
    "PARLEY.Example:8443",
    "parley.example.",
    "parley.example:1",
    "localhost",
    "LOCALHOST:3000",
    "127.0.0.1:80",
    "127.8.8.8",
    "[::1]:3000",
    "[0:0:0:0:0:0:0:1]",
    "parley.lan:80",
    "192.168.1.20:3000",
    "[2001:DB8:0::5]:3000",
    "xn--bcher-kva.example",
  ])
    assert.equal((await send([`Host: ${host}`])).status, 200, host);
});

test("hosts: every other one gets 421 with a page or a problem that names the setting", async () => {
  for (const host of [
    "evil.example",
    "parley.example.evil.example",
    "evil-parley.example",
    "localhost.evil.example",
    "192.168.1.21:3000",
    "0.0.0.0",
    "[::]",
    "[2001:db8::6]",
    "[::ffff:192.168.1.20]",
    "127.0.0.1.evil.example",
  ]) {
    const page = await send([`Host: ${host}`, "Accept: text/html,*/*"]);
    assert.equal(page.status, 421, host);
    assert.match(page.head, /content-type: text\/html/i);
    assert.match(page.body, /PARLEY_TRUSTED_HOSTS=/);
    const problem = await send([`Host: ${host}`], { target: "/_/public-api/v2/token-info" });
    assert.equal(problem.status, 421, host);
    assert.match(problem.head, /application\/problem\+json/);
    assert.match(problem.body, /"error":"misdirected_request"/);
    assert.match(problem.body, /PARLEY_TRUSTED_HOSTS/);
    for (const target of ["/healthz", "/readyz?full=1"])
      assert.equal((await send([`Host: ${host}`], { target })).status, 200, `${host} ${target}`);
  }
});

test("hosts: more than one Host header, none in HTTP/1.1, and an invalid host get 400", async () => {
  for (const lines of [
    ["Host: localhost", "Host: localhost"],
    ["Host: localhost", "Host: evil.example"],
    ["host: evil.example", "HOST: localhost"],
    ["Host:"],
    [],
    ["Host: a b"],
    ["Host: localhost@evil.example"],
    ["Host: localhost/x"],
    ["Host: localhost:99999"],
    ["Host: [::1"],
  ]) {
    for (const target of ["/sign-in", "/_/public-api/v2/token-info"]) {
      const { status, body } = await send(lines, { target });
      assert.equal(status, 400, lines.join(" | "));
      assert.match(body, target === "/sign-in" ? /is malformed/ : /"error":"bad_request"/);
    }
  }
  assert.equal((await send(["Host: a", "Host: b"], { target: "/healthz" })).status, 400);
});

test("hosts: HTTP/1.0 needs none; the host of an absolute target counts", async () => {
  assert.equal((await send([], { version: "1.0" })).status, 200);
  assert.equal((await send(["Host: evil.example"], { version: "1.0" })).status, 421);
  assert.equal((await send(["Host: localhost"], { target: "http://evil.example/sign-in" })).status, 421);
});

test("hosts: a trusted proxy's X-Forwarded-Host is checked besides the Host header, another one is ignored", async () => {
  const forwarded = (host: string, value: string, at = proxied) =>
    send([`Host: ${host}`, `X-Forwarded-Host: ${value}`], { at }).then(({ status }) => status);
  assert.equal(await forwarded("127.0.0.1:3000", "parley.test"), 200);
  assert.equal(await forwarded("127.0.0.1:3000", "evil.example"), 421);
  assert.equal(await forwarded("evil.example", "parley.test"), 421);
  assert.equal(await forwarded("localhost", "evil.example", app), 200);
});

test("hosts: a body is not read for a host that is not served", async () => {
  const { status } = await send(["Host: evil.example", "Content-Length: 100000"], { method: "POST" });
  assert.equal(status, 421);
});

test("hosts: MCP requests keep the host they were sent to", async () => {
  const { member } = await makeWorkspace(app.db);
  const response = await fetch(`${app.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${member.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_recordings", arguments: {} },
    }),
  });
  assert.equal(response.status, 200);
  assert.doesNotMatch(await response.text(), /PARLEY_TRUSTED_HOSTS/);
});

test("PARLEY_TRUSTED_HOSTS takes names and IP addresses and names an invalid entry", () => {
  const read = (value: string) => readConfig({ PARLEY_TRUSTED_HOSTS: value }, "/tmp").trustedHosts;
  assert.deepEqual(read("Parley.LAN.,::1"), ["parley.lan", "[::1]"]);
  for (const wrong of ["*", "*.lan", "parley.lan:80", "http://parley.lan", "a b", "a,,b", "[::1]:80"])
    assert.throws(() => read(wrong), ConfigError, wrong);
});

test("metrics are served under IP addresses, names without a dot and the names of the server, and under no other", () => {
  const isServed = createMetricsHostCheck({
    baseUrl: "https://parley.example.com",
    host: "0.0.0.0",
    trustedHosts: ["parley.internal.example"],
  });
  for (const host of [
    undefined,
    "127.0.0.1:9464",
    "10.1.2.3:9464",
    "[fd00::1]:9464",
    "localhost",
    "parley-worker:9464",
    "parley.example.com",
    "parley.internal.example:9464",
  ])
    assert.equal(isServed(host), true, String(host));
  for (const host of ["evil.example", "rebind.evil.example:9464", "a b", ""])
    assert.equal(isServed(host), false, host);
});
