import type { FastifyInstance } from "fastify";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { RateLimiter } from "../../platform/http/limits/rate-limit.ts";
import { registerScope } from "../../platform/http/scope.ts";
import { guardScim, nothingAt } from "./guard.ts";
import { readRoutes } from "./read-routes.ts";
import { handleScimError } from "./scim-error.ts";
import { scimPath } from "./scim-path.ts";
import { writeRoutes } from "./write-routes.ts";

/** SCIM 2.0, with which an identity provider manages users and teams. Sources: RFC 7643, RFC 7644. */
export async function scimRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "baseUrl" | "rateLimitPerMinute">;
    readonly limiter: RateLimiter;
  },
): Promise<void> {
  const { db, config } = deps;
  await registerScope(
    app,
    async (scope) => {
      scope.setErrorHandler(handleScimError);
      guardScim(scope, deps);
      // A handler of this scope makes unknown paths below the prefix pass the guard too, which refuses them.
      scope.setNotFoundHandler((request) => {
        throw nothingAt(request);
      });
      readRoutes(scope, db, config.baseUrl + scimPath);
      writeRoutes(scope, db, config.baseUrl + scimPath);
    },
    scimPath,
  );
}
