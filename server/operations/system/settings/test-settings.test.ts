import assert from "node:assert/strict";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { startModelServer } from "../../../../test/support/model-server.ts";
import { startSpeechServer } from "../../../../test/support/speech-server.ts";
import type { SettingChanges } from "./change.ts";
import { createSettingsTests } from "./test-settings.ts";

const app = await startTestApp({ worker: false });
const tests = createSettingsTests(app);
const run = (test: Parameters<typeof tests>[0], settings: SettingChanges) => tests(test, settings, null);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Accepts connections and says nothing. */
async function hang(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("models: a server that responds passes; an unknown model and a closed port are named", async () => {
  const [speech, model] = [await startSpeechServer(), await startModelServer()];
  assert.equal((await run("speech", { PARLEY_TRANSCRIPTION_URL: speech.url })).passed, true);
  assert.equal((await run("language_model", { PARLEY_LLM_URL: model.url })).passed, true);
  const missing = await serve((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"error":{"message":"model nope not found"}}');
  });
  for (const [name, settings] of [
    ["language_model", { PARLEY_LLM_URL: missing, PARLEY_LLM_MODEL: "nope" }],
    ["speech", { PARLEY_TRANSCRIPTION_URL: missing, PARLEY_TRANSCRIPTION_MODEL: "nope" }],
  ] as const) {
    const { passed, message } = await run(name, settings);
    assert.deepEqual([passed, /404|not found/.test(message)], [false, true], message);
  }
  const closed = await run("language_model", { PARLEY_LLM_URL: "http://127.0.0.1:9" });
  assert.match(closed.message, /127\.0\.0\.1:9.*PARLEY_LLM_URL/);
});

test("sign-in: an issuer without its slash and a provider that hangs are named", async () => {
  const client = { PARLEY_OIDC_CLIENT_ID: "parley", PARLEY_OIDC_CLIENT_SECRET: "secret-1" };
  const issuer = await serve((request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ issuer: `http://${request.headers.host}/realm/` }));
  });
  const slash = await run("sign_in", { ...client, PARLEY_OIDC_ISSUER: `${issuer}/realm` });
  assert.match(slash.message, /PARLEY_OIDC_ISSUER is .*\/realm, but .*\/realm\//);
  const late = await run("sign_in", { ...client, PARLEY_OIDC_ISSUER: `http://127.0.0.1:${await hang()}/` });
  assert.equal(late.passed, false);
  assert.match(late.message, /time/i);
  assert.ok(!`${slash.message}${late.message}`.includes("secret-1"));
});

test("backups: a folder is written to, read and emptied; one that can't be used is named", async () => {
  const folder = join(app.config.dataDir, "..", "backups-of-a-test");
  const right = await run("backups", { PARLEY_BACKUP_TO: folder });
  assert.equal(right.passed, true, right.message);
  assert.match(right.message, /will not be encrypted/);
  const file = join(app.config.dataDir, "..", "no-folder-of-a-test");
  await writeFile(file, "");
  after(() => Promise.all([folder, file].map((path) => rm(path, { recursive: true, force: true }))));
  const blocked = join(file, "backups");
  const wrong = await run("backups", { PARLEY_BACKUP_TO: blocked });
  assert.match(wrong.message, /Backups can't be stored in .*ENOTDIR/);
  const hopeless = await run("backups", { PARLEY_BACKUP_TO: "/proc/nowhere" });
  assert.match(hopeless.message, /stored in \/proc\/nowhere: .*can't be used/);
  assert.ok(hopeless.took_ms < 10_000);
  const key = { PARLEY_BACKUP_S3_KEY: "id:key-of-a-test" };
  const denied = await serve((_request, response) => {
    response.writeHead(403, { "content-type": "application/xml" });
    response.end("<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
  });
  const bucket = await run("backups", {
    ...key,
    PARLEY_BACKUP_TO: "s3://bucket/p",
    PARLEY_BACKUP_S3_ENDPOINT: denied,
  });
  assert.match(bucket.message, /Access ?Denied|403/);
  assert.ok(!bucket.message.includes("key-of-a-test"));
});

test("proxy: one that refuses is named without its password", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  server.on("connect", (_request, socket) =>
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
  );
  await once(server, "listening");
  after(() => server.close());
  const proxy = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const refused = await run("proxy", {
    PARLEY_PROXY: `http://user:pass-7@${proxy}`,
    PARLEY_LLM_URL: "https://models.example",
  });
  assert.match(refused.message, /status 407/);
  assert.ok(refused.message.includes(proxy) && !refused.message.includes("pass-7"));
  const closed = await run("proxy", {
    PARLEY_PROXY: "http://127.0.0.1:9",
    PARLEY_LLM_URL: "https://models.example",
  });
  assert.equal(closed.passed, false);
});
