import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route reads bodies of any length and handles stalled senders itself. */
    takesFiles?: boolean;
  }
}

/**
 * Ends requests whose body has not arrived in time. Node's own limit counts for every request of a server, and a
 * file may rightly take hours.
 */
export function limitBodyTime(
  app: FastifyInstance,
  limitMs: number,
  refuse: (error: Error & { code: string }, socket: Socket) => void,
): void {
  app.addHook("onRequest", async (request, reply) => {
    const { raw } = request;
    const hasBody =
      raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined;
    if (!hasBody || request.routeOptions.config.takesFiles) return;
    const timer = setTimeout(() => {
      if (raw.complete || raw.destroyed) return;
      refuse(
        Object.assign(new Error("the body took too long"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }),
        raw.socket,
      );
    }, limitMs);
    timer.unref();
    const stop = (): void => clearTimeout(timer);
    raw.once("end", stop);
    reply.raw.once("close", stop);
  });
}
