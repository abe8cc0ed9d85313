import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RecordingParams } from "../contract/recordings.ts";
import type { VersionName } from "../contract/versions.ts";
import { authenticate } from "./accounts/authenticate.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { addressKey } from "./http/address-key.ts";
import { refuseForgery } from "./http/forgery.ts";
import { ProblemError } from "./http/problem.ts";
import { applyAllowance, type RateLimiter } from "./http/rate-limit.ts";
import { checkPath } from "./http/route.ts";
import { announceLifecycle, effectiveVersions, rateShare, readVersion } from "./http/version-gate.ts";

/** Where the contract's versioned operations live. */
export const apiPrefix = "/_/public-api/v2";

/** Where everything beyond the contract lives: no versions, the same tokens and errors. */
export const managementPrefix = "/_/api/v1";

interface GuardDependencies {
  readonly db: Database;
  readonly config: Pick<Config, "baseUrl" | "rateLimitPerMinute" | "versionStatus">;
  readonly limiter: RateLimiter;
}

/**
 * The order of checks (design, section 4): version header, then token, then rate limit, then path; body and
 * permission follow in the route. A caller without a good token is counted by address.
 */
export function guardVersionedApi(scope: FastifyInstance, deps: GuardDependencies): void {
  const versions = effectiveVersions(deps.config.versionStatus);
  guard(scope, deps, (request, reply) => {
    const now = new Date();
    const version = readVersion(request, versions, now);
    announceLifecycle(reply, version);
    return { version: version.name, share: rateShare(version, now) };
  });
}

/** The same for the management API, which has no versions. */
export function guardManagementApi(scope: FastifyInstance, deps: GuardDependencies): void {
  guard(scope, deps, () => ({ version: null, share: 1 }));
}

/** The version a request speaks, null where there is none, and what part of the rate limit it gets. */
type ReadVersion = (
  request: FastifyRequest,
  reply: FastifyReply,
) => {
  version: VersionName | null;
  share: number;
};

function guard(
  scope: FastifyInstance,
  { db, config, limiter }: GuardDependencies,
  readVersionOf: ReadVersion,
): void {
  // An encapsulated handler makes unknown paths below the prefix pass the hook below, which refuses them.
  scope.setNotFoundHandler((request) => {
    throw noSuchOperation(request);
  });

  scope.addHook("onRequest", async (request, reply) => {
    const limit = config.rateLimitPerMinute;
    // To sign in, nobody has to be signed in.
    if (request.routeOptions.config.operation?.permission === "anyone") {
      if (limit > 0) applyAllowance(reply, await limiter.take(`address:${addressKey(request.ip)}`, limit));
      refuseForgery(request);
      return;
    }
    try {
      const { version, share } = readVersionOf(request, reply);
      const caller = await authenticate(db.pool, request, config.baseUrl, askedRecording(request));
      request.principal = caller.principal;
      request.apiVersion = version;
      request.transcriptVersion = caller.transcriptVersion ?? null;
      if (limit > 0) {
        const allowed = Math.max(1, Math.floor(limit * share));
        const { countedAs = request.principal.tokenId } = request.principal;
        applyAllowance(reply, await limiter.take(`token:${countedAs}`, allowed));
      }
      if (request.is404) throw noSuchOperation(request);
      checkPath(request, version);
    } catch (error) {
      const isUncounted = request.principal === null;
      if (isUncounted && limit > 0)
        applyAllowance(reply, await limiter.take(`address:${addressKey(request.ip)}`, limit));
      throw error;
    }
  });
}

/** The recording whose transcript version the route needs, when the address names one. */
function askedRecording(request: FastifyRequest): string | undefined {
  if (!request.routeOptions.config.needsTranscriptVersion) return undefined;
  const params = RecordingParams.safeParse(request.params);
  return params.success ? params.data.recording_id : undefined;
}

function noSuchOperation(request: FastifyRequest): ProblemError {
  return new ProblemError(
    "not_found",
    `the API has no operation ${request.method} ${pathOf(request.url)}; see /docs`,
  );
}

/** The path as the client wrote it, without a query, which could hold anything, and cut to a readable length. */
export function pathOf(url: string): string {
  return (url.split("?", 1)[0] ?? "").slice(0, 200);
}
