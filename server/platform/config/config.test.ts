import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { testsOfSections } from "../../../contract/settings-tests.ts";
import {
  ConfigError,
  configOf,
  configWithout,
  parseSettings,
  readConfig,
  retiredSettings,
  sourceOf,
  unknownSettings,
  withNearest,
} from "./config.ts";
import { allSettings, type ListedSetting, sections, shownSettings } from "./settings.ts";
import { parseDuration, typeOf } from "./values.ts";

test("defaults: suit a fresh server and are frozen", () => {
  const config = readConfig({ PARLEY_DATA_DIR: "/tmp/x" }, "/tmp");
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.port, 3000);
  assert.equal(config.baseUrl, "http://localhost:3000");
  assert.equal(config.dataDir, "/tmp/x");
  assert.equal(config.databaseUrl, null);
  assert.equal(config.role, "all");
  assert.equal(config.rateLimitPerMinute, 300);
  assert.equal(config.pageSize, 50);
  assert.ok(Object.isFrozen(config));
});

test("the base URL follows the port and loses a trailing slash", () => {
  assert.equal(readConfig({ PARLEY_PORT: "8080" }, "/tmp").baseUrl, "http://localhost:8080");
  assert.equal(readConfig({ PARLEY_BASE_URL: "https://p.example/" }, "/tmp").baseUrl, "https://p.example");
});

test("the base URL is used as its origin, however it is written", () => {
  for (const [text, origin] of [
    ["HTTPS://Parley.Example.COM", "https://parley.example.com"],
    ["http://localhost:4827 ", "http://localhost:4827"],
    ["\thttps://p.example//\n", "https://p.example"],
    ["https://p.example:443/?", "https://p.example"],
    ["https://münchen.example:8443", "https://xn--mnchen-3ya.example:8443"],
    ["http://[::1]:3000", "http://[::1]:3000"],
  ] as const)
    assert.equal(readConfig({ PARLEY_BASE_URL: text }, "/tmp").baseUrl, origin, text);
});

test("a base URL with more than an origin is refused in one line that says what to set", () => {
  for (const [text, words] of [
    ["http://localhost:8089/parley", /nothing after the host.*set it to http:\/\/localhost:8089 and/],
    ["https://p.example/index.html", /set it to https:\/\/p\.example and/],
    ["https://p.example/?a=1", /nothing after the host/],
    ["https://p.example/#a", /nothing after the host/],
    [
      "https://user:pw@p.example",
      /must not contain a user name or password: set it to https:\/\/p\.example$/,
    ],
    ["https://user@p.example", /must not contain a user name/],
    ["ftp://p.example", /must be an http or https URL such as/],
    ["p.example:3000", /must be an http or https URL such as/],
    ["https://", /must be an http or https URL such as/],
  ] as const)
    assert.throws(
      () => readConfig({ PARLEY_BASE_URL: text }, "/tmp"),
      (error) => error instanceof ConfigError && words.test(error.message) && !/[;\n]|pw/.test(error.message),
      text,
    );
});

test("URLs of other servers are used as parsed; credentials that would not be sent are refused", () => {
  const config = readConfig(
    {
      PARLEY_S3_ENDPOINT: " HTTP://MinIO:9000/ ",
      PARLEY_LLM_URL: "https://Models.example/v1/ ",
      PARLEY_MODEL_MIRROR: "https://user:pw@mirror.example/speech/",
      PARLEY_DATABASE_URL: "postgres://db/parley\n",
      PARLEY_OIDC_ISSUER: " https://id.example/ ",
      PARLEY_OIDC_CLIENT_ID: "x",
      PARLEY_OIDC_CLIENT_SECRET: "y",
      PARLEY_SMTP_URL: "smtp://mail.example ",
      PARLEY_SMTP_FROM: "parley@example.com",
    },
    "/tmp",
  );
  assert.equal(config.s3Connection.endpoint, "http://minio:9000");
  assert.ok(config.languageModel?.engine === "server");
  assert.equal(config.languageModel.url, "https://models.example/v1");
  assert.equal(config.modelMirror, "https://user:pw@mirror.example/speech");
  assert.equal(config.databaseUrl, "postgres://db/parley");
  assert.equal(config.signInProviders[0]?.issuer, "https://id.example/");
  assert.equal(config.smtp?.url, "smtp://mail.example");
  for (const name of [
    "PARLEY_S3_ENDPOINT",
    "PARLEY_LLM_URL",
    "PARLEY_TRANSCRIPTION_URL",
    "PARLEY_OIDC_ISSUER",
  ])
    assert.throws(() => readConfig({ [name]: "https://user:pw@host.example" }, "/tmp"), /user name/, name);
});

test("an invalid setting gives one line that names it and its rule", () => {
  for (const [name, value] of [
    ["PARLEY_PORT", "http"],
    ["PARLEY_PORT", "0"],
    ["PARLEY_PORT", "70000"],
    ["PARLEY_BASE_URL", "parley.example"],
    ["PARLEY_DATABASE_URL", "mysql://x"],
    ["PARLEY_DATABASE_DIRECT_URL", "postgres://db/parley"],
    ["PARLEY_ROLE", "boss"],
    ["PARLEY_RATE_LIMIT_PER_MINUTE", "-1"],
    ["PARLEY_PAGE_SIZE", "0"],
    ["PARLEY_SWEEP_INTERVAL", "soon"],
    ["PARLEY_STALE_UPLOAD_TTL", "0s"],
    ["PARLEY_STORAGE", "tape"],
    ["PARLEY_STORAGE", "s3"],
    ["PARLEY_S3_ENDPOINT", "minio:9000"],
    ["PARLEY_S3_FORCE_PATH_STYLE", "maybe"],
    ["PARLEY_S3_PREFIX", "/parley"],
    ["PARLEY_S3_PREFIX", "a//b"],
    ["PARLEY_S3_PREFIX", "a/../b"],
    ["PARLEY_S3_PREFIX", "a b"],
    ["PARLEY_SECRET", "too short"],
    ["PARLEY_UPLOAD_URL_TTL", "1 day"],
    ["PARLEY_MAX_DURATION", "9s"],
    ["PARLEY_MAX_UPLOAD_BYTES", "4294967297"],
    ["PARLEY_TRANSCRIPTION_URL", "localhost:8080"],
    ["PARLEY_LLM_URL", "localhost:8080"],
    ["PARLEY_LLM_CONTEXT_TOKENS", "1000"],
    ["PARLEY_LLM_MAX_TOKENS_PER_DAY", "0"],
    ["PARLEY_LLM_TIMEOUT", "soon"],
    ["PARLEY_VERSION_STATUS", "2025-10-31=sunseting"],
    ["PARLEY_VERSION_STATUS", "2024-01-01=retired"],
    ["PARLEY_VERSION_STATUS", "2025-10-31=sunsetting@soon"],
    ["PARLEY_VERSION_STATUS", "2025-10-31=deprecated@2027-03-01"],
    ["PARLEY_AUDIT_TTL", "2h"],
    ["PARLEY_TRUSTED_PROXIES", "10.0.0.0/33"],
    ["PARLEY_TRUSTED_PROXIES", "10.1"],
    ["PARLEY_TRUSTED_PROXIES", "proxy.example"],
    ["PARLEY_TRUSTED_PROXIES", "0.0.0.0/0"],
  ] as const) {
    assert.throws(
      () => readConfig({ [name]: value }, "/tmp"),
      (error) =>
        error instanceof ConfigError && error.message.includes(name) && !error.message.includes("\n"),
      `${name}=${value}`,
    );
  }
});

test("proxy variables are checked as settings are", () => {
  readConfig({ HTTPS_PROXY: "proxy.example:3128", http_proxy: "https://user:pw@proxy.example" }, "/tmp");
  assert.throws(
    () => readConfig({ PARLEY_PORT: "0", HTTPS_PROXY: "socks5://user:pw@proxy.example" }, "/tmp"),
    ({ message }: Error) =>
      /PARLEY_PORT.*; HTTPS_PROXY must be the URL of an HTTP proxy/.test(message) && !message.includes("pw"),
  );
  readConfig({ HTTPS_PROXY: "http://user:100%25@proxy.example" }, "/tmp");
  assert.throws(
    () => readConfig({ HTTPS_PROXY: "http://user:100%@proxy.example" }, "/tmp"),
    /HTTPS_PROXY has a % in its user name or password that encodes nothing: write it as %25/,
  );
});

test("S3: the bucket is required, a custom endpoint means path style, and links last a week at most", () => {
  const s3 = { PARLEY_STORAGE: "s3", PARLEY_S3_BUCKET: "meetings" };
  assert.equal(readConfig({}, "/tmp").s3, null);
  assert.deepEqual(readConfig({ ...s3, AWS_REGION: "eu-central-1" }, "/tmp").s3, {
    bucket: "meetings",
    endpoint: null,
    region: "eu-central-1",
    forcePathStyle: false,
    prefix: null,
  });
  const own = readConfig({ ...s3, PARLEY_S3_ENDPOINT: "http://minio:9000/" }, "/tmp").s3;
  assert.deepEqual(own, {
    bucket: "meetings",
    endpoint: "http://minio:9000",
    region: "us-east-1",
    forcePathStyle: true,
    prefix: null,
  });
  assert.throws(() => readConfig({ PARLEY_STORAGE: "s3" }, "/tmp"), /PARLEY_S3_BUCKET/);
  assert.throws(() => readConfig({ ...s3, PARLEY_UPLOAD_URL_TTL: "8d" }, "/tmp"), /PARLEY_UPLOAD_URL_TTL/);
  assert.equal(readConfig({ PARLEY_UPLOAD_URL_TTL: "8d" }, "/tmp").uploadUrlTtlMs, 8 * 86_400_000);
});

test("S3: the prefix always ends with one slash", () => {
  for (const [text, prefix] of [
    ["parley", "parley/"],
    ["team-a/parley_1.x=y//", "team-a/parley_1.x=y/"],
    ["...", ".../"],
  ]) {
    const env = { PARLEY_STORAGE: "s3", PARLEY_S3_BUCKET: "shared", PARLEY_S3_PREFIX: text };
    assert.equal(readConfig(env, "/tmp").s3?.prefix, prefix);
  }
});

test("schemes of redirect URIs: editors by default, none, or any but those of browsers and systems", () => {
  const read = (value?: string) =>
    readConfig(value === undefined ? {} : { PARLEY_OAUTH_REDIRECT_SCHEMES: value }, "/srv")
      .oauthRedirectSchemes;
  assert.deepEqual(read(), ["cursor", "vscode", "vscode-insiders"]);
  assert.deepEqual(read("none"), []);
  assert.deepEqual(read("cursor, windsurf"), ["cursor", "windsurf"]);
  for (const wrong of [
    "javascript",
    "cursor,data",
    "file",
    "http",
    "https",
    "httpx",
    "ms-settings",
    "a:b",
    "A",
    "*",
  ])
    assert.throws(
      () => read(wrong),
      /PARLEY_OAUTH_REDIRECT_SCHEMES must be none, or comma-separated schemes/,
      wrong,
    );
});

test("several invalid settings are named in one line", () => {
  assert.throws(() => readConfig({ PARLEY_PORT: "x", PARLEY_ROLE: "y" }, "/tmp"), /PARLEY_PORT.*PARLEY_ROLE/);
});

test("version statuses: several versions, with a date for sunsetting", () => {
  const { versionStatus } = readConfig(
    { PARLEY_VERSION_STATUS: "2025-10-31=sunsetting@2027-03-01, 2026-10-01=current" },
    "/tmp",
  );
  assert.deepEqual(versionStatus.get("2025-10-31"), { status: "sunsetting", sunsetOn: "2027-03-01" });
  assert.deepEqual(versionStatus.get("2026-10-01"), { status: "current" });
});

test("durations are read in ms, s, m, h and d; other units and negative ones are refused", () => {
  assert.deepEqual(["250ms", "90s", "1.5m", "24h", "7d", "5", "", "1w", "-1s"].map(parseDuration), [
    250,
    90_000,
    90_000,
    86_400_000,
    604_800_000,
    null,
    null,
    null,
    null,
  ]);
});

test("an unknown PARLEY_ variable is reported", () => {
  assert.deepEqual(unknownSettings({ PARLEY_PROT: "1", PARLEY_PORT: "1", PATH: "" }), ["PARLEY_PROT"]);
  assert.deepEqual(unknownSettings({ PARLEY_URL: "1", PARLEY_TOKEN: "1", PARLEY_IMPORT_TOKEN: "1" }), []);
});

test("watched folders are absolute folders or prefixes of buckets, with a workspace if there are several", () => {
  const read = (PARLEY_WATCH_DIRS: string) => readConfig({ PARLEY_WATCH_DIRS }, "/work").watchDirs;
  const id = "0198C2F4-7a31-7cc2-9d52-3f0f7f3c9a11";
  assert.deepEqual(read(` /mnt/zoom/ , ${id}=/mnt/a=b,s3://recordings/in/coming/`), [
    { location: "/mnt/zoom", workspaceId: null },
    { location: "/mnt/a=b", workspaceId: id.toLowerCase() },
    { location: "s3://recordings/in/coming", workspaceId: null },
  ]);
  for (const [text, words] of [
    ["relative", /PARLEY_WATCH_DIRS has relative, which is none of \/absolute\/folder/],
    ["s3://recordings", /has s3:\/\/recordings, which is none of/],
    ["s3://recordings/../in", /is none of/],
    ["/mnt/a,/mnt/a/b", /has \/mnt\/a\/b twice, or within \/mnt\/a/],
    [`${id.replace("0198", "zzzz")}=/mnt/a`, /is none of/],
  ] as const)
    assert.throws(() => read(text), words);
});

function docsLine(setting: ListedSetting): string {
  const shown = setting.shownDefault ?? (setting.default ? `\`${setting.default}\`` : "none");
  return `| \`${setting.name}\` | ${shown} | ${setting.meaning} |\n`;
}

test("docs/operations/settings.md lists every setting in its section", () => {
  const file = fileURLToPath(new URL("../../../docs/operations/settings.md", import.meta.url));
  const page = readFileSync(file, "utf8");
  let wanted = page;
  for (const section of Object.keys(sections)) {
    const start = `## ${section}\n\n| Setting | Default | Meaning |\n| --- | --- | --- |\n`;
    const [before, after, ...more] = wanted.split(start);
    assert.ok(before !== undefined && after !== undefined && more.length === 0, `one table of ${section}`);
    const lines = shownSettings.filter((setting) => setting.section === section).map(docsLine);
    wanted = before + start + lines.join("") + after.replace(/^(?:\|.*\n)*/, "");
  }
  if (process.env.UPDATE_DOCS) writeFileSync(file, wanted);
  else assert.equal(page, wanted, "run UPDATE_DOCS=1 npm test server/platform/config");
  for (const { name } of allSettings.filter(({ isRetired }) => isRetired))
    assert.ok(page.includes(`\`${name}\``), name);
});

test("each section with a test exists", () => {
  for (const section of Object.keys(testsOfSections)) assert.ok(Object.hasOwn(sections, section), section);
});

test("at most 60 settings are shown; each has a name of its own and is known", () => {
  const names = allSettings.map(({ name }) => name);
  assert.ok(shownSettings.length <= 60, `${shownSettings.length} settings`);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(unknownSettings(Object.fromEntries(names.map((name) => [name, "1"]))), []);
});

test("settings with a key, token, password or URL with credentials are marked as secrets", () => {
  for (const { name, kind, isSecret } of allSettings) {
    const takesPassword = ["https", "postgres", "smtp"].some(
      (scheme) => /_(?:URL|MIRROR)$/.test(name) && kind.safeParse(`${scheme}://user:password@host`).success,
    );
    if (takesPassword || /_(?:KEY|SECRET|TOKEN|PASSPHRASE)$/.test(name)) assert.ok(isSecret, name);
  }
});

test("a misspelled setting is named with the nearest right one; a retired one still counts", () => {
  assert.equal(withNearest("PARLEY_PROT"), "PARLEY_PROT (did you mean PARLEY_PORT?)");
  assert.equal(withNearest("PARLEY_SMPT_URL"), "PARLEY_SMPT_URL (did you mean PARLEY_SMTP_URL?)");
  assert.equal(withNearest("PARLEY_SOMETHING_ELSE"), "PARLEY_SOMETHING_ELSE");
  const env = { PARLEY_PAGE_SIZE: "7", PARLEY_PORT: "1" };
  assert.equal(readConfig(env, "/tmp").pageSize, 7);
  assert.deepEqual(retiredSettings(env), [
    "PARLEY_PAGE_SIZE still counts, but nobody has to set it any more; consider removing it",
  ]);
  assert.deepEqual(retiredSettings({ PARLEY_OIDC_CREATE_USERS: "true" }), [
    "PARLEY_OIDC_CREATE_USERS still counts; new installations set it in PARLEY_OIDC_PROVIDERS",
  ]);
});

test("the environment counts before the file, and the file before the app", () => {
  const find = (name: string) => {
    const setting = allSettings.find((one) => one.name === name);
    assert.ok(setting !== undefined);
    return setting;
  };
  const sources = {
    env: { PARLEY_LLM_MODEL: "from-env", PARLEY_LLM_URL: "http://localhost:1" },
    file: { PARLEY_LLM_MODEL: "from-file", PARLEY_RATE_LIMIT_PER_MINUTE: "5" },
    cwd: "/tmp",
  };
  const app = {
    PARLEY_LLM_MODEL: "from-app",
    PARLEY_RATE_LIMIT_PER_MINUTE: "6",
    PARLEY_BACKUP_AT: "04:00",
    // Only the environment sets where to listen.
    PARLEY_PORT: "9",
  };
  const config = configOf(sources, app);
  assert.deepEqual(
    [config.languageModel?.model, config.rateLimitPerMinute, config.backup.atMinute, config.port],
    ["from-env", 5, 240, 3000],
  );
  assert.deepEqual(
    ["PARLEY_LLM_MODEL", "PARLEY_RATE_LIMIT_PER_MINUTE", "PARLEY_BACKUP_AT", "PARLEY_PORT"].map((name) =>
      sourceOf(find(name), sources, app),
    ),
    ["environment", "file", "app", "default"],
  );
});

test("a setting of the app that is not valid any more is set aside, and the others count", () => {
  const sources = { env: { PARLEY_OIDC_ISSUER: "" }, file: null, cwd: "/tmp" };
  const { config, ignored } = configWithout(sources, {
    PARLEY_BACKUP_AT: "25:00",
    PARLEY_SMTP_URL: "smtp://mail.example",
    PARLEY_RATE_LIMIT_PER_MINUTE: "6",
  });
  assert.deepEqual(
    ignored.map(({ name }) => name),
    ["PARLEY_BACKUP_AT", "PARLEY_SMTP_URL"],
  );
  assert.deepEqual([config.rateLimitPerMinute, config.smtp], [6, null]);
});

test("a file of settings is JSON of known names; its mistakes are named without its values", () => {
  assert.deepEqual(parseSettings('{"PARLEY_PORT": 80, "PARLEY_OIDC_CREATE_USERS": true}'), {
    PARLEY_PORT: "80",
    PARLEY_OIDC_CREATE_USERS: "true",
  });
  for (const [text, words] of [
    ['{"PARLEY_SMTP_URL": "smtp://a:secret', /^is not valid JSON$/],
    ["[]", /must be a JSON object/],
    ['{"PARLEY_SMPT_URL": "smtp://a:secret@b"}', /unknown settings: PARLEY_SMPT_URL \(did you mean/],
  ] as const)
    assert.throws(
      () => parseSettings(text),
      ({ message }: Error) => words.test(message) && !message.includes("secret"),
    );
  assert.throws(
    () => readConfig({ PARLEY_SETTINGS_FILE: "/nowhere/settings.json" }, "/tmp"),
    /PARLEY_SETTINGS_FILE \/nowhere\/settings.json can't be read/,
  );
});

test("each setting says what it takes", () => {
  const types = new Map<string, string>(allSettings.map(({ name, kind }) => [name, typeOf(kind)]));
  assert.deepEqual(
    [
      "MAX_DURATION",
      "STORAGE_PER_WORKSPACE",
      "MAX_UPLOAD_BYTES",
      "OIDC_CREATE_USERS",
      "LOG_LEVEL",
      "SMTP_URL",
    ].map((name) => types.get(`PARLEY_${name}`)),
    ["duration", "bytes", "bytes", "true | false", "trace | debug | info | warn | error | silent", "text"],
  );
  assert.equal(types.get("PARLEY_RATE_LIMIT_PER_MINUTE"), "whole number from 0 to 1000000000");
});
