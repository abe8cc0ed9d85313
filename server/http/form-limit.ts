import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import { addressKey } from "./address-key.ts";
import { applyAllowance, type RateLimiter } from "./rate-limit.ts";

/**
 * Counts what forms of pages send by address, in one count with other requests that come without a good token.
 * @param paths only forms that are sent there; all of the scope by default.
 * @throws ProblemError `rate_limited`.
 */
export function limitForms(
  scope: FastifyInstance,
  deps: { readonly limiter: RateLimiter; readonly config: Pick<Config, "rateLimitPerMinute"> },
  paths?: readonly string[],
): void {
  const limit = deps.config.rateLimitPerMinute;
  if (limit === 0) return;
  scope.addHook("onRequest", async (request, reply) => {
    if (request.method !== "POST") return;
    if (paths !== undefined && !paths.includes(request.routeOptions.url ?? "")) return;
    applyAllowance(reply, await deps.limiter.take(`address:${addressKey(request.ip)}`, limit));
  });
}
