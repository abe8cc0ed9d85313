import type { FastifyInstance } from "fastify";
import type { Listener } from "./listener.ts";

/**
 * Ends connections as the server stops: responses close theirs, which would otherwise stay open for the client's next
 * request, and after the grace time the remaining ones are cut.
 * @param graceMs how long requests in flight may continue once no more are accepted.
 * @param listener the port that was bound before the application was built; Fastify leaves closing it to us.
 * @param draining set ahead of closing, while load balancers still send requests.
 */
export function drainOnClose(
  app: FastifyInstance,
  {
    graceMs,
    listener,
    draining,
  }: { graceMs: number; listener: Listener | undefined; draining: { readonly isActive: boolean } },
): void {
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
    setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
    await listener?.close();
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing || draining.isActive) reply.header("connection", "close");
  });
}
