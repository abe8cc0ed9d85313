import { randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { pino } from "pino";
import { issueChallenge } from "../../server/people/accounts/passkeys/ceremony.ts";
import { addPasskey, findPasskeys, relyingPartyOf } from "../../server/people/accounts/passkeys/passkeys.ts";
import { createAccessToken } from "../../server/people/accounts/service.ts";
import { newTotpSecret } from "../../server/people/accounts/sign-in/codes.ts";
import { confirmSecret, keepSecret } from "../../server/people/accounts/sign-in/second-factor.ts";
import { Authenticator } from "../../server/people/accounts/test/authenticator.ts";
import { makeClient, obtainTokens, password } from "../support/oauth.ts";
import type { BuildRequest, OperationRequest } from "./request.ts";
import type { World } from "./world.ts";

/** Valid requests about the caller's account. Requests that change an account use a fresh one. */
export const accountRequests: Readonly<Record<string, BuildRequest>> = {
  signInWithPassword: async (world, caller) => {
    const { email, credentials } = await world.fresh(caller);
    return { body: { email, password }, credentials };
  },
  getMe: () => ({}),
  updateMe: async (world, caller) => ({
    body: { name: "Another name" },
    credentials: (await world.fresh(caller)).credentials,
  }),
  changePassword: async (world, caller) => ({
    body: { current_password: password, new_password: `${randomBytes(12).toString("hex")} is new` },
    credentials: (await world.fresh(caller)).credentials,
  }),
  getMySingleSignOn: () => ({}),
  // There is none; who may connect one is decided before.
  connectMySingleSignOn: async (world, caller) => ({
    body: { provider: "none" },
    credentials: (await world.fresh(caller)).credentials,
  }),
  unbindMySingleSignOn: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),
  startPasskeySignIn: () => ({}),
  // Anyone may try: the key is the passkey and the challenge of this browser.
  signInWithPasskey: async (world, caller) => {
    const { id } = await world.fresh(caller);
    const key = await passkeyOf(world, id);
    const { challenge, cookie } = issueChallenge(ceremonyOf(world), null);
    const response = key.use({ challenge, rpId: new URL(world.app.config.baseUrl).hostname });
    return { body: { response }, credentials: { headers: { cookie: cookie.split(";", 1)[0] ?? "" } } };
  },
  listPasskeys: () => ({}),
  startPasskey: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),
  addPasskey: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    const { challenge, cookie } = issueChallenge(ceremonyOf(world), id);
    const { hostname, origin } = new URL(world.app.config.baseUrl);
    const response = new Authenticator(origin).create({ challenge, rp: { id: hostname } });
    const own = "headers" in credentials ? credentials.headers?.cookie : undefined;
    const started = cookie.split(";", 1)[0] ?? "";
    return {
      body: { name: "Laptop", response },
      credentials:
        own === undefined ? credentials : { ...credentials, headers: { cookie: `${own}; ${started}` } },
    };
  },
  renamePasskey: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    await passkeyOf(world, id);
    return { params: { passkey_id: await passkeyIdOf(world, id) }, body: { name: "Phone" }, credentials };
  },
  "renamePasskey of another user": async (world) => {
    const { id } = await world.fresh("recorder");
    await passkeyOf(world, id);
    return { params: { passkey_id: await passkeyIdOf(world, id) }, body: { name: "Phone" } };
  },
  removePasskey: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    await passkeyOf(world, id);
    return { params: { passkey_id: await passkeyIdOf(world, id) }, credentials };
  },
  "removePasskey of another user": async (world) => {
    const { id } = await world.fresh("recorder");
    await passkeyOf(world, id);
    return { params: { passkey_id: await passkeyIdOf(world, id) } };
  },
  getSecondFactor: () => ({}),
  addSecondFactor: async (world, caller) => ({
    body: { type: "totp", password },
    credentials: (await world.fresh(caller)).credentials,
  }),
  confirmSecondFactor: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    return { body: { code: await secondFactorOf(world, id, "waiting") }, credentials };
  },
  replaceRecoveryCodes: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    await secondFactorOf(world, id, "on");
    return { credentials };
  },
  removeSecondFactor: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    await secondFactorOf(world, id, "on");
    return { credentials };
  },
  signOut: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),
  listSessions: () => ({}),
  endSession: async (world, caller) => {
    const { sessionId, credentials } = await world.fresh(caller);
    return { params: { session_id: sessionId }, credentials };
  },
  "endSession of another user": async (world) => ({
    params: { session_id: (await world.fresh("recorder")).sessionId },
  }),
  endSessions: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),

  createToken: () => ({ body: { type: "personal_access_token", name: "a script" } }),
  "createToken for the workspace": () => ({ body: { type: "workspace_access_token", name: "a script" } }),
  listTokens: () => ({}),
  "listTokens of the workspace": () => ({ query: "?of=workspace" }),
  revokeToken: async (world, caller) => {
    const { email, credentials } = await world.fresh(caller);
    return { params: { token_id: await tokenOf(world, email) }, credentials };
  },
  "revokeToken of another user": async (world) => ({
    params: { token_id: await tokenOf(world, (await world.fresh("recorder")).email) },
  }),

  listOAuthGrants: () => ({}),
  "listOAuthGrants of the workspace": () => ({ query: "?of=workspace" }),
  "listOAuthGrants of another user": (world) => ({ query: `?user_id=${world.users.ids.otherUser}` }),
  updateOAuthGrant: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    return { ...(await changeGrantOf(world, id)), credentials };
  },
  "updateOAuthGrant of another user": async (world) =>
    changeGrantOf(world, (await world.fresh("recorder")).id),
  revokeOAuthGrant: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    return { ...(await grantOf(world, id)), credentials };
  },
  "revokeOAuthGrant of another user": async (world) => grantOf(world, (await world.fresh("recorder")).id),
};

const ceremonyOf = ({ app }: World) => ({ encryptor: app.encryptor, baseUrl: app.config.baseUrl });

/** Gives a user a passkey. */
async function passkeyOf(world: World, userId: string): Promise<Authenticator> {
  const party = relyingPartyOf(world.app.config.baseUrl);
  const key = new Authenticator(party.origin);
  const { challenge } = issueChallenge(ceremonyOf(world), userId);
  const response = key.create({ challenge, rp: party });
  await world.app.db.kysely.transaction().execute((tx) =>
    addPasskey(tx, {
      party,
      userId,
      challenge,
      name: "Laptop",
      response: { ...response, type: "public-key" },
    }),
  );
  return key;
}

async function passkeyIdOf({ app }: World, userId: string): Promise<string> {
  const [passkey] = await findPasskeys(app.db.kysely, userId);
  if (passkey === undefined) throw new Error("the user has a passkey");
  return passkey.id;
}

/** Gives a user a second factor. @returns its current code. */
export async function secondFactorOf(
  { app }: World,
  userId: string,
  state: "waiting" | "on",
): Promise<string> {
  const secret = await newTotpSecret();
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await app.db.kysely.transaction().execute(async (tx) => {
    await keepSecret(tx, app.encryptor, userId, secret);
    if (state === "on") await confirmSecret(tx, { encryptor: app.encryptor, log: pino() }, userId, code);
  });
  return code;
}

async function tokenOf({ app }: World, email: string): Promise<string> {
  const token = await app.db.kysely
    .transaction()
    .execute((tx) =>
      createAccessToken(tx, { email, type: "personal_access_token", name: "another", expiresAt: null }),
    );
  return token.id;
}

/** Authorizes an app for a user. */
async function grantOf(
  { app }: World,
  userId: string,
  options: { isSelfRegistered: boolean } = { isSelfRegistered: false },
): Promise<OperationRequest> {
  const user = await app.db.kysely
    .selectFrom("users")
    .select(["id", "email", "name", "workspace_id"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
  const client = await makeClient(app, { id: user.workspace_id });
  if (options.isSelfRegistered)
    await app.db.pool.query("update oauth_clients set workspace_id = null where id = $1", [client.id]);
  await obtainTokens(app, client, { ...user, token: "" });
  const grant = await app.db.kysely
    .selectFrom("oauth_grants")
    .select("id")
    .where("user_id", "=", user.id)
    .where("client_id", "=", client.id)
    .executeTakeFirstOrThrow();
  return { params: { grant_id: grant.id } };
}

/** Asks to change how a self-registered app reads date filters for a user. */
async function changeGrantOf(world: World, userId: string): Promise<OperationRequest> {
  return {
    ...(await grantOf(world, userId, { isSelfRegistered: true })),
    body: { datetime_filters: "by-name" },
  };
}
