import type { FastifyInstance, FastifyRequest } from "fastify";
import { type AuditActor, originOf } from "../../platform/audit/record.ts";
import type { Database } from "../../platform/db/database.ts";
import { transactWithRetry } from "../../platform/db/retry.ts";
import { readPatch } from "./attributes/patch.ts";
import { changeGroup, createGroup, deleteGroup } from "./groups/change-groups.ts";
import { readGroup, readGroupPatch } from "./groups/group-change.ts";
import { findGroup } from "./groups/group-rows.ts";
import { presentGroup } from "./groups/present-group.ts";
import { includes } from "./query/projection.ts";
import { callerOf, projectionOf, type ResourceParams, sendResource } from "./read-routes.ts";
import { notFound } from "./resource.ts";
import { countIgnored } from "./tokens/tokens.ts";
import { type ChangeContext, changeScimUser, createScimUser, deleteScimUser } from "./users/change-users.ts";
import { presentUser } from "./users/present-user.ts";
import { ignoredNames, readUser, readUserPatch, type UserChange } from "./users/user-change.ts";
import type { ScimUserRow } from "./users/user-rows.ts";

/** A request may name as many members as a group change allows, each with its display name and URL. */
const maxGroupBytes = 8 * 1024 * 1024;

/** What SCIM changes: users and groups. */
export function writeRoutes(scope: FastifyInstance, db: Database, baseUrl: string): void {
  const contextOf = (request: FastifyRequest): ChangeContext => ({
    actor: actorOf(request),
    baseUrl,
    ifMatch: request.headers["if-match"],
  });
  const noteIgnored = (request: FastifyRequest, names: readonly string[]) =>
    countIgnored(db.pool, callerOf(request).tokenId, names);

  const finishUser = async (request: FastifyRequest, change: UserChange, row: ScimUserRow) => {
    await noteIgnored(request, ignoredNames(change, row.email));
    return presentUser(row, baseUrl);
  };
  const changeUser = async (request: FastifyRequest<ResourceParams>, change: UserChange) => {
    const { id } = request.params;
    const row = await transactWithRetry(db, (tx) => changeScimUser(tx, contextOf(request), id, change));
    return finishUser(request, change, row);
  };

  scope.post("/Users", async (request, reply) => {
    const change = readUser(request.body);
    const row = await transactWithRetry(db, (tx) => createScimUser(tx, contextOf(request), change));
    return sendResource(request, reply, 201, await finishUser(request, change, row));
  });
  scope.put<ResourceParams>("/Users/:id", async (request, reply) =>
    sendResource(request, reply, 200, await changeUser(request, readUser(request.body))),
  );
  scope.patch<ResourceParams>("/Users/:id", async (request, reply) => {
    const change = readUserPatch(await readPatch(request.body));
    return sendResource(request, reply, 200, await changeUser(request, change));
  });
  scope.delete<ResourceParams>("/Users/:id", async (request, reply) => {
    await transactWithRetry(db, (tx) => deleteScimUser(tx, contextOf(request), request.params.id));
    return reply.code(204).send();
  });

  const presentChanged = async (request: FastifyRequest, id: string) => {
    const withMembers = includes(projectionOf(request), "members");
    const row = await findGroup(db.kysely, callerOf(request).workspaceId, id, withMembers);
    if (row === undefined) throw notFound("group", id);
    return presentGroup(row, baseUrl);
  };

  scope.post("/Groups", { bodyLimit: maxGroupBytes }, async (request, reply) => {
    const change = readGroup(request.body);
    const { id } = await transactWithRetry(db, (tx) => createGroup(tx, contextOf(request), change));
    await noteIgnored(request, [...change.ignored]);
    return sendResource(request, reply, 201, await presentChanged(request, id));
  });
  scope.put<ResourceParams>("/Groups/:id", { bodyLimit: maxGroupBytes }, async (request, reply) => {
    const change = readGroup(request.body);
    const { id } = request.params;
    await transactWithRetry(db, (tx) => changeGroup(tx, contextOf(request), id, change));
    await noteIgnored(request, [...change.ignored]);
    return sendResource(request, reply, 200, await presentChanged(request, id));
  });
  scope.patch<ResourceParams>("/Groups/:id", { bodyLimit: maxGroupBytes }, async (request, reply) => {
    const change = readGroupPatch(await readPatch(request.body));
    const { id } = request.params;
    await transactWithRetry(db, (tx) => changeGroup(tx, contextOf(request), id, change));
    await noteIgnored(request, [...change.ignored]);
    // Without the members, which may be thousands, unless the client asks for some attributes.
    if (projectionOf(request).wanted === null) return reply.code(204).send();
    return sendResource(request, reply, 200, await presentChanged(request, id));
  });
  scope.delete<ResourceParams>("/Groups/:id", async (request, reply) => {
    await transactWithRetry(db, (tx) => deleteGroup(tx, contextOf(request), request.params.id));
    return reply.code(204).send();
  });
}

/** The provider, for the audit log: no user is signed in. */
function actorOf(request: FastifyRequest): AuditActor {
  const { tokenId, workspaceId } = callerOf(request);
  return {
    workspaceId,
    userId: null,
    userEmail: null,
    credential: "scim",
    credentialId: tokenId,
    ...originOf(request),
  };
}
