import type { FastifyInstance, FastifyPluginAsync } from "fastify";

/**
 * Registers routes in a scope of their own: its hooks and parsers hold for no other routes. Fastify also takes functions
 * that call back when they are done, for which the linter would take an async one.
 * @param prefix of the paths of its routes.
 */
export function registerScope(
  app: FastifyInstance,
  addRoutes: (scope: FastifyInstance) => Promise<void>,
  prefix = "",
): FastifyInstance & PromiseLike<undefined> {
  const plugin: FastifyPluginAsync = addRoutes;
  return app.register(plugin, { prefix });
}
