import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pino } from "pino";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { rulesOf } from "../../../people/accounts/security/rules.ts";
import { startMailServer } from "../../../people/accounts/test/mail.ts";
import type { Config } from "../../../platform/config/config.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { createLiveSettings } from "./live.ts";

const mail = await startMailServer();
after(() => mail.close());
const app = await startTestApp({ worker: false, env: { PARLEY_LLM_MODEL: "from-env" } });
const { db } = app;
const operator = await makeWorkspace(db, "Operator");
const other = await makeWorkspace(db, "Customer");

interface Shown {
  readonly name: string;
  readonly [key: string]: unknown;
}

const request = (method: string, path: string, body?: unknown, token = operator.admin.token) =>
  call(app, method, `/_/api/v1/system/settings${path}`, body, { version: null, token });
const change = (settings: Record<string, unknown>) => request("PATCH", "", { settings });
const read = async (name: string): Promise<Shown> => {
  const { body } = await request("GET", "");
  return body.settings.find((one: Shown) => one.name === name);
};

/** The language model server of a configuration. */
const serverOf = ({ languageModel }: Config) => (languageModel?.engine === "server" ? languageModel : null);

test("settings are listed with value, default, source and who changed them; a change is in force at once", async () => {
  assert.deepEqual(await read("PARLEY_RATE_LIMIT_PER_MINUTE").then(({ help, ...rest }) => rest), {
    name: "PARLEY_RATE_LIMIT_PER_MINUTE",
    section: "Limits and quotas",
    type: "whole number from 0 to 1000000000",
    default: "300",
    value: "0",
    is_secret: false,
    is_set: true,
    source: "environment",
    changed_by: null,
    changed_datetime: null,
  });
  const { status, body } = await change({
    PARLEY_STORAGE_PER_WORKSPACE: "500 GB",
    PARLEY_BACKUP_AT: "04:30",
  });
  assert.equal(status, 200);
  assert.equal(app.config.storageBytesPerWorkspace, 500e9);
  assert.equal(app.config.backup.atMinute, 270);
  const shown = body.settings.find(({ name }: Shown) => name === "PARLEY_STORAGE_PER_WORKSPACE");
  assert.deepEqual([shown.value, shown.source, shown.is_set], ["500 GB", "app", true]);
  assert.match(shown.changed_by, /@/);
  assert.ok(Date.now() - Date.parse(shown.changed_datetime) < 60_000);
  await change({ PARLEY_STORAGE_PER_WORKSPACE: null, PARLEY_BACKUP_AT: null });
  assert.deepEqual([app.config.storageBytesPerWorkspace, app.config.backup.atMinute], [null, 180]);
});

test("a change is all or nothing, with one violation for each bad value", async () => {
  const { status, body } = await change({
    PARLEY_BACKUP_AT: "25:00",
    PARLEY_MAX_DURATION: "soon",
    PARLEY_AUDIT_TTL: "2 d",
    PARLEY_BACKUP_ATT: "x",
  });
  assert.equal(status, 400);
  assert.deepEqual(
    body.violations.map(({ pointer }: { pointer: string }) => pointer),
    ["/settings/PARLEY_BACKUP_ATT", "/settings/PARLEY_BACKUP_AT", "/settings/PARLEY_MAX_DURATION"],
  );
  assert.match(body.violations[0].detail, /did you mean PARLEY_BACKUP_AT\?/);
  assert.equal(app.config.auditTtlMs, null);
  const lonely = await change({ PARLEY_SMTP_URL: mail.url });
  assert.deepEqual(lonely.body.violations, [
    { pointer: "/settings/PARLEY_SMTP_FROM", detail: "must be set together with PARLEY_SMTP_URL" },
  ]);
});

test("a setting of the environment is locked; one that only the environment takes is refused", async () => {
  assert.equal((await change({ PARLEY_LLM_MODEL: "mine", PARLEY_BACKUP_AT: "04:00" })).status, 409);
  const { status, body } = await change({ PARLEY_PORT: "80" });
  assert.equal(status, 400);
  assert.match(body.violations[0].detail, /can only be set in the environment/);
  assert.equal(app.config.backup.atMinute, 180);
});

test("a secret is stored encrypted and never returned, logged or audited", async () => {
  const url = "smtp://parley:geheim-7291@mail.example:587";
  const { body } = await change({ PARLEY_SMTP_URL: url, PARLEY_SMTP_FROM: "parley@w.example" });
  assert.equal(app.config.smtp?.url, url);
  const shown = body.settings.find(({ name }: Shown) => name === "PARLEY_SMTP_URL");
  assert.deepEqual([shown.value, shown.is_secret, shown.is_set], [null, true, true]);
  const { rows } = await db.pool.query(
    `select (select jsonb_agg(s)::text from settings s) || (select jsonb_agg(c)::text from setting_changes c)
       || (select jsonb_agg(a)::text from audit_log a) as all`,
  );
  const stored = `${JSON.stringify(body)}${rows[0].all}`;
  assert.ok(!stored.includes("geheim-7291") && !stored.includes(Buffer.from("geheim-7291").toString("hex")));
  assert.match(rows[0].all, /system_settings_changed/);
});

test("undo brings back what a setting was, a secret too, unless it was changed again since", async () => {
  const url = "smtp://parley:later@mail.example:587";
  await change({ PARLEY_SMTP_URL: url });
  const { body } = await request("GET", "/changes");
  const [latest, earlier] = body.changes;
  assert.deepEqual([latest.names, latest.can_undo, earlier.can_undo], [["PARLEY_SMTP_URL"], true, false]);
  assert.equal((await request("POST", `/changes/${earlier.id}/undo`)).status, 409);
  assert.equal((await request("POST", `/changes/${latest.id}/undo`)).status, 200);
  assert.match(app.config.smtp?.url ?? "", /geheim-7291/);
  assert.equal((await request("POST", `/changes/${latest.id}/undo`)).status, 409);
  const { rows } = await db.pool.query(
    "select details from audit_log where action = 'system_settings_changed' order by id desc limit 1",
  );
  assert.equal(rows[0].details.undo_of, latest.id);
  await change({ PARLEY_SMTP_URL: null, PARLEY_SMTP_FROM: null });
  assert.equal(app.config.smtp, null);
});

test("only admins of the operator's workspace see and change settings", async () => {
  for (const token of [other.admin.token, operator.member.token])
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { settings: { PARLEY_BACKUP_AT: "04:00" } }],
      ["POST", "/test", { test: "mail" }],
      ["GET", "/changes", undefined],
    ] as const)
      assert.equal((await request(method, path, body, token)).status, 403, `${method} ${path}`);
  assert.equal(app.config.backup.atMinute, 180);
});

test("another process follows a change; one that is not valid any more, or encrypted with another secret, is set aside", async () => {
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
  const follower = (secret: string | null) =>
    createLiveSettings(app.config, {
      db,
      encryptor: secret === null ? app.encryptor : createEncryptor(secret),
      log,
    });
  const process = follower(null);
  await change({
    PARLEY_BACKUP_AT: "05:00",
    PARLEY_LLM_API_KEY: "sk-1",
    PARLEY_LLM_URL: "http://model.example",
  });
  await process.follow();
  assert.equal(process.config.backup.atMinute, 300);
  assert.equal(serverOf(process.config)?.apiKey, "sk-1");
  await db.pool.query("update settings set value = 'never' where name = 'PARLEY_BACKUP_AT'");
  await process.follow();
  assert.deepEqual([process.config.backup.atMinute, serverOf(process.config)?.apiKey], [180, "sk-1"]);
  assert.match(warnings.join("\n"), /PARLEY_BACKUP_AT must be a time such as 03:00/);
  const stranger = follower("another secret of at least 32 characters");
  await stranger.follow();
  assert.deepEqual(
    [serverOf(stranger.config)?.apiKey, serverOf(stranger.config)?.url],
    [null, "http://model.example"],
  );
  assert.match(warnings.join("\n"), /PARLEY_LLM_API_KEY .*PARLEY_SECRET has changed/);
  // What is wrong already does not keep another setting from being changed.
  assert.equal((await change({ PARLEY_MAX_DURATION: "2 h" })).status, 200);
  await change({
    PARLEY_BACKUP_AT: null,
    PARLEY_LLM_API_KEY: null,
    PARLEY_LLM_URL: null,
    PARLEY_MAX_DURATION: null,
  });
});

test("a stored key is sent to no URL that it was not entered for, neither by a change, a test, nor an undo", async () => {
  const llm = "PARLEY_LLM_API_KEY";
  const key = { [llm]: "sk-of-a" };
  const [a, b] = ["http://127.0.0.1:9/v1", "http://127.0.0.1:7/v1"];
  assert.equal((await change({ PARLEY_LLM_URL: a, ...key })).status, 200);
  const refused = {
    pointer: `/settings/${llm}`,
    detail: "was entered for another PARLEY_LLM_URL. Enter the key again for the new address, or remove it",
  };
  const tested = await request("POST", "/test", { test: "language_model", settings: { PARLEY_LLM_URL: b } });
  assert.deepEqual(tested.body.violations, [refused]);
  assert.deepEqual((await change({ PARLEY_LLM_URL: b })).body.violations, [refused]);
  assert.deepEqual((await change({ PARLEY_LLM_URL: null })).body.violations, [refused]);
  assert.equal((await change({ PARLEY_LLM_URL: `${a}/` })).status, 200, "the same URL");

  const undoLatest = async () => {
    const [latest] = (await request("GET", "/changes")).body.changes;
    return request("POST", `/changes/${latest.id}/undo`, undefined);
  };
  assert.equal((await change({ PARLEY_LLM_URL: b, ...key })).status, 200);
  assert.equal((await undoLatest()).status, 200, "the key was entered for the former URL too");
  assert.deepEqual([serverOf(app.config)?.url, serverOf(app.config)?.apiKey], [a, "sk-of-a"]);

  assert.equal((await change({ [llm]: null })).status, 200);
  assert.equal((await change({ PARLEY_LLM_URL: b })).status, 200);
  const [, removal] = (await request("GET", "/changes")).body.changes;
  assert.deepEqual([removal.names, removal.can_undo], [[llm], false]);
  await change({ PARLEY_LLM_URL: null });

  const ofEnvironment = await startTestApp({ worker: false, env: { [llm]: "sk-of-env" } });
  const { admin } = await makeWorkspace(ofEnvironment.db, "Operator");
  const { body } = await call(
    ofEnvironment,
    "PATCH",
    "/_/api/v1/system/settings",
    { settings: { PARLEY_LLM_URL: b } },
    { version: null, token: admin.token },
  );
  assert.match(body.violations[0].detail, /set in the environment: change both there/);
});

test("a database that can't be read keeps the last values", async () => {
  const live = createLiveSettings(app.config, {
    db: { kysely: db.kysely },
    encryptor: app.encryptor,
    log: pino({ level: "silent" }),
  });
  await change({ PARLEY_BACKUP_AT: "06:00" });
  await live.follow();
  await db.pool.query("alter table settings rename to settings_away");
  await live.follow();
  assert.equal(live.config.backup.atMinute, 360);
  await db.pool.query("alter table settings_away rename to settings");
  await change({ PARLEY_BACKUP_AT: null });
});

test("a change that would lock users out is refused with the reason", async () => {
  const oidc = {
    PARLEY_OIDC_ISSUER: "http://127.0.0.1:9/",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "s",
  };
  assert.equal((await change(oidc)).status, 200);
  await db.pool.query("update users set password_hash = null where id = $1", [operator.member.id]);
  await db.pool.query("insert into identities (issuer, subject, user_id) values ('i', 's', $1)", [
    operator.member.id,
  ]);
  const off = await change(Object.fromEntries(Object.keys(oidc).map((name) => [name, null])));
  assert.match(off.body.violations[0].detail, /can't be removed: 1 user has no password/);
  const wrong = await change({ ...oidc, PARLEY_OIDC_ISSUER: "http://127.0.0.1:7/" });
  assert.match(wrong.body.violations[0].detail, /must be that of a provider that works: /);
  await db.pool.query("delete from identities");
  await db.pool.query("update users set password_hash = 'x' where workspace_id = $1", [other.id]);
  await db.pool.query("update workspaces set security_rules = $2 where id = $1", [
    other.id,
    { ...rulesOf(null), single_sign_on_only: true, break_glass_user_id: other.admin.id },
  ]);
  const { rows } = await db.pool.query("select 1 from users where workspace_id = $1", [other.id]);
  const ruled = await change(Object.fromEntries(Object.keys(oidc).map((name) => [name, null])));
  assert.match(
    ruled.body.violations[0].detail,
    new RegExp(
      `can't be removed: ${rows.length - 1} users? of workspaces with single sign-on only .*turn that rule off`,
    ),
  );
  await db.pool.query("update workspaces set security_rules = null");
  assert.equal((await change(Object.fromEntries(Object.keys(oidc).map((name) => [name, null])))).status, 200);
});

test("a test tries the values of the form, and says what is wrong in words that name the cause", async () => {
  const run = async (settings: Record<string, unknown>) =>
    (await request("POST", "/test", { test: "mail", settings })).body;
  const from = { PARLEY_SMTP_FROM: "parley@w.example" };
  const right = await run({ ...from, PARLEY_SMTP_URL: mail.url });
  assert.equal(right.passed, true, right.message);
  assert.match(right.message, /accepted an email to/);
  assert.ok(right.took_ms >= 0);
  const closed = await run({ ...from, PARLEY_SMTP_URL: "smtp://127.0.0.1:9" });
  assert.equal(closed.passed, false);
  assert.match(closed.message, /127\.0\.0\.1:9 can't be reached|can't be reached.*Check host and port/);
  assert.equal(
    (await request("POST", "/test", { test: "mail", settings: { PARLEY_SMTP_FROM: "x" } })).status,
    400,
  );
  assert.equal(app.config.smtp, null);
});
