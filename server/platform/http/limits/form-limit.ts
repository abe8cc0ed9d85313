import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../../config/config.ts";
import { ipPrefixOf } from "./ip-prefix.ts";
import { applyAllowance, type RateLimiter } from "./rate-limit.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Takes the request off its IP address's count; null where nothing was counted. */
    refundRateLimit: (() => void) | null;
  }
}

interface LimitDependencies {
  readonly limiter: RateLimiter;
  readonly config: Pick<Config, "rateLimitPerMinute">;
}

/**
 * Counts requests with a body by IP address before the body is read, in one count with other requests that come
 * without a valid token. A handler may call `request.refundRateLimit` once the caller has proven a credential.
 * @throws ProblemError `rate_limited`.
 */
export function limitForms(scope: FastifyInstance, deps: LimitDependencies): void {
  scope.decorateRequest("refundRateLimit", null);
  scope.addHook("onRequest", async (request, reply) => {
    const limit = deps.config.rateLimitPerMinute;
    if (limit === 0 || !takesBody(request)) return;
    const key = `address:${ipPrefixOf(request.ip)}`;
    applyAllowance(reply, await deps.limiter.take(key, limit));
    request.refundRateLimit = () => {
      deps.limiter.refund(key);
      request.refundRateLimit = null;
    };
  });
}

/** Whether a body of the request would be read: any method but GET and HEAD can bring one, a preflight too. */
function takesBody({ method, headers }: FastifyRequest): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  return method !== "OPTIONS" || !isEmpty;
}
