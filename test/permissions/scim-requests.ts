import { createScimToken, revokeScimToken } from "../../server/people/scim/tokens/tokens.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { RouteCaller } from "./callers.ts";
import { type BuildRouteRequests, type RouteRequest, sendJson } from "./route-request.ts";
import type { World } from "./world.ts";

/** Requests of an identity provider. The key is a SCIM token; the wrong keys are tokens for everything else. */
export const scimRequests: Readonly<Record<string, BuildRouteRequests>> = {
  "GET /_/scim/v2/Users": read("/Users"),
  "GET /_/scim/v2/Users/:id": async (world, caller) =>
    withKeys(world, caller, { path: `/_/scim/v2/Users/${(await world.fresh("recorder")).id}` }),
  "POST /_/scim/v2/Users": (world, caller) =>
    withKeys(world, caller, sendJson("/_/scim/v2/Users", { userName: `${crypto.randomUUID()}@new.example` })),
  "PUT /_/scim/v2/Users/:id": async (world, caller) => {
    const { id, email } = await world.fresh("recorder");
    return withKeys(world, caller, sendJson(`/_/scim/v2/Users/${id}`, { userName: email }));
  },
  "PATCH /_/scim/v2/Users/:id": async (world, caller) => {
    const { id } = await world.fresh("recorder");
    return withKeys(world, caller, sendJson(`/_/scim/v2/Users/${id}`, renaming()));
  },
  "DELETE /_/scim/v2/Users/:id": async (world, caller) =>
    withKeys(world, caller, { path: `/_/scim/v2/Users/${(await world.fresh("recorder")).id}` }),
  "GET /_/scim/v2/Groups": read("/Groups"),
  "GET /_/scim/v2/Groups/:id": async (world, caller) =>
    withKeys(world, caller, { path: `/_/scim/v2/Groups/${await group(world)}` }),
  "POST /_/scim/v2/Groups": (world, caller) =>
    withKeys(world, caller, sendJson("/_/scim/v2/Groups", { displayName: newName() })),
  "PUT /_/scim/v2/Groups/:id": async (world, caller) =>
    withKeys(world, caller, sendJson(`/_/scim/v2/Groups/${await group(world)}`, { displayName: newName() })),
  "PATCH /_/scim/v2/Groups/:id": async (world, caller) =>
    withKeys(world, caller, sendJson(`/_/scim/v2/Groups/${await group(world)}`, renaming())),
  "DELETE /_/scim/v2/Groups/:id": async (world, caller) =>
    withKeys(world, caller, { path: `/_/scim/v2/Groups/${await group(world)}` }),
  "POST /_/scim/v2/.search": search("/.search"),
  "POST /_/scim/v2/Users/.search": search("/Users/.search"),
  "POST /_/scim/v2/Groups/.search": search("/Groups/.search"),
  "GET /_/scim/v2/ServiceProviderConfig": read("/ServiceProviderConfig"),
  "GET /_/scim/v2/ResourceTypes": read("/ResourceTypes"),
  "GET /_/scim/v2/ResourceTypes/:id": read("/ResourceTypes/User"),
  "GET /_/scim/v2/Schemas": read("/Schemas"),
  "GET /_/scim/v2/Schemas/:id": read("/Schemas/urn:ietf:params:scim:schemas:core:2.0:User"),
};

const newName = (): string => `Group ${crypto.randomUUID()}`;

function renaming() {
  return { Operations: [{ op: "replace", path: "displayName", value: newName() }] };
}

function read(path: string): BuildRouteRequests {
  return (world, caller) => withKeys(world, caller, { path: `/_/scim/v2${path}` });
}

function search(path: string): BuildRouteRequests {
  return (world, caller) => withKeys(world, caller, sendJson(`/_/scim/v2${path}`, { count: 1 }));
}

/** The request with each key that a caller of this kind has. */
async function withKeys(world: World, caller: RouteCaller, request: RouteRequest): Promise<RouteRequest[]> {
  const keys = await keysOf(world, caller);
  if (keys.length === 0) return [request];
  return keys.map((key) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${key}` },
  }));
}

async function keysOf(world: World, caller: RouteCaller): Promise<string[]> {
  const { admin, admin_oauth, workspace_token } = world.users.credentials;
  if (caller === "wrong")
    return [admin, admin_oauth, workspace_token].flatMap(({ token }) => (token == null ? [] : [token]));
  if (caller !== "right" && caller !== "expired") return [];
  const actor = commandLine(world.users.workspaceId);
  return world.app.db.kysely.transaction().execute(async (tx) => {
    await tx.deleteFrom("scim_tokens").where("workspace_id", "=", actor.workspaceId).execute();
    const { id, token } = await createScimToken(tx, actor, "test");
    if (caller === "expired") await revokeScimToken(tx, actor, id);
    return [token];
  });
}

/** A team that SCIM manages. */
async function group(world: World): Promise<string> {
  const { id } = await world.asAdmin("POST", "/_/api/v1/teams", { name: newName() });
  await world.app.db.pool.query("update teams set is_provisioned = true where id = $1", [id]);
  return id;
}
