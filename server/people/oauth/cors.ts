import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ClientRow } from "./clients/queries.ts";
import type { TrustedOrigins } from "./trusted-origins.ts";

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

/** Headers of the API that pages may read besides the safe ones of the Fetch standard. */
export const exposedHeaders = [
  "deprecation",
  "link",
  "retry-after",
  "sunset",
  "warning",
  "www-authenticate",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-request-id",
];

/**
 * Lets pages of the registered origins of apps call the API with an access token: of apps that an admin registered or a user
 * has authorized. Credentials are never allowed, so that a
 * page can't use the session of a signed-in user. Which app a token belongs to does not matter: a page that has the token can
 * use it in any case.
 */
export function allowRegisteredOrigins(scope: FastifyInstance, origins: TrustedOrigins): void {
  scope.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || origin === request.server.ownOrigin) return;
    reply.header("vary", "origin");
    if (!(await origins.has(origin))) return;
    reply.headers({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposedHeaders.join(", "),
    });
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined)
      return;
    return reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers":
          "authorization, content-type, public-api-version, mcp-protocol-version",
        "access-control-max-age": preflightMaxAgeSec,
      })
      .send();
  });
}

/**
 * Handles preflight requests, which don't name the client: any trusted origin is allowed, but reads the response only if
 * it is registered for the client that then makes the request.
 */
export function preflightRoute(scope: FastifyInstance, path: string, origins: TrustedOrigins): void {
  scope.options(path, async (request, reply) => {
    const { origin } = request.headers;
    reply.header("vary", "origin");
    if (origin !== undefined && (await origins.has(origin)))
      reply.headers({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "authorization, content-type",
        "access-control-max-age": preflightMaxAgeSec,
      });
    return reply.code(204).send();
  });
}
