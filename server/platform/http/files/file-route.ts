import type { FastifyInstance, RouteHandlerMethod } from "fastify";

/** The URL carries the permission and no cookie counts, so pages of any origin that have it may read the file. */
const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "content-length, content-range, etag, retry-after, x-request-id",
};

/**
 * Registers the route of a file with a signed URL, for pages of any origin. A browser that was redirected here by an API
 * operation sends the headers of that request again, so they need a preflight response.
 */
export function fileRoute(app: FastifyInstance, url: string, handler: RouteHandlerMethod): void {
  app.route({
    method: ["GET", "HEAD"],
    url,
    exposeHeadRoute: false,
    onRequest: async (_request, reply) => {
      reply.headers(corsHeaders);
    },
    handler,
  });
  app.options(url, async (_request, reply) =>
    reply
      .headers({
        ...corsHeaders,
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": "*, authorization, public-api-version, range",
        "access-control-max-age": "86400",
      })
      .code(204)
      .send(),
  );
}
