import type { FastifyInstance } from "fastify";
import { ProblemError } from "./problem.ts";

/** Below it lie the routes that take files. */
export const filesPrefix = "/_/media/";

/** Corners of HTTP/1.1 in which Node by itself answers without a problem document, or not at all. */
export function keepToHttp(app: FastifyInstance): void {
  refuseMissingHost(app);
  closeAfterUpgrade(app);
  ignoreExpectations(app);
}

/** RFC 9112, section 3.2: an HTTP/1.1 request without a Host header is answered with 400. */
function refuseMissingHost(app: FastifyInstance): void {
  app.addHook("onRequest", async (request) => {
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
      throw new ProblemError("bad_request", "the request has no Host header");
  });
}

/**
 * No protocol but HTTP/1.1 is spoken here. A connection on which another was asked for is closed after the answer:
 * Node reads nothing malformed from it any more, and a client would wait for ever.
 */
function closeAfterUpgrade(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
  });
}

/**
 * RFC 9110, section 10.1.1: a server may treat an expectation it does not know as if it were not there. One that says
 * "100-continue" is met at once, except where a route takes files and says itself whether it wants one.
 */
function ignoreExpectations(app: FastifyInstance): void {
  app.server.on("checkContinue", (request, response) => {
    if (!request.url?.startsWith(filesPrefix)) response.writeContinue();
    app.server.emit("request", request, response);
  });
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
}
