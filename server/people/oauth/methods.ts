import type { FastifyInstance, HTTPMethods } from "fastify";
import { methodNotAllowed } from "../../platform/http/errors/problem.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route only refuses a method. */
    isRefusal?: boolean;
  }
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] satisfies HTTPMethods[];

/** Responds to unsupported methods with 405 and `Allow` (RFC 9110, section 15.5.6), before any body is read. */
export function refuseOtherMethods(
  scope: FastifyInstance,
  url: string,
  allowed: readonly (typeof methods)[number][],
): void {
  scope.route({
    method: methods.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    config: { isRefusal: true },
    onRequest: async (request) => {
      throw methodNotAllowed(request, allowed);
    },
    handler: (_request, reply) => reply.send(),
  });
}
