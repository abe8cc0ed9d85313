import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database } from "../../platform/db/database.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts";
import { countGroups, findGroup, findGroups, groupAttributes } from "./groups/group-rows.ts";
import { presentGroup } from "./groups/present-group.ts";
import { readFilter } from "./query/filter.ts";
import { type ListQuery, listResponse, readListQuery } from "./query/list.ts";
import { includes, type Projection, project, readProjection } from "./query/projection.ts";
import { isNamedBy, notFound, type Resource } from "./resource.ts";
import { ScimError, sendScim } from "./scim-error.ts";
import type { ScimCaller } from "./tokens/tokens.ts";
import { presentUser } from "./users/present-user.ts";
import { countScimUsers, findScimUser, findScimUsers, userAttributes } from "./users/user-rows.ts";

export type ResourceParams = { Params: { id: string } };
type Query = Readonly<Record<string, unknown>>;

/**
 * Part of a list: how many resources fulfil the filter, and those of the page.
 * @param isMixed whether the list has other kinds of resources too.
 */
type ReadPart = (
  workspaceId: string,
  query: ListQuery,
  isMixed: boolean,
) => Promise<{ total: number; page: (offset: number, limit: number) => Promise<Resource[]> }>;

/** What SCIM reads: users, groups and what the server can do. */
export function readRoutes(scope: FastifyInstance, db: Database, baseUrl: string): void {
  const readUsers: ReadPart = async (workspaceId, { filter }, isMixed) => {
    const target = { resource: "User", attributes: userAttributes } as const;
    const where = await readFilter(filter, isMixed ? { ...target, elsewhere: groupAttributes } : target);
    return {
      total: await countScimUsers(db.kysely, workspaceId, where),
      page: async (offset, limit) =>
        (await findScimUsers(db.kysely, workspaceId, where, { offset, limit })).map((row) =>
          presentUser(row, baseUrl),
        ),
    };
  };
  const readGroups: ReadPart = async (workspaceId, { filter, projection }, isMixed) => {
    const target = { resource: "Group", attributes: groupAttributes } as const;
    const where = await readFilter(filter, isMixed ? { ...target, elsewhere: userAttributes } : target);
    const withMembers = includes(projection, "members");
    return {
      total: await countGroups(db.kysely, workspaceId, where),
      page: async (offset, limit) =>
        (await findGroups(db.kysely, workspaceId, where, { offset, limit, withMembers })).map((row) =>
          presentGroup(row, baseUrl),
        ),
    };
  };

  /** A list over several kinds of resources, one after the other. */
  const list = async (request: FastifyRequest, given: unknown, parts: readonly ReadPart[]) => {
    const query = readListQuery((given ?? {}) as Query);
    const { workspaceId } = callerOf(request);
    const resources: Resource[] = [];
    let total = 0;
    for (const read of parts) {
      const part = await read(workspaceId, query, parts.length > 1);
      const offset = Math.max(0, query.startIndex - 1 - total);
      const limit = query.count - resources.length;
      if (offset < part.total) resources.push(...(await part.page(offset, limit)));
      total += part.total;
    }
    return listResponse(
      total,
      query.startIndex,
      resources.map((resource) => project(resource, query.projection)),
    );
  };

  scope.get("/Users", async (request, reply) =>
    sendScim(reply, 200, await list(request, request.query, [readUsers])),
  );
  scope.get("/Groups", async (request, reply) =>
    sendScim(reply, 200, await list(request, request.query, [readGroups])),
  );
  scope.post("/Users/.search", async (request, reply) =>
    sendScim(reply, 200, await list(request, request.body, [readUsers])),
  );
  scope.post("/Groups/.search", async (request, reply) =>
    sendScim(reply, 200, await list(request, request.body, [readGroups])),
  );
  scope.post("/.search", async (request, reply) =>
    sendScim(reply, 200, await list(request, request.body, [readUsers, readGroups])),
  );

  scope.get<ResourceParams>("/Users/:id", async (request, reply) => {
    const { id } = request.params;
    const row = await findScimUser(db.kysely, callerOf(request).workspaceId, id);
    if (row === undefined) throw notFound("user", id);
    return sendResource(request, reply, 200, presentUser(row, baseUrl));
  });
  scope.get<ResourceParams>("/Groups/:id", async (request, reply) => {
    const { id } = request.params;
    const withMembers = includes(projectionOf(request), "members");
    const row = await findGroup(db.kysely, callerOf(request).workspaceId, id, withMembers);
    if (row === undefined) throw notFound("group", id);
    return sendResource(request, reply, 200, presentGroup(row, baseUrl));
  });

  scope.get("/ServiceProviderConfig", async (request, reply) => {
    refuseFilter(request);
    return sendScim(reply, 200, serviceProviderConfig(baseUrl));
  });
  for (const [path, kind, all] of [
    ["/ResourceTypes", "resource type", resourceTypes(baseUrl)],
    ["/Schemas", "schema", schemas(baseUrl)],
  ] as const) {
    scope.get(path, async (request, reply) => {
      refuseFilter(request);
      return sendScim(reply, 200, listResponse(all.length, 1, all));
    });
    scope.get<ResourceParams>(`${path}/:id`, async (request, reply) => {
      const found = all.find(({ id }) => id === request.params.id);
      if (found === undefined)
        throw new ScimError(404, `there is no ${kind} ${request.params.id.slice(0, 100)}`);
      return sendScim(reply, 200, found);
    });
  }
}

/** Filters are refused here. Source: RFC 7644, section 4. */
function refuseFilter({ query }: FastifyRequest): void {
  if ((query as Query).filter !== undefined) throw new ScimError(403, "this list can't be filtered");
}

export function callerOf(request: FastifyRequest): ScimCaller {
  if (request.scim === null) throw new Error("the guard authenticates every request");
  return request.scim;
}

export function projectionOf(request: FastifyRequest): Projection {
  return readProjection(request.query as Query);
}

/** Sends a resource with its version; 304 without it when a reader has that version already. */
export function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  status: 200 | 201,
  resource: Resource,
): FastifyReply {
  const { meta } = resource;
  reply.headers({ etag: meta.version, ...(status === 201 ? { location: meta.location } : {}) });
  if (request.method === "GET" && isNamedBy(request.headers["if-none-match"], resource))
    return reply.code(304).send();
  return sendScim(reply, status, project(resource, projectionOf(request)));
}
