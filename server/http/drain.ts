import type { FastifyInstance } from "fastify";

/**
 * Lets a closing server come to an end: answers given from then on close their connection, which would otherwise
 * stay open for the client's next request, and after the grace time connections are cut.
 * @param graceMs how long requests in flight may go on.
 */
export function drainOnClose(app: FastifyInstance, graceMs: number): void {
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
    setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
}
