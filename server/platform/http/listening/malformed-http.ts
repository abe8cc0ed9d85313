import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { ErrorCode } from "../../../../contract/errors.ts";
import { problemDocument } from "../errors/problem.ts";
import { STATUS_CODES } from "../node-http.ts";

/** Problems for the errors of Node's HTTP parser. */
const causes: Readonly<Record<string, [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "the request headers are larger than this server accepts"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    "body_too_large",
    "the chunk extensions are larger than this server accepts",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "the request did not arrive in time"],
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Handles malformed HTTP. */
export interface MalformedHttp {
  /** For Fastify's clientErrorHandler. */
  refuse(error: Error & { code?: string }, socket: Socket): void;
  /** Tracks the requests in flight on each connection. */
  watch(app: FastifyInstance): void;
}

/**
 * Responds to malformed HTTP with a problem document if the connection is still writable, and closes it. Earlier complete
 * requests on the connection get their responses first.
 */
export function createMalformedHttp(): MalformedHttp {
  const inFlight = new WeakMap<Socket, Set<Exchange>>();
  const refused = new WeakSet<Socket>();
  return {
    refuse(error, socket) {
      if (error.code === "ECONNRESET" || socket.destroyed) return;
      // The parser reports an error again for all further data.
      if (refused.has(socket)) return;
      refused.add(socket);
      // An incomplete request is the malformed one itself; only complete ones get a response.
      const whole = [...(inFlight.get(socket) ?? [])].filter(({ request }) => request.complete);
      const responses = whole.map(
        ({ response }) => new Promise((resolve) => response.once("close", resolve)),
      );
      void Promise.all(responses).then(() => sendRefusal(error, socket));
    },
    watch(app) {
      app.addHook("onRequest", async (request, reply) => {
        const { socket } = request.raw;
        const exchanges = inFlight.get(socket) ?? new Set();
        inFlight.set(socket, exchanges);
        const exchange = { request: request.raw, response: reply.raw };
        exchanges.add(exchange);
        reply.raw.once("close", () => exchanges.delete(exchange));
      });
    },
  };
}

function sendRefusal(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [code, detail] = causes[error.code ?? ""] ?? ["bad_request", "the request is not valid HTTP"];
  const problem = problemDocument(code, detail, randomUUID());
  const { status } = problem;
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
