import { randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import { createServer as createNetServer, Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { discardBody } from "../errors/errors.ts";
import { problemDocument } from "../errors/problem.ts";
import { type TimeLimits, timeLimits } from "../limits/time-limits.ts";
import { createServer } from "../node-http.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A bound port. Requests wait until the application is ready to serve them. */
export interface Listener {
  /** For Fastify's `serverFactory`: gives it the server that is listening already. */
  attach(handler: Handler): Server;
  /** Serves the waiting requests, and all that follow. */
  open(): void;
  /** Refuses all requests but those for `/healthz` with 503. @param detail says why; null: serves requests again. */
  refuse(detail: string | null): void;
  /** Accepts no more connections, and resolves when the last one has ended. */
  close(): Promise<void>;
}

/** How Node's server reads requests, for Fastify's own server and for a bound listener. */
export function httpOptions(limits: TimeLimits): ServerOptions {
  return {
    // A missing Host header gets a problem document, like every other error.
    requireHostHeader: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(5000, limits.headersMs),
    keepAliveTimeout: 72_000,
    // Bodies have a limit of their own: a file may take hours.
    requestTimeout: 0,
  };
}

/** Requests beyond these are refused while the server starts. */
const maxWaiting = 1000;

/** How long a connection may take to send its first request once the server accepts no more. */
const maxFreshMs = 1000;

/** A start usually takes a few seconds; during a long migration, clients are asked to return later. */
const maxWaitMs = 15_000;

/**
 * Binds the port before anything else is done, so that a port in use is reported before anything is created or changed.
 * @param host a host name or IP address. `localhost` listens on all of its IP addresses.
 * @throws the system's error, such as EADDRINUSE.
 */
export async function bindListener(
  host: string,
  port: number,
  limits: TimeLimits = timeLimits,
): Promise<Listener> {
  const waiting = new Map<ServerResponse, { request: IncomingMessage; timer: NodeJS.Timeout }>();
  let handler: Handler | null = null;
  let isOpen = false;
  let refusal: string | null = null;

  function receive(request: IncomingMessage, response: ServerResponse): void {
    fresh.delete(request.socket);
    if (refusal !== null && request.url !== "/healthz") {
      const detail = refusal;
      // A connection that is closed before the body was read would be reset, and the response lost.
      void discardBody(request).then(() => refuse(response, detail));
      return;
    }
    if (isOpen && handler !== null) {
      handler(request, response);
      return;
    }
    if (waiting.size >= maxWaiting) {
      refuse(response);
      return;
    }
    const timer = setTimeout(() => {
      waiting.delete(response);
      refuse(response);
    }, maxWaitMs);
    waiting.set(response, { request, timer });
    response.once("close", () => {
      clearTimeout(timer);
      waiting.delete(response);
    });
  }

  const server = createServer(httpOptions(limits), receive);
  server.setTimeout(0);
  // Connections that have not sent a request yet.
  const fresh = new Set<Socket>();
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted += 1;
    fresh.add(socket);
    socket.once("close", () => fresh.delete(socket));
  });

  /**
   * Waits for a turn of the event loop that accepted nothing. Closing the port resets the connections that the system
   * has established and the process has not accepted; Node accepts one a turn.
   */
  async function acceptPending(): Promise<void> {
    const giveUpAt = performance.now() + 1000;
    for (let before = -1; before !== accepted && performance.now() < giveUpAt; ) {
      before = accepted;
      await nextTurn();
      await nextTurn();
    }
  }
  const [first, ...others] = await addressesOf(host);
  server.listen({ host: first, port });
  await once(server, "listening");
  // Their connections belong to the first server, so that limits and closing work the same for all.
  const more = others.map((address) =>
    createNetServer((socket) => server.emit("connection", socket))
      // Where an IP address of `localhost` is not available, the others serve.
      .on("error", () => {})
      .listen({ host: address, port }),
  );

  return {
    attach(application) {
      handler = application;
      return server;
    },
    open() {
      isOpen = true;
      for (const [response, { request, timer }] of waiting) {
        clearTimeout(timer);
        handler?.(request, response);
      }
      waiting.clear();
    },
    refuse(detail) {
      refusal = detail;
    },
    async close() {
      for (const response of waiting.keys()) refuse(response);
      await acceptPending();
      const ended = [server, ...more].map(
        // Not the HTTP server's own close: it cuts connections whose first request has arrived but was not read yet.
        (one) => new Promise<void>((resolve) => NetServer.prototype.close.call(one, () => resolve())),
      );
      const closeFreshAt = performance.now() + maxFreshMs;
      while (fresh.size > 0 && performance.now() < closeFreshAt) await sleep(20);
      server.closeIdleConnections();
      await Promise.all(ended);
    },
  };
}

async function addressesOf(host: string): Promise<string[]> {
  if (host !== "localhost") return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

function refuse(response: ServerResponse, detail = "the server is starting; try again later"): void {
  if (response.headersSent || response.destroyed) return;
  const problem = problemDocument("unavailable", detail, randomUUID());
  response
    .writeHead(problem.status, {
      "content-type": "application/problem+json",
      "retry-after": "5",
      connection: "close",
    })
    .end(JSON.stringify(problem));
}
