import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, readConfig } from "../../../platform/config/config.ts";
import { passwordProblem, passwordProblems } from "../sign-in/password-rules.ts";

const read = (env: Record<string, string>) => readConfig(env, "/tmp");
const oidcOf = (issuer: string) => ({
  PARLEY_OIDC_ISSUER: issuer,
  PARLEY_OIDC_CLIENT_ID: "parley",
  PARLEY_OIDC_CLIENT_SECRET: "hush",
});

test("email and single sign-on settings: unset by default, valid only together", () => {
  assert.deepEqual([read({}).smtp, read({}).signInProviders], [null, []]);
  const config = read({
    PARLEY_SMTP_URL: "smtps://user:word@mail.example:465",
    PARLEY_SMTP_FROM: "Parley <parley@example.com>",
    PARLEY_OIDC_ISSUER: "https://id.example/realms/a",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "hush",
    PARLEY_OIDC_CREATE_USERS: "true",
  });
  assert.equal(config.smtp?.from, "Parley <parley@example.com>");
  assert.deepEqual(config.signInProviders, [
    {
      id: "default",
      issuer: "https://id.example/realms/a",
      clientId: "parley",
      clientSecret: "hush",
      name: "single sign-on",
      createUsers: true,
      trustEmail: false,
      scopes: [],
      allowedDomains: [],
      groupsClaim: null,
      groups: [],
    },
  ]);
});

test("email and single sign-on settings: an invalid or incomplete one fails the start with its name, not its value", () => {
  for (const [env, reason] of [
    [{ PARLEY_SMTP_URL: "https://mail.example" }, /PARLEY_SMTP_URL must be a URL such as smtp/],
    [
      { PARLEY_SMTP_URL: "smtp://u:hush-hush@mail.example" },
      /PARLEY_SMTP_FROM must be set together with PARLEY_SMTP_URL/,
    ],
    [{ PARLEY_SMTP_FROM: "nobody" }, /PARLEY_SMTP_FROM must be an email address/],
    [{ PARLEY_OIDC_ISSUER: "http://id.example" }, /PARLEY_OIDC_ISSUER must be the https URL/],
    [
      { PARLEY_OIDC_CLIENT_SECRET: "hush-hush" },
      /PARLEY_OIDC_ISSUER must be set.*PARLEY_OIDC_CLIENT_ID must be set/,
    ],
    ...[
      "https://login.microsoftonline.com/common/v2.0",
      "https://login.microsoftonline.com/Organizations/v2.0",
      "https://login.microsoftonline.us/consumers/v2.0",
      "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
      "https://sts.windows.net/{tenantid}/",
      "https://accounts.google.com",
    ].map(
      (issuer) =>
        [
          { ...oidcOf(issuer), PARLEY_OIDC_TRUST_EMAIL: "true" } as Record<string, string>,
          /PARLEY_OIDC_TRUST_EMAIL can't be true for https:.*: .* (?:shared|every tenant)/,
        ] as const,
    ),
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

test("emails without proof can be trusted from an issuer of one tenant", () => {
  const tenant = "https://login.microsoftonline.com/5b0c1a52-8f4e-4d0f-9a59-0e7c2a3f7d10/v2.0";
  assert.equal(
    read({ ...oidcOf(tenant), PARLEY_OIDC_TRUST_EMAIL: "true" }).signInProviders[0]?.trustEmail,
    true,
  );
  assert.equal(read(oidcOf("https://accounts.google.com")).signInProviders[0]?.trustEmail, false);
});

test("passwords: refused when too short, too long, the email or common", () => {
  const email = "ines.vidal@example.com";
  for (const [bad, reason] of [
    ["short", /at least 10/],
    ["nine char", /at least 10/],
    ["🦆🦆🦆🦆🦆🦆🦆🦆🦆", /at least 10/],
    ["é".repeat(501), /at most 1000 bytes/],
    ["Ines.Vidal@Example.com", /email/],
    ["Password123", /too easy to guess/],
    [" qwertyuiop ", /too easy to guess/],
    ["１２３４５６７８９０", /too easy to guess/],
    ["abababababab", /too easy to guess/],
  ] as const) {
    const problem = passwordProblem(bad, email);
    assert.match(problem === null ? "taken" : passwordProblems[problem], reason, bad);
  }
  for (const good of ["a heron at low tide", "пароль из птиц", "xK9#mQ2$vL", "hêron ".repeat(142)])
    assert.equal(passwordProblem(good, email), null, good);
});
