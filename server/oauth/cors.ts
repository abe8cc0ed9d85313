import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database } from "../db/database.ts";
import { type ClientRow, isAnyClientsOrigin } from "./client-queries.ts";

/** How long a browser may remember that it may ask. */
const preflightMaxAgeSec = 600;

/**
 * Lets a page read the answer when its origin is one of the client's. Cookies mean nothing to these endpoints, so
 * credentials are never allowed along.
 */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, client: ClientRow): void {
  const { origin } = request.headers;
  if (origin !== undefined && client.cors_origins.includes(origin))
    reply.header("access-control-allow-origin", origin);
}

/**
 * Answers preflight requests, which don't say which client will ask: an origin of any client may ask, and reads the
 * answer only if it is one of that client's.
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
