import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, readConfig } from "../config.ts";
import { passwordFault } from "./password-rules.ts";

const read = (env: Record<string, string>) => readConfig(env, "/tmp");

test("settings of mail and single sign-on: nothing by default, all of them together", () => {
  assert.deepEqual([read({}).smtp, read({}).singleSignOn], [null, null]);
  const config = read({
    PARLEY_SMTP_URL: "smtps://user:word@mail.example:465",
    PARLEY_SMTP_FROM: "Parley <parley@example.com>",
    PARLEY_OIDC_ISSUER: "https://id.example/realms/a",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "hush",
    PARLEY_OIDC_CREATE_USERS: "true",
  });
  assert.equal(config.smtp?.from, "Parley <parley@example.com>");
  assert.deepEqual(config.singleSignOn, {
    issuer: "https://id.example/realms/a",
    clientId: "parley",
    clientSecret: "hush",
    name: "single sign-on",
    createUsers: true,
    trustEmail: false,
  });
});

test("settings of mail and single sign-on: a wrong or a lonely one stops the start by name, without its value", () => {
  for (const [env, reason] of [
    [{ PARLEY_SMTP_URL: "https://mail.example" }, /PARLEY_SMTP_URL must be an address such as smtp/],
    [
      { PARLEY_SMTP_URL: "smtp://u:hush-hush@mail.example" },
      /PARLEY_SMTP_FROM must be set together with PARLEY_SMTP_URL/,
    ],
    [{ PARLEY_SMTP_FROM: "nobody" }, /PARLEY_SMTP_FROM must be an email address/],
    [{ PARLEY_OIDC_ISSUER: "http://id.example" }, /PARLEY_OIDC_ISSUER must be the https address/],
    [
      { PARLEY_OIDC_CLIENT_SECRET: "hush-hush" },
      /PARLEY_OIDC_ISSUER must be set.*PARLEY_OIDC_CLIENT_ID must be set/,
    ],
    [{ PARLEY_OIDC_CREATE_USERS: "perhaps" }, /PARLEY_OIDC_CREATE_USERS must be one of/],
  ] as const)
    assert.throws(
      () => read({ ...env }),
      (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, reason);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
});

test("passwords: long enough, not endless, not the email, none that everybody tries first", () => {
  const email = "ines.vidal@example.com";
  for (const [bad, reason] of [
    ["short", /at least 10/],
    ["nine char", /at least 10/],
    ["🦆🦆🦆🦆🦆🦆🦆🦆🦆", /at least 10/],
    ["é".repeat(501), /at most 1000 bytes/],
    ["Ines.Vidal@Example.com", /email/],
    ["Password123", /first that anybody/],
    [" qwertyuiop ", /first that anybody/],
    ["１２３４５６７８９０", /first that anybody/],
    ["abababababab", /first that anybody/],
  ] as const)
    assert.match(passwordFault(bad, email) ?? "taken", reason, bad);
  for (const good of ["a heron at low tide", "пароль из птиц", "xK9#mQ2$vL", "hêron ".repeat(142)])
    assert.equal(passwordFault(good, email), null, good);
});
