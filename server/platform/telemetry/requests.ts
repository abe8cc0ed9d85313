import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { requestFinished, requestStarted } from "./signals.ts";

/** Publishes each request and its outcome. */
export function reportRequests(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    requestStarted.publish(request);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    requestFinished.publish({
      operation: operationName(request),
      version: request.apiVersion ?? "none",
      status: statusOf(reply),
      seconds: reply.elapsedTime / 1000,
    });
    done();
  });
}

/** The operation of a request: never its path, which clients choose. */
export function operationName(request: FastifyRequest): string {
  return request.routeOptions.config.operation?.id ?? (request.is404 ? "unknown" : "other");
}

/** nginx's code for a client that disconnected before the response was complete. */
const clientClosedRequest = 499;

/** The status that the client received. */
export function statusOf({ raw, statusCode }: FastifyReply): number {
  return raw.writableFinished ? statusCode : clientClosedRequest;
}
