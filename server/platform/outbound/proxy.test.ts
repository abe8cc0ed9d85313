import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { after, test } from "node:test";
import { createHookSender } from "../../connections/webhooks/transport/send.ts";
import { parseRanges } from "./address-ranges.ts";
import { outboundFetch } from "./dispatcher.ts";
import { agentOptionsFor, describeProxyRefusal, ProxySettingError, proxyFor } from "./proxy.ts";

const proxyOf = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href ?? null;

test("proxy: chosen by the scheme of the URL and the standard variables", () => {
  const env = {
    HTTPS_PROXY: "http://secure.example:3128",
    http_proxy: "plain.example:8080",
    HTTP_PROXY: "x",
  };
  assert.equal(proxyOf("https://a.example/", env), "http://secure.example:3128/");
  assert.equal(proxyOf("http://a.example/", env), "http://plain.example:8080/");
  assert.equal(proxyOf("http://a.example/", { HTTPS_PROXY: "http://secure.example" }), null);
  assert.equal(proxyOf("https://a.example/", { HTTPS_PROXY: " " }), null);
  for (const wrong of ["socks5://proxy.example", "http://", "http://a b"])
    assert.throws(
      () => proxyOf("https://a.example/", { HTTPS_PROXY: wrong }),
      (error) => error instanceof ProxySettingError && /^HTTPS_PROXY must be the URL/.test(error.message),
    );
});

test("proxy: none for this machine and the hosts of NO_PROXY", () => {
  const HTTPS_PROXY = "http://proxy.example:3128";
  for (const [url, NO_PROXY, isDirect] of [
    ["https://localhost:8000/", "", true],
    ["https://127.0.0.2/", "", true],
    ["https://[::1]/", "", true],
    ["https://speech.localhost/", "", true],
    ["https://models.example/", "other.example, models.example", true],
    ["https://eu.Models.example./", ".models.example", true],
    ["https://eu.models.example/", "*.models.example", true],
    ["https://evilmodels.example/", "models.example", false],
    ["https://models.example:8443/", "models.example:8443", true],
    ["https://models.example/", "models.example:8443", false],
    ["https://10.1.2.3/", "10.0.0.0/8", true],
    ["https://11.1.2.3/", "10.0.0.0/8 fd00::/8", false],
    ["https://[fd00::5]/", "10.0.0.0/8,fd00::/8", true],
    ["https://[fd00::5]/", "[fd00::5]:443", true],
    ["https://10.1.2.3/", "10.1.2.3", true],
    ["https://models.example/", "*", true],
    ["https://models.example/", "", false],
  ] as const)
    assert.equal(proxyOf(url, { HTTPS_PROXY, NO_PROXY }) === null, isDirect, `${url} ${NO_PROXY}`);
});

/** A proxy that keeps the first line of each request, and leads every tunnel to `to`. */
async function startProxy(to: () => number) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
    response.end("by the proxy");
  });
  server.on("connect", (request, socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
    if (request.url?.startsWith("refused")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const upstream = connect(to(), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [upstream, socket])
      one.on("error", () => {
        upstream.destroy();
        socket.destroy();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { seen, url: `http://ada:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sets variables for a test; the process has the earlier ones again afterwards. */
async function withVariables(values: Record<string, string>, work: () => Promise<void>): Promise<void> {
  const names = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, values);
  try {
    await work();
  } finally {
    for (const [name, value] of before) {
      delete process.env[name];
      if (value !== undefined) process.env[name] = value;
    }
  }
}

const credentials = `Basic ${Buffer.from("ada:p@ss").toString("base64")}`;

test("proxy: webhooks are tunneled to the IP address that was checked; forbidden ones are not asked for", async () => {
  const bodies: string[] = [];
  const receiver = createServer((request, response) => {
    bodies.push(String(request.headers.host));
    response.end("received");
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const { seen, url } = await startProxy(() => port);
  const sender = createHookSender({
    allowAddresses: parseRanges("192.0.2.0/24"),
    lookup: async (host) => [{ address: host === "internal.test" ? "10.0.0.1" : "192.0.2.7", family: 4 }],
  });
  after(async () => {
    await sender.close();
    receiver.close();
    receiver.closeAllConnections();
  });
  const send = (target: string) => sender.send({ url: target, headers: {}, body: "{}" });
  await withVariables({ HTTP_PROXY: url, HTTPS_PROXY: url }, async () => {
    assert.equal((await send("http://hooks.test/x")).body, "received");
    assert.deepEqual(seen.splice(0), [`CONNECT 192.0.2.7:80 ${credentials}`]);
    assert.deepEqual(bodies, ["hooks.test"]);
    assert.match((await send("http://internal.test/")).error ?? "", /10\.0\.0\.1 is not allowed/);
    assert.match((await send("https://10.0.0.1/")).error ?? "", /10\.0\.0\.1 is not allowed/);
    assert.deepEqual(seen, []);
  });
  // A receiver that does not speak TLS: the handshake is with it and not with the proxy.
  await withVariables({ HTTPS_PROXY: url }, async () => {
    assert.match((await send("https://hooks.test/")).error ?? "", /TLS|closed/);
    assert.deepEqual(seen.splice(0), [`CONNECT 192.0.2.7:443 ${credentials}`]);
  });
  await withVariables({ HTTP_PROXY: "http://127.0.0.1:9" }, async () => {
    assert.match((await send("http://other.test/")).error ?? "", /^the proxy of this installation/);
  });
});

test("proxy: fetch and Node's agents use it for names that only the proxy can resolve", async () => {
  const { seen, url } = await startProxy(() => 9);
  await withVariables({ HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "direct.invalid" }, async () => {
    assert.equal(await (await outboundFetch("http://models.invalid/v1")).text(), "by the proxy");
    await assert.rejects(outboundFetch("https://models.invalid/v1"));
    await assert.rejects(outboundFetch("http://direct.invalid/"));
    await assert.rejects(
      outboundFetch("https://refused.invalid/"),
      (error) =>
        describeProxyRefusal(error) === "the proxy of this installation refused the connection (status 403)",
    );
    assert.deepEqual(seen, [
      `GET http://models.invalid/v1 ${credentials}`,
      `CONNECT models.invalid:443 ${credentials}`,
      `CONNECT refused.invalid:443 ${credentials}`,
    ]);
    assert.deepEqual(Object.keys(agentOptionsFor("https://models.invalid")), ["proxyEnv"]);
    assert.deepEqual(agentOptionsFor("https://direct.invalid"), {});
  });
});
