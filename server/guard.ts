import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { because } from "../contract/causes/causes.ts";
import type { Operation } from "../contract/operation.ts";
import type { VersionName } from "../contract/versions.ts";
import { createAuthenticate } from "./people/accounts/sign-in/authenticate.ts";
import { createCredentialCheck } from "./people/accounts/tokens/credential-check.ts";
import { allowRegisteredOrigins } from "./people/oauth/cors.ts";
import type { TrustedOrigins } from "./people/oauth/trusted-origins.ts";
import type { Resource } from "./platform/auth/audience.ts";
import type { Config } from "./platform/config/config.ts";
import type { Database } from "./platform/db/database.ts";
import { ProblemError } from "./platform/http/errors/problem.ts";
import { watch } from "./platform/http/files/watch-access.ts";
import { ipPrefixOf } from "./platform/http/limits/ip-prefix.ts";
import { applyAllowance, type RateLimiter } from "./platform/http/limits/rate-limit.ts";
import { refuseCrossSite } from "./platform/http/origin/cross-site.ts";
import { checkOperation } from "./platform/http/routing/route.ts";
import {
  announceLifecycle,
  effectiveVersions,
  rateShare,
  readVersion,
} from "./platform/http/routing/version-gate.ts";

/** Path of the contract's versioned operations. */
export const apiPrefix = "/_/public-api/v2";

/** Path of the management API, which is not part of the contract: no versions, same tokens and errors. */
export const managementPrefix = "/_/api/v1";

/** How often the access of streams of notifications is checked, of which there are many and which have no content. */
const streamCheckMs = 5000;

interface GuardDependencies {
  readonly db: Database;
  readonly config: Pick<
    Config,
    "baseUrl" | "rateLimitPerMinute" | "rateLimitPerUserPerMinute" | "versionStatus"
  >;
  readonly limiter: RateLimiter;
  readonly origins: TrustedOrigins;
}

/**
 * The order of checks (design, section 4): version header, then token, then rate limit, then path, then permission; the
 * body follows in the route. A caller without a valid token is counted by IP address.
 */
export function guardVersionedApi(scope: FastifyInstance, deps: GuardDependencies): void {
  guard(scope, deps, (request, reply) => {
    const now = new Date();
    const version = readVersion(request, effectiveVersions(deps.config.versionStatus), now);
    announceLifecycle(reply, version);
    return { version: version.name, share: rateShare(version, now) };
  });
}

/** The same for the management API, which has no versions. */
export function guardManagementApi(scope: FastifyInstance, deps: GuardDependencies): void {
  guard(scope, deps, () => ({ version: null, share: 1 }));
}

/** The same for the Model Context Protocol, which also accepts tokens that are restricted to it. */
export function guardMcp(scope: FastifyInstance, deps: GuardDependencies): void {
  // Streamable HTTP, "Security warning": against pages that reach the server under another name (DNS rebinding).
  scope.addHook("onRequest", async (request) => {
    const { origin } = request.headers;
    if (origin === undefined || origin === request.server.ownOrigin) return;
    if (await deps.origins.has(origin)) return;
    throw new ProblemError(
      "forbidden",
      "pages of this origin may not connect; add the origin to an app under Settings, OAuth clients",
    );
  });
  guard(scope, deps, () => ({ version: null, share: 1 }), "mcp");
}

/** The API version of a request, null for the management API, and its share of the rate limit. */
type ReadVersion = (
  request: FastifyRequest,
  reply: FastifyReply,
) => {
  version: VersionName | null;
  share: number;
};

function guard(
  scope: FastifyInstance,
  { db, config, limiter, origins }: GuardDependencies,
  readVersionOf: ReadVersion,
  resource: Resource | null = null,
): void {
  // A handler of this scope makes unknown paths below the prefix pass the hook below too.
  scope.setNotFoundHandler((request) => {
    throw noSuchOperation(request);
  });

  allowRegisteredOrigins(scope, origins);
  const authenticate = createAuthenticate(db.pool, config.baseUrl, resource);
  const isStillActive = createCredentialCheck(db.pool, scope.acceptsIssuer);

  /** Counts all tokens and sessions of a user together too. The headers show the nearer limit. */
  async function limitUser(
    { userId }: FastifyRequest["principal"],
    reply: FastifyReply,
    remainingOfToken: number,
  ): Promise<void> {
    const perUser = config.rateLimitPerUserPerMinute;
    if (perUser === 0) return;
    const ofUser = await limiter.take(`user:${userId}`, perUser);
    if (ofUser.exceeded || ofUser.remaining < remainingOfToken)
      applyAllowance(reply, ofUser, "by all tokens and sessions of this user together");
  }

  const { replica } = db;
  if (replica !== null)
    // Before the response, so that the user's next read sees the change.
    scope.addHook("onSend", async (request) => {
      if (!isWrite(request.routeOptions.config.operation)) return;
      if (request.principal === undefined) return;
      await replica
        .noteChange(request.principal)
        .catch((error: Error) =>
          request.log.warn({ err: error }, "a change was not noted for reads of the replica"),
        );
    });

  scope.addHook("onRequest", async (request, reply) => {
    const limit = config.rateLimitPerMinute;
    // Signing in needs no authentication.
    if (request.routeOptions.config.operation?.permission === "anyone") {
      if (limit > 0) applyAllowance(reply, await limiter.take(`address:${ipPrefixOf(request.ip)}`, limit));
      refuseCrossSite(request);
      return;
    }
    try {
      const { version, share } = readVersionOf(request, reply);
      request.principal = await authenticate(request);
      request.apiVersion = version;
      const isOpenEnded = request.routeOptions.config.operation?.isOpenEnded === true;
      watch(
        reply.raw,
        async () =>
          !endsWithAccess(request) ||
          isStillActive({ principal: request.principal, ip: request.ip, isOpenEnded }),
        isOpenEnded ? streamCheckMs : undefined,
      );
      if (limit > 0) {
        const allowed = Math.max(1, Math.floor(limit * share));
        const { countedAs = request.principal.tokenId } = request.principal;
        const ofToken = await limiter.take(`token:${countedAs}`, allowed);
        applyAllowance(reply, ofToken);
        await limitUser(request.principal, reply, ofToken.remaining);
      }
      refuseBeforeSetUp(request);
      if (request.is404) throw noSuchOperation(request);
      checkOperation(request, version);
    } catch (error) {
      const isUncounted = request.principal === undefined;
      if (isUncounted && limit > 0)
        applyAllowance(reply, await limiter.take(`address:${ipPrefixOf(request.ip)}`, limit));
      throw error;
    }
  });
}

/**
 * Whether to cut a request when its token is revoked or its user deactivated. Changes are made once their body has arrived,
 * because they were permitted then; some of them end their own access.
 */
function endsWithAccess({ raw, method, routeOptions }: FastifyRequest): boolean {
  return !raw.complete || method === "GET" || !isWrite(routeOptions.config.operation);
}

/** @throws ProblemError where the workspace requires a second factor that the user has not set up in time. */
function refuseBeforeSetUp({ principal, routeOptions }: FastifyRequest): void {
  if (principal.mustSetUpSecondFactor !== true || routeOptions.config.operation?.setsUpAccount === true)
    return;
  throw new ProblemError("second_factor_setup_required", because("second_factor_setup"));
}

/** Whether an operation may change data: by its permission, or by its method, as favorites, which readers have too. */
export function isWrite(operation: Operation | undefined): boolean {
  if (operation === undefined || operation.permission === "anyone") return false;
  return operation.permission !== "read" || !["GET", "POST"].includes(operation.method);
}

function noSuchOperation(request: FastifyRequest): ProblemError {
  return new ProblemError(
    "not_found",
    `the API has no operation ${request.method} ${pathOf(request.url)}; see /docs`,
  );
}

/** The path as the client sent it, without the query, which may hold secrets, cut to a readable length. */
export function pathOf(url: string): string {
  return (url.split("?", 1)[0] ?? "").slice(0, 200);
}
