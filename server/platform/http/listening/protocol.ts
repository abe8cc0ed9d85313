import type { FastifyInstance } from "fastify";
import { ProblemError } from "../errors/problem.ts";

/** Path of the routes that receive files. */
export const filesPrefix = "/_/media/";

/** Covers cases of HTTP/1.1 in which Node responds without a problem document, or not at all. */
export function enforceProtocol(app: FastifyInstance): void {
  refuseMissingHost(app);
  closeAfterUpgrade(app);
  ignoreExpectations(app);
}

/** RFC 9112, section 3.2: an HTTP/1.1 request without a Host header gets 400. */
function refuseMissingHost(app: FastifyInstance): void {
  app.addHook("onRequest", async (request) => {
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
      throw new ProblemError("bad_request", "the request has no Host header");
  });
}

/**
 * Only HTTP/1.1 is supported. A connection with an upgrade request is closed after the response, because Node no longer
 * reports malformed data on it, and the client would wait indefinitely.
 */
function closeAfterUpgrade(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
  });
}

/**
 * RFC 9110, section 10.1.1: a server may ignore unknown expectations. `100-continue` is confirmed at once, except on routes
 * that receive files, which decide themselves.
 */
function ignoreExpectations(app: FastifyInstance): void {
  app.server.on("checkContinue", (request, response) => {
    if (!request.url?.startsWith(filesPrefix)) response.writeContinue();
    app.server.emit("request", request, response);
  });
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
}
