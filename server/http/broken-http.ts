import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
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

/** Answers what is no HTTP with a problem document, as far as the connection still takes one, and closes it. */
export function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
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
