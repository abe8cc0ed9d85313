import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { watch } from "../../platform/http/files/watch-access.ts";
import { ipPrefixOf } from "../../platform/http/limits/ip-prefix.ts";
import { applyAllowance, type RateLimiter } from "../../platform/http/limits/rate-limit.ts";
import { addressRefusal } from "../access/security-rules.ts";
import { ScimError } from "./scim-error.ts";
import { scimPath } from "./scim-path.ts";
import { findScimToken, isScimTokenActive, type ScimCaller, touchScimToken } from "./tokens/tokens.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The token of a SCIM request; null elsewhere. */
    scim: ScimCaller | null;
  }
}

/** The order of checks is that of the API: token, rate limit, path; the body follows in the route. */
export function guardScim(
  scope: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "rateLimitPerMinute">;
    readonly limiter: RateLimiter;
  },
): void {
  const { db, config, limiter } = deps;
  scope.decorateRequest("scim", null);
  scope.addHook("onRequest", async (request, reply) => {
    const limit = config.rateLimitPerMinute;
    const caller = await findCaller(request.headers.authorization);
    if (!(caller instanceof ProblemError)) {
      request.scim = caller;
      if (caller.useIsOld) await touchScimToken(db.pool, caller.tokenId, request.ip);
      watch(
        reply.raw,
        async () => (request.raw.complete && request.method !== "GET") || isScimTokenActive(db.pool, caller),
      );
    }
    const key =
      caller instanceof ProblemError ? `address:${ipPrefixOf(request.ip)}` : `token:${caller.tokenId}`;
    if (limit > 0) applyAllowance(reply, await limiter.take(key, limit));
    if (caller instanceof ProblemError) throw caller;
    // Of the workspace's rules, the others are about people.
    if (addressRefusal(caller.rules, request.ip) !== null)
      throw new ScimError(
        403,
        "the workspace allows access from certain IP addresses only; add those of the provider under Settings → Security",
      );
    if (request.is404) throw nothingAt(request);
  });

  async function findCaller(header: string | undefined): Promise<ScimCaller | ProblemError> {
    if (header === undefined || header.trim() === "")
      return new ProblemError(
        "token_missing",
        "send a SCIM token in the header Authorization: Bearer <token>",
        {
          headers: { "www-authenticate": 'Bearer realm="parley"' },
        },
      );
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1] ?? "";
    const caller = await findScimToken(db.pool, token);
    // The same error for other kinds of token, which are not valid here.
    return (
      caller ??
      new ProblemError(
        "token_invalid",
        "the SCIM token is unknown or revoked; create one under Settings → Provisioning",
        {
          headers: { "www-authenticate": 'Bearer realm="parley", error="invalid_token"' },
        },
      )
    );
  }
}

/** Why there is nothing at a path. Source: RFC 7644, sections 3.7 and 3.11. */
export function nothingAt({ method, url }: FastifyRequest): ScimError {
  const path = (url.split("?", 1)[0] ?? "").slice(scimPath.length);
  if (path === "/Bulk" || path === "/Me") return new ScimError(501, `${path} is not supported`);
  return new ScimError(404, `SCIM has no ${method} ${path.slice(0, 100)} here`);
}
