import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database } from "../platform/db/database.ts";
import { type ClientRow, isAnyClientsOrigin } from "./clients/queries.ts";

/** How long a browser may cache the preflight response. */
const preflightMaxAgeSec = 600;

/**
 * Lets a page read the response when its origin is registered for the client. These endpoints ignore cookies, so
 * credentials are never allowed.
 */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, client: ClientRow): void {
  const { origin } = request.headers;
  if (origin !== undefined && client.cors_origins.includes(origin))
    reply.header("access-control-allow-origin", origin);
}

/**
 * Handles preflight requests, which don't name the client: any client's origin is allowed, but reads the response only if
 * it is registered for the client that then makes the request.
 */
export function preflightRoute(scope: FastifyInstance, path: string, db: Database): void {
  scope.options(path, async (request, reply) => {
    const { origin } = request.headers;
    reply.header("vary", "origin");
    if (origin !== undefined && (await isAnyClientsOrigin(db.kysely, origin)))
      reply.headers({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "authorization, content-type",
        "access-control-max-age": preflightMaxAgeSec,
      });
    return reply.code(204).send();
  });
}
