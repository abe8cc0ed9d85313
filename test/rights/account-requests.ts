import { randomBytes } from "node:crypto";
import { createAccessToken } from "../../server/accounts/service.ts";
import { makeClient, obtainTokens, password } from "../support/oauth.ts";
import type { Ask, MakeAsk } from "./ask.ts";
import type { World } from "./world.ts";

/** Good requests about one's own account: what they change is made for them, never the callers. */
export const accountRequests: Readonly<Record<string, MakeAsk>> = {
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
  unbindMySingleSignOn: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),
  signOut: async (world, caller) => ({ credentials: (await world.fresh(caller)).credentials }),
  listSessions: () => ({}),
  endSession: async (world, caller) => {
    const { sessionId, credentials } = await world.fresh(caller);
    return { params: { session_id: sessionId }, credentials };
  },
  "endSession of somebody else": async (world) => ({
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
  "revokeToken of somebody else": async (world) => ({
    params: { token_id: await tokenOf(world, (await world.fresh("recorder")).email) },
  }),

  listOAuthGrants: () => ({}),
  "listOAuthGrants of somebody else": (world) => ({ query: `?user_id=${world.people.ids.somebody}` }),
  revokeOAuthGrant: async (world, caller) => {
    const { id, credentials } = await world.fresh(caller);
    return { ...(await grantOf(world, id)), credentials };
  },
  "revokeOAuthGrant of somebody else": async (world) => grantOf(world, (await world.fresh("recorder")).id),
};

async function tokenOf({ app }: World, email: string): Promise<string> {
  const made = await app.db.kysely
    .transaction()
    .execute((tx) =>
      createAccessToken(tx, { email, type: "personal_access_token", name: "another", expiresAt: null }),
    );
  return made.id;
}

/** Lets an app in for a person. */
async function grantOf({ app }: World, userId: string): Promise<Ask> {
  const user = await app.db.kysely
    .selectFrom("users")
    .select(["id", "email", "name", "workspace_id"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
  const client = await makeClient(app, { id: user.workspace_id });
  await obtainTokens(app, client, { ...user, token: "" });
  const grant = await app.db.kysely
    .selectFrom("oauth_grants")
    .select("id")
    .where("user_id", "=", user.id)
    .where("client_id", "=", client.id)
    .executeTakeFirstOrThrow();
  return { params: { grant_id: grant.id } };
}
