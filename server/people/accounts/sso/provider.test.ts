import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { checkProvider } from "./check-provider.ts";
import { ProviderSettingsError } from "./provider.ts";
import { openSingleSignOn } from "./single-sign-on.ts";

/** How the provider of a test differs from a plain one. */
interface Quirks {
  /** `token_endpoint_auth_methods_supported`; null: not listed. */
  readonly lists?: readonly string[] | null;
  /** The only method that the token endpoint accepts. */
  readonly accepts?: "basic" | "post" | "none";
  readonly claims?: object;
  readonly userInfo?: object;
  readonly signsUserInfo?: boolean;
  readonly redirectUri?: string;
  readonly refusal?: string;
  readonly sendsCode?: boolean;
  /** Sends metadata without end, and counts its bytes. */
  readonly endless?: (bytes: number) => void;
}

const baseUrl = "http://parley.test";
const secret = "s3cret+/=&: %";
const encryptor = createEncryptor("x".repeat(32));
let quirks: Quirks = {};
/** Authentication of the requests to the token endpoint. */
let seen: string[] = [];
let nonce = "";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** Without a signature: it comes from the provider itself. */
const token = (claims: object): string => `${part({ alg: "RS256" })}.${part(claims)}.AA`;

function methodOf(request: IncomingMessage, form: URLSearchParams): string {
  const [, basic = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  const [, encoded = ""] = Buffer.from(basic, "base64").toString().split(":");
  if (decodeURIComponent(encoded.replaceAll("+", " ")) === secret) return "basic";
  return form.get("client_secret") === secret ? "post" : "none";
}

const server = createServer(async (request, response) => {
  const send = (body: object | string, status = 200, type = "application/json") => {
    response.writeHead(status, { "content-type": type });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
  const url = new URL(request.url ?? "", origin);
  const form = new URLSearchParams(await text(request));
  if (url.pathname === "/realm/.well-known/openid-configuration" && quirks.endless !== undefined) {
    const chunk = "x".repeat(64 * 1024);
    response.on("error", () => undefined);
    const write = (): void => {
      if (response.destroyed) return;
      quirks.endless?.(chunk.length);
      if (response.write(chunk)) setImmediate(write);
      else response.once("drain", write);
    };
    response.write('{"x":"');
    return write();
  }
  if (url.pathname === "/realm/.well-known/openid-configuration")
    return send({
      issuer: `${origin}/realm/`,
      ...Object.fromEntries(
        ["authorization", "token", "userinfo"].map((name) => [`${name}_endpoint`, `${origin}/${name}`]),
      ),
      jwks_uri: `${origin}/jwks`,
      response_types_supported: ["code"],
      id_token_signing_alg_values_supported: ["RS256"],
      ...(quirks.lists === null
        ? {}
        : { token_endpoint_auth_methods_supported: quirks.lists ?? ["client_secret_basic"] }),
    });
  if (url.pathname === "/authorization") {
    if (url.searchParams.get("redirect_uri") !== (quirks.redirectUri ?? `${baseUrl}/sign-in/callback`))
      return send("unregistered", 400, "text/html");
    const back = new URL(url.searchParams.get("redirect_uri") ?? "");
    if (quirks.sendsCode) back.searchParams.set("code", "code");
    else back.searchParams.set("error", quirks.refusal ?? "login_required");
    response.writeHead(303, { location: back.href });
    return response.end();
  }
  if (url.pathname === "/token") {
    const method = methodOf(request, form);
    seen.push(method);
    if (method !== (quirks.accepts ?? "basic")) return send({ error: "invalid_client" }, 401);
    if (form.get("code") !== "code") return send({ error: "invalid_grant" }, 400);
    const now = Math.floor(Date.now() / 1000);
    const id = { iss: `${origin}/realm/`, sub: "u1", aud: "parley", iat: now, exp: now + 60, nonce };
    return send({
      refresh_token: null,
      access_token: "at",
      token_type: "Bearer",
      id_token: token({ ...id, ...quirks.claims }),
    });
  }
  if (url.pathname === "/userinfo") {
    const info = { sub: "u1", ...quirks.userInfo };
    return quirks.signsUserInfo ? send(token(info), 200, "application/jwt") : send(info);
  }
  return send({}, 404);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => server.close());

const settings: SignInProvider = {
  id: "default",
  issuer: `${origin}/realm/`,
  clientId: "parley",
  clientSecret: secret,
  name: "ID",
  createUsers: false,
  trustEmail: false,
  scopes: [],
  allowedDomains: [],
  groupsClaim: null,
  groups: [],
};

/** Signs in at a provider with these quirks. */
async function signIn(differences: Quirks, options: Partial<typeof settings> = {}) {
  quirks = differences;
  seen = [];
  const singleSignOn = openSingleSignOn({ ...settings, ...options }, { baseUrl, encryptor });
  const { location, cookie } = await singleSignOn.start("/", null);
  nonce = location.searchParams.get("nonce") ?? "";
  const { identity } = await singleSignOn.finish(
    `?code=code&state=${location.searchParams.get("state")}`,
    cookie,
  );
  return identity;
}

const email = "ada@example.com";
const verified = { email, email_verified: true };

test("single sign-on: the client secret is sent by a method that the provider lists and accepts", async () => {
  const both = ["client_secret_basic", "client_secret_post"];
  for (const [lists, accepts, sent] of [
    [["client_secret_basic"], "basic", ["basic"]],
    [["client_secret_post", "private_key_jwt"], "post", ["post"]],
    [both, "post", ["post"]],
    [both, "basic", ["post", "basic"]],
    [null, "basic", ["basic"]],
    [null, "post", ["basic", "post"]],
  ] as const) {
    assert.equal((await signIn({ lists, accepts, claims: verified })).email, email);
    assert.deepEqual(seen, sent);
  }
});

test("single sign-on: a method, secret or issuer that doesn't fit is an error that names it, for users and doctor", async () => {
  const { issuer } = settings;
  const withoutSlash = issuer.slice(0, -1);
  for (const [differences, options, words] of [
    [{ lists: ["private_key_jwt"] }, {}, /accepts only private_key_jwt at its token endpoint/],
    [
      { accepts: "none" },
      {},
      /refuses the client .*check PARLEY_OIDC_CLIENT_ID and PARLEY_OIDC_CLIENT_SECRET/,
    ],
    [
      {},
      { issuer: withoutSlash },
      new RegExp(`PARLEY_OIDC_ISSUER is ${withoutSlash}, but .* ${issuer}; set`),
    ],
    [{}, { issuer: `${origin}/other` }, /no OpenID configuration at .*\/other.* \(status 404\)/],
  ] as const) {
    const isRight = (error: unknown) => error instanceof ProviderSettingsError && words.test(error.message);
    await assert.rejects(signIn(differences, options), isRight, String(words));
    await assert.rejects(checkProvider({ ...settings, ...options }, baseUrl), isRight, String(words));
  }
  await assert.rejects(
    checkProvider({ ...settings, issuer: "http://127.0.0.1:9/" }, baseUrl),
    /ECONNREFUSED|bad port/,
  );
});

test("single sign-on: a response of a provider that doesn't end is refused after 1 MB", async () => {
  let sent = 0;
  quirks = { endless: (bytes) => (sent += bytes) };
  await assert.rejects(checkProvider(settings, baseUrl), /responded with more than 1048576 bytes/);
  // The rest is what buffers hold.
  assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes were sent`);
});

test("single sign-on: email and its verification are found in ID token or userinfo, in any form", async () => {
  const own = { email };
  for (const [claims, userInfo, isVerified] of [
    [verified, {}, true],
    [own, verified, true],
    [own, { email_verified: "true" }, true],
    [{}, verified, true],
    [{}, { email, email_verified: 1 }, true],
    [{ email, email_verified: "1" }, {}, true],
    [own, { email, email_verified: false }, false],
    [{ email, email_verified: "false" }, verified, false],
    [{ email, email_verified: 0 }, {}, false],
    [own, own, null],
  ] as const)
    for (const signsUserInfo of [false, true]) {
      const identity = await signIn({ claims, userInfo, signsUserInfo });
      assert.deepEqual(
        [identity.email, identity.isEmailVerified],
        [email, isVerified],
        JSON.stringify([claims, userInfo, signsUserInfo]),
      );
    }
  // The verification of one email says nothing about another.
  const other = await signIn({ claims: own, userInfo: { email: "eve@example.com", email_verified: true } });
  assert.deepEqual([other.email, other.isEmailVerified], ["eve@example.com", true]);
  assert.equal((await signIn({ claims: own, userInfo: own }, { trustEmail: true })).isEmailVerified, true);
  const refused = await signIn({ claims: { email, email_verified: false } }, { trustEmail: true });
  assert.equal(refused.isEmailVerified, false);
});

test("single sign-on: doctor finds out whether redirect URI and client secret are accepted", async () => {
  quirks = {};
  assert.equal(
    await checkProvider(settings, baseUrl),
    `accepts the redirect URI ${baseUrl}/sign-in/callback and the client secret (client_secret_basic)`,
  );
  quirks = { sendsCode: true };
  assert.match(await checkProvider(settings, baseUrl), /and takes the client secret by client_secret_basic$/);
  for (const [differences, words] of [
    [
      { redirectUri: "https://other.test/" },
      /\(status 400\); register the redirect URI http:\/\/parley\.test\/sign-in\/callback/,
    ],
    [{ refusal: "unauthorized_client" }, /refuses sign-ins \(unauthorized_client\)/],
  ] as const) {
    quirks = differences;
    await assert.rejects(checkProvider(settings, baseUrl), words);
  }
});
