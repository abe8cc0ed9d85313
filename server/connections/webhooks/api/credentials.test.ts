import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";
import { splitHookUrl } from "../../../platform/outbound/target.ts";
import { dataTools } from "../../../recordings/recordings/test/recordings.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { admin, member } = await makeWorkspace(app.db);
const { manage } = dataTools(app);
const receiver = await startHookReceiver();

const password = "p@ss:w/örd-7f3a";
const userInfo = `parley:${encodeURIComponent(password)}`;
const base64 = Buffer.from(`parley:${password}`).toString("base64");

const create = (hook_url: string, hook_type = "recording_added") =>
  call(app, "POST", "/hooks/create", { hook_url, hook_type }, { token: member.token, version: olderVersion });
const withUserInfo = (path: string) => receiver.url.replace("://", `://${userInfo}@`) + path;

/** Whether a text contains the password in any of its forms. */
const reveals = (text: string) =>
  [password, encodeURIComponent(password), base64, "w/örd", "w%2F"].some((form) => text.includes(form));

test("credentials in hook_url are sent as Basic authentication, with the reachability test and every event", async () => {
  const created = await create(withUserInfo("/both?x=1"));
  assert.equal(created.status, 200, created.text);
  assert.equal(created.body.hook_url, `${receiver.url}/both?x=1`);
  await makeRecording(app, member.token);
  const requests = await until("the event is delivered", async () => {
    const found = receiver.requests.filter(({ path }) => path === "/both?x=1");
    return found.length >= 2 ? found : undefined;
  });
  for (const { headers } of requests) assert.equal(headers.authorization, `Basic ${base64}`);

  const plain = await create(`${receiver.url}/plain`);
  assert.equal(plain.status, 200);
  assert.equal(receiver.requests.find(({ path }) => path === "/plain")?.headers.authorization, undefined);
});

test("credentials are never shown again: responses, lists, log, audit, database, also when the receiver echoes them", async () => {
  receiver.at("/echo", (request, response) => {
    const isTest = request.body === "{}";
    response.writeHead(isTest ? 200 : 500, { "content-type": "text/plain" });
    response.end(`${JSON.stringify(request.headers)} ${password} parley:${password}`);
  });
  const created = await create(withUserInfo("/echo"));
  assert.equal(created.status, 200, created.text);
  await makeRecording(app, member.token);
  const deliveryId = await until("an attempt is in the log", async () => {
    const { body } = await manage("GET", `/hooks/${created.body.id}/deliveries`, member.token);
    return body.deliveries.find((one: { attempts: number }) => one.attempts > 0)?.id;
  });
  const log = await manage("GET", `/hooks/${created.body.id}/deliveries/${deliveryId}`, member.token);
  assert.match(log.text, /\[redacted\]/);
  const texts = [
    created.text,
    log.text,
    (await call(app, "POST", "/hooks", {}, { token: member.token, version: olderVersion })).text,
    (await manage("GET", "/hooks", member.token)).text,
    (await manage("GET", `/hooks/${created.body.id}`, member.token)).text,
    (await manage("GET", "/audit", admin.token)).text,
    (await manage("GET", "/events", member.token)).text,
  ];
  for (const text of texts) {
    assert.ok(text.length > 2 && !text.includes("parley:"), text);
    assert.ok(!reveals(text), text);
  }
  const { rows } = await app.db.pool.query("select row_to_json(h)::text as row, credentials from hooks h");
  for (const { row } of rows) assert.ok(!reveals(row), row);
  const stored = rows.find(({ row }) => row.includes(created.body.id)).credentials;
  assert.ok(!reveals(stored.toString("latin1")) && !reveals(stored.toString("utf8")));
  assert.equal(app.encryptor.decrypt(stored), `parley:${password}`);
});

test("an error about a hook with credentials does not repeat them", async () => {
  receiver.at("/refuses", (request, response) => {
    response
      .writeHead(302, { location: `https://other.example/?auth=${request.headers.authorization}` })
      .end();
  });
  for (const url of [
    withUserInfo("/refuses"),
    withUserInfo("/x").replace("127.0.0.1", "10.0.0.1"),
    `${withUserInfo("/x").replace("http:", "ftp:")}`,
    `http://parley:%zz${userInfo}@127.0.0.1/`,
    `http://${userInfo}@x@127.0.0.1/`,
  ]) {
    const refused = await create(url);
    assert.equal(refused.status, 400, url);
    assert.ok(!reveals(refused.text), refused.text);
  }
});

test("an error about a private IP address names the setting that allows it, and not the IP address", async () => {
  const { body } = await create("http://10.0.0.1/hook");
  assert.equal(body.error, "hook_unreachable");
  assert.match(body.detail, /but its IP address is not allowed: .*PARLEY_HOOKS_ALLOW_ADDRESSES/);
});

test("splitting a hook's URL: decoded credentials, the URL otherwise unchanged, and clear errors", () => {
  for (const [url, expected] of [
    ["https://a.example/x?y#z", { url: "https://a.example/x?y#z", credentials: null }],
    ["https://a.example/me@home", { url: "https://a.example/me@home", credentials: null }],
    ["https://u:p@a.example:8443/x?y", { url: "https://a.example:8443/x?y", credentials: "u:p" }],
    ["https://u@a.example/", { url: "https://a.example/", credentials: "u:" }],
    ["https://:token@a.example", { url: "https://a.example", credentials: ":token" }],
    ["https://u:a%3Ab%40c@a.example/", { url: "https://a.example/", credentials: "u:a:b@c" }],
    ["HTTPS://u:p:q@a.example/", { url: "HTTPS://a.example/", credentials: "u:p:q" }],
  ] as const)
    assert.deepEqual(splitHookUrl(url), expected, url);
  for (const [url, expected] of [
    ["https://@a.example/", /empty/],
    ["https://:@a.example/", /empty/],
    ["https://u@v@a.example/", /%40/],
    ["https://u%3Av:p@a.example/", /colon/],
    ["https://u:%zz@a.example/", /percent-encoding/],
    ["https://u:%ff@a.example/", /percent-encoding/],
    ["https://u:a%0ab@a.example/", /control/],
  ] as const)
    assert.match(String(splitHookUrl(url)), expected, url);
});
