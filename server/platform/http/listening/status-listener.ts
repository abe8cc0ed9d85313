import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "../node-http.ts";

/** Responds to a GET or HEAD request of one path. */
type StatusHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** A small HTTP server for operators, apart from the API: health and metrics. */
export interface StatusListener {
  /** Adds a path. */
  serve(path: string, handler: StatusHandler): void;
  close(): Promise<void>;
}

/**
 * Listens for requests of monitoring programs.
 * @throws the system's error when the port can't be used, such as EADDRINUSE.
 */
export async function listenForStatus(address: {
  readonly host: string;
  readonly port: number;
}): Promise<StatusListener> {
  const handlers = new Map<string, StatusHandler>();
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8192 }, (request, response) => {
    const handler = handlers.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) return sendJson(response, 404, { status: "not found" });
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return sendJson(response, 405, { status: "method not allowed" });
    }
    Promise.resolve(handler(request, response)).catch((error: Error) => response.destroy(error));
  });
  server.listen(address);
  await once(server, "listening");
  return {
    serve: (path, handler) => void handlers.set(path, handler),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Responds with a JSON body. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
