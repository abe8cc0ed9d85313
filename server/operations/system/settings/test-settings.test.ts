import assert from "node:assert/strict";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { startTestApp } from "../../../../test/support/app.ts";
import { reply, startModelServer } from "../../../../test/support/model-server.ts";
import { noS3Server, startS3Server } from "../../../../test/support/s3-server.ts";
import { startSpeechServer } from "../../../../test/support/speech-server.ts";
import { clientSecret, startProvider } from "../../../people/accounts/test/provider.ts";
import type { SettingChanges } from "./change.ts";
import { createSettingsTests } from "./test-settings.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_LLM_TIMEOUT: "2s" } });
type Name = Parameters<ReturnType<typeof createSettingsTests>>[0];
/** Tests of a kind run once at a time in a server; here some wait for servers that hang. */
const run = (test: Name, settings: SettingChanges) =>
  createSettingsTests(app)(test, settings, { email: "admin@w.example", language: "en" });

/** Each case: its name, the settings, and what the message must say. */
type Case = readonly [name: string, settings: SettingChanges, message: RegExp];

async function assertEach(test: Name, cases: readonly Case[]): Promise<void> {
  for (const [name, settings, expected] of cases) {
    const { passed, message, took_ms } = await run(test, settings);
    assert.match(message, expected, name);
    assert.equal(passed, name === "right", name);
    assert.ok(took_ms < 10_000, name);
    const secret = /:([^:@/]*)@|^(?:ID:)?(secret-.*)$/;
    for (const value of Object.values(settings)) {
      const [, inUrl, whole] = secret.exec(value ?? "") ?? [];
      assert.ok(!message.includes(inUrl || whole || "no secret"), `${name} shows ${value}`);
    }
  }
}

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${await portOf(server)}`;
}

const respond = (status: number, body: unknown) =>
  serve((_request, response) => reply(response, status, body));

/** Accepts connections and says nothing. */
async function hang(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${await portOf(server)}`;
}

/** Nothing listens there any more. */
async function closed(): Promise<string> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  const port = await portOf(server);
  server.close();
  return `127.0.0.1:${port}`;
}

/** A mail server with the only password `right`. */
async function mailServer(options: SMTPServerOptions = {}): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === "right" ? done(null, { user: "u" }) : done(new Error("Invalid username or password")),
    onData(stream, _session, done) {
      stream.resume();
      stream.on("end", () => done());
    },
    ...options,
  });
  // Clients that refuse its certificate end their connections.
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  after(() => server.close());
  return `127.0.0.1:${await portOf(server.server)}`;
}

const refuse = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** Of localhost, valid until 2126, and of use for nothing else. */
const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+dJ+ueYzXQJfDwg0
8M3NXTalAL3X0LbojEl9mT09Qh6hRANCAATF5xf+m/zgX21bb3oSE8CtKcPSHi3w
1d2Ue/c+ZLLXhhDKbHlfM7I+TX7DZIDSZ0zRgYrVQhY/3BcsCRl+jIjS
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUAVmbIMc5BXavOthtMGUtze78rAwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODEwMTIyN1oYDzIxMjYxMTA0
MTAxMjI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATF5xf+m/zgX21bb3oSE8CtKcPSHi3w1d2Ue/c+ZLLXhhDKbHlfM7I+
TX7DZIDSZ0zRgYrVQhY/3BcsCRl+jIjSo28wbTAdBgNVHQ4EFgQU/qw0t3bOBNuC
/9hnAfwTShxxdtEwHwYDVR0jBBgwFoAU/qw0t3bOBNuC/9hnAfwTShxxdtEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgJPi8+FtLSZ89VM+kuYqbHlygjk1YvFknhFL5REnYRtQCIC+p
wQWWSUzzQ8aL/ndZY0fUoFp8i0QsuVBNpVFCyRvc
-----END CERTIFICATE-----`,
};

test("mail: each usual mistake is named, in the server's own words where it refuses", async () => {
  const from = { PARLEY_SMTP_FROM: "Parley <parley@w.example>" };
  const plain = await mailServer();
  const [startTls, tls] = [
    await mailServer({ ...selfSigned, disabledCommands: [] }),
    await mailServer({ ...selfSigned, secure: true }),
  ];
  const strict = await mailServer({ authOptional: false });
  const [sender, recipient] = [
    await mailServer({
      onMailFrom: (_address, _session, done) => done(refuse(553, "Sender address rejected: not yours")),
    }),
    await mailServer({ onRcptTo: (_address, _session, done) => done(refuse(554, "Relay access denied")) }),
  ];
  const of = (url: string) => ({ ...from, PARLEY_SMTP_URL: url });
  await assertEach("mail", [
    ["right", of(`smtp://u:right@${strict}`), /accepted an email to admin@w\.example/],
    ["port", of(`smtp://${await closed()}`), /connection was refused.*Check host and port/],
    [
      "host",
      of("smtp://mail.nowhere.invalid"),
      /host name (does not exist|could not be resolved).*Check host/,
    ],
    [
      "TLS where there is none",
      of(`smtps://${plain}`),
      /port may not use TLS\. Use smtp:\/\/ instead of smtps/,
    ],
    ["certificate", of(`smtps://${tls}`), /certificate is self-signed.*NODE_EXTRA_CA_CERTS/],
    ["certificate of STARTTLS", of(`smtp://${startTls}`), /certificate is self-signed/],
    ["password", of(`smtp://u:wrong@${strict}`), /535 Invalid username or password.*Check the user name/],
    ["no password", of(`smtp://${strict}`), /530 .*Check the user name and password in PARLEY_SMTP_URL/],
    ["sender", of(`smtp://${sender}`), /refused the sender: .*553 Sender address.*PARLEY_SMTP_FROM/],
    ["recipient", of(`smtp://${recipient}`), /refused the recipient: .*554 Relay access denied\. .*sign in/],
  ]);
});

test("models: each usual mistake of a server behind OpenAI's protocol is named", async () => {
  const [speech, model] = [await startSpeechServer(), await startModelServer()];
  const wrongs = [
    [
      "model",
      await respond(404, { error: { message: "The model `nope` does not exist" } }),
      /`nope` does not exist/,
    ],
    [
      "key",
      await respond(401, { error: { message: "Incorrect key: secret-7" } }),
      /key \(401\)\. Check PARLEY_\w+_API_KEY/,
    ],
    [
      "path",
      await respond(404, "<html>nothing here</html>"),
      /no such URL or model \(404\)\. Check PARLEY_\w+_URL/,
    ],
    ["method", await respond(405, "Method Not Allowed"), /at this URL \(405\).*Check PARLEY_\w+_URL/],
    ["page", await respond(200, "<html>Welcome</html>"), /web page, not JSON.*PARLEY_\w+_URL/],
    ["port", `http://${await closed()}`, /ECONNREFUSED\): the connection was refused.*PARLEY_\w+_URL/],
    ["TLS", model.url.replace("http:", "https:"), /the port may not use TLS/],
  ] as const;
  for (const [kind, prefix, right, words] of [
    ["language_model", "PARLEY_LLM", model.url, /responded/],
    ["speech", "PARLEY_TRANSCRIPTION", speech.url, /transcribed a spoken sentence as “tone \d+/],
  ] as const)
    await assertEach(
      kind,
      [["right", right, words] as const, ...wrongs].map(([name, url, message]) => [
        name,
        { [`${prefix}_URL`]: url, [`${prefix}_API_KEY`]: "secret-7", [`${prefix}_MODEL`]: "nope" },
        message,
      ]),
    );
});

test("sign-in: each usual mistake with a provider is named", async () => {
  const provider = await startProvider(0, app.config.baseUrl);
  after(() => provider.close());
  const of = (issuer: string, own: SettingChanges = {}) => ({
    PARLEY_OIDC_ISSUER: issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: clientSecret,
    ...own,
  });
  const withSlash = await serve((request, response) =>
    reply(response, 200, { issuer: `http://${request.headers.host}/realm/` }),
  );
  await assertEach("sign_in", [
    ["right", of(provider.issuer), /accepts the redirect URI .* and the client secret/],
    [
      "slash",
      of(`${withSlash}/realm`),
      /PARLEY_OIDC_ISSUER is .*\/realm, but .* set PARLEY_OIDC_ISSUER to .*\/realm\//,
    ],
    [
      "discovery",
      of(`${provider.issuer}/realms/x`),
      /no OpenID configuration at .*status 404.*PARLEY_OIDC_ISSUER/,
    ],
    [
      "secret",
      of(provider.issuer, { PARLEY_OIDC_CLIENT_SECRET: "secret-wrong" }),
      /refuses the client .*PARLEY_OIDC_CLIENT_SECRET/,
    ],
    [
      "client",
      of(provider.issuer, { PARLEY_OIDC_CLIENT_ID: "nobody" }),
      /redirect URI \(status 400\); register .*sign-in\/callback for nobody/,
    ],
    ["port", of(`http://${await closed()}`), /connection was refused/],
    ["TLS", of(provider.issuer.replace("http:", "https:")), /the port may not use TLS/],
  ]);
});

test("backups: a folder is written to, read and emptied; one that can't be used is named", async () => {
  const folder = join(app.config.dataDir, "..", "backups-of-a-test");
  const file = join(app.config.dataDir, "..", "no-folder-of-a-test");
  await writeFile(file, "");
  after(() => Promise.all([folder, file].map((path) => rm(path, { recursive: true, force: true }))));
  await assertEach("backups", [
    ["right", { PARLEY_BACKUP_TO: folder }, /will not be encrypted: .* can read them\.$/],
    [
      "right",
      { PARLEY_BACKUP_TO: relative(process.cwd(), folder) },
      /Backups go to the folder \/.*backups-of-a-test of this server\. For a bucket, enter s3:/,
    ],
    ["file", { PARLEY_BACKUP_TO: join(file, "backups") }, /Backups can't be stored in .*ENOTDIR/],
    ["rights", { PARLEY_BACKUP_TO: "/proc/nowhere" }, /stored in \/proc\/nowhere: .*can't be used/],
  ]);
});

test("backups: each usual mistake with a bucket is named", async () => {
  const of = (endpoint: string) => ({
    PARLEY_BACKUP_TO: "s3://bucket/p",
    PARLEY_BACKUP_S3_ENDPOINT: endpoint,
    PARLEY_BACKUP_S3_KEY: "ID:secret-of-a-test",
  });
  const store = (status: number, code: string) =>
    serve((_request, response) => {
      response.writeHead(status, { "content-type": "application/xml" });
      response.end(`<Error><Code>${code}</Code><Message>Words</Message></Error>`);
    });
  await assertEach("backups", [
    ["bucket", of(await store(404, "NoSuchBucket")), /there is no bucket bucket at/],
    ["rights", of(await store(403, "AccessDenied")), /AccessDenied \(403\) Words: the key does not allow it/],
    ["region", of(await store(301, "PermanentRedirect")), /another region; use .*s3\.eu-west-1/],
    ["region", of(await store(400, "AuthorizationHeaderMalformed")), /another region/],
    ["page", of(await respond(200, "<html>")), /is no S3 store/],
    ["port", of(`http://${await closed()}`), /nothing responds at/],
  ]);
});

test("backups: a real bucket passes; a wrong key, a wrong bucket and TLS on its port are named", {
  skip: noS3Server,
}, async () => {
  const s3 = await startS3Server();
  if (s3 === null) return;
  after(() => s3.stop());
  const bucket = await s3.bucket();
  const of = (own: SettingChanges = {}) => ({
    PARLEY_BACKUP_TO: `s3://${bucket}/p`,
    PARLEY_BACKUP_S3_ENDPOINT: s3.endpoint,
    PARLEY_BACKUP_S3_KEY: `${s3.accessKeyId}:${s3.secretAccessKey}`,
    ...own,
  });
  await assertEach("backups", [
    ["right", of(), /written, read and deleted in s3:\/\//],
    ["bucket", of({ PARLEY_BACKUP_TO: "s3://no-such-bucket-7" }), /there is no bucket no-such-bucket-7/],
    ["secret", of({ PARLEY_BACKUP_S3_KEY: `${s3.accessKeyId}:wrong` }), /the secret access key is wrong/],
    ["key", of({ PARLEY_BACKUP_S3_KEY: "nobody:wrong" }), /the access key ID is unknown there/],
    ["TLS", of({ PARLEY_BACKUP_S3_ENDPOINT: s3.endpoint.replace("http:", "https:") }), /may not use TLS/],
  ]);
});

test("proxy: one that refuses or wants a password is named without its own", async () => {
  const proxy = async (status: number, word: string) => {
    const server = createServer((_request, response) => reply(response, status, word)).listen(0, "127.0.0.1");
    server.on("connect", (_request, socket) => socket.end(`HTTP/1.1 ${status} ${word}\r\n\r\n`));
    after(() => server.close());
    return `127.0.0.1:${await portOf(server)}`;
  };
  const of = (url: string) => ({ PARLEY_PROXY: url, PARLEY_LLM_URL: "https://models.example" });
  const [forbidding, asking] = [
    await proxy(403, "Forbidden"),
    await proxy(407, "Proxy Authentication Required"),
  ];
  // Only with https a refusal is the proxy's for sure.
  const plain = { PARLEY_LLM_URL: "http://models.example" };
  await assertEach("proxy", [
    ["refusal", of(`http://u:pass-7@${forbidding}`), new RegExp(`${forbidding} failed: .*status 403`)],
    [
      "password",
      of(`http://${asking}`),
      /does not accept the user name and password, or needs them \(status 407\)/,
    ],
    ["refusal of http", { ...of(`http://${forbidding}`), ...plain }, /was refused with status 403/],
    ["port", of(`http://${await closed()}`), /connection was refused/],
  ]);
});

test("a server that accepts connections and says nothing is named in bounded time, while requests are served", async () => {
  const silent = await hang();
  const tls = await mailServer({ ...selfSigned, secure: true });
  const mail = (url: string) => ({ PARLEY_SMTP_FROM: "parley@w.example", PARLEY_SMTP_URL: url });
  const client = { PARLEY_OIDC_CLIENT_ID: "parley", PARLEY_OIDC_CLIENT_SECRET: "secret-1" };
  const cases: readonly (readonly [Name, SettingChanges, RegExp])[] = [
    ["mail", mail(`smtp://${silent}`), /did not greet as mail servers do\. .*use smtps/],
    ["mail", mail(`smtp://${tls}`), /did not greet as mail servers do\. .*use smtps/],
    ["mail", mail(`smtps://${silent}`), /did not respond in time/],
    ["language_model", { PARLEY_LLM_URL: `http://${silent}` }, /did not respond within 2 s/],
    ["sign_in", { ...client, PARLEY_OIDC_ISSUER: `http://${silent}` }, /no response in time/],
    [
      "backups",
      {
        PARLEY_BACKUP_TO: "s3://bucket",
        PARLEY_BACKUP_S3_ENDPOINT: `http://${silent}`,
        PARLEY_BACKUP_S3_KEY: "i:k",
      },
      /no response for 9 seconds/,
    ],
    [
      "proxy",
      { PARLEY_PROXY: `http://${silent}`, PARLEY_LLM_URL: "https://models.example" },
      /passed on no response of models\.example within 15 s/,
    ],
  ];
  const startedAt = performance.now();
  let ended = 0;
  const results = cases.map(async ([kind, settings, expected]) => {
    const { passed, message, took_ms } = await run(kind, settings);
    const elapsedMs = performance.now() - startedAt;
    ended++;
    assert.equal(passed, false);
    assert.match(message, expected);
    assert.ok(took_ms >= 1900 && took_ms <= elapsedMs + 1 && elapsedMs < 30_000, `${kind}: ${took_ms} ms`);
  });
  assert.equal((await fetch(`${app.url}/healthz`)).status, 200);
  assert.equal(ended, 0, "requests wait for no test");
  await Promise.all(results);
});
