import type { FastifyInstance, FastifyPluginAsync } from "fastify";

/**
 * Registers routes in a scope of their own: its hooks and parsers hold for no other routes.
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
