import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { type ErrorCode, errorCatalogue } from "../../contract/errors.ts";

/** What Node's HTTP parser refuses, as problems. */
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

/** Answers what is no HTTP. */
export interface BrokenHttp {
  /** For Fastify's clientErrorHandler. */
  answer(error: Error & { code?: string }, socket: Socket): void;
  /** Lets it know of the requests that are under way on each connection. */
  watch(app: FastifyInstance): void;
}

/**
 * Answers what is no HTTP with a problem document, as far as the connection still takes one, and closes it. A whole
 * request that came before on the same connection gets its answer first.
 */
export function createBrokenHttp(): BrokenHttp {
  const underWay = new WeakMap<Socket, Set<Exchange>>();
  const refused = new WeakSet<Socket>();
  return {
    answer(error, socket) {
      if (error.code === "ECONNRESET" || socket.destroyed) return;
      // The parser says so again with whatever comes after the first rubbish.
      if (refused.has(socket)) return;
      refused.add(socket);
      // What is still being received is the broken request itself; only whole ones will be answered.
      const whole = [...(underWay.get(socket) ?? [])].filter(({ request }) => request.complete);
      const answered = whole.map(({ response }) => new Promise((resolve) => response.once("close", resolve)));
      void Promise.all(answered).then(() => sendRefusal(error, socket));
    },
    watch(app) {
      app.addHook("onRequest", async (request, reply) => {
        const { socket } = request.raw;
        const exchanges = underWay.get(socket) ?? new Set();
        underWay.set(socket, exchanges);
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
  const [code, detail] = causes[error.code ?? ""] ?? ["bad_request", "the request is not well-formed HTTP"];
  const { status, title } = errorCatalogue[code];
  const body = JSON.stringify({
    type: `/docs/errors#${code}`,
    title,
    status,
    detail,
    error: code,
    request_id: randomUUID(),
  });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
