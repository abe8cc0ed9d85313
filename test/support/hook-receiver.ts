import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { assertCompact } from "./compact.ts";
import { until } from "./until.ts";

/** A received request. */
interface ReceivedRequest {
  readonly method: string;
  /** Path with query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values alternating, in the order and case received. */
  readonly rawHeaders: readonly string[];
  /** The body, whose bytes the signature covers. */
  readonly raw: Buffer;
  /** The body as text. */
  readonly body: string;
  /** When the request was complete, in Unix ms. */
  readonly at: number;
}

/** How the server responds to one request, or fails on its connection. */
export type HookBehaviour = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface HookReceiver {
  /** Base URL, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  readonly port: number;
  /** All received requests, in order. */
  readonly requests: ReceivedRequest[];
  /** Behaviours for the next requests, whatever their path; then as before. */
  script(...behaviours: HookBehaviour[]): void;
  /** Sets the behaviour for a path. */
  at(path: string, behaviour: HookBehaviour): void;
  /** Behaviour for all other requests; initially `ok`. */
  otherwise(behaviour: HookBehaviour): void;
  /**
   * Waits for a number of requests, checks that webhooks among them are compact JSON that
   * the OpenAPI documents describe, and returns all of them.
   * @throws Error after a timeout.
   */
  waitFor(count: number, deadlineMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Number of connections: open now, and in total. */
  connections(): { readonly open: number; readonly ever: number };
  /** Stops it before the end of the test file; repeated calls have no effect. */
  close(): Promise<void>;
}

export interface HookReceiverOptions {
  /** Use TLS with the fixture certificate for localhost, hooks.test and the loopback IP addresses. */
  readonly tls?: boolean | "expired";
  /** IP address to listen on; default 127.0.0.1. */
  readonly address?: string;
  /** Port to listen on; default: a free one. */
  readonly port?: number;
}

/** The certificate, as PEM, that a sender must trust for a receiver with `tls`. */
export function receiverCertificate(kind: true | "expired" = true): string {
  return readFixture(kind === "expired" ? "expired.crt" : "receiver.crt");
}

function readFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), "utf8");
}

/** A real hook receiver that records requests and responds as configured. Stops with the calling test file. */
export async function startHookReceiver(options: HookReceiverOptions = {}): Promise<HookReceiver> {
  const { tls = false, address = "127.0.0.1" } = options;
  const requests: ReceivedRequest[] = [];
  const scripted: HookBehaviour[] = [];
  const paths = new Map<string, HookBehaviour>();
  let standard: HookBehaviour = ok;
  let ever = 0;
  const listener: RequestListener = (incoming, response) => {
    answer(incoming, response).catch(() => {
      // The sender aborted, or a behaviour failed, which the sender sees as a lost connection.
      response.destroy();
    });
  };
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    requests.push(request);
    const byPath = paths.get(request.path.split("?", 1)[0] ?? "");
    await (scripted.shift() ?? byPath ?? standard)(request, response);
  }
  const server = tls
    ? createTlsServer({ key: readFixture("receiver.key"), cert: receiverCertificate(tls) }, listener)
    : createServer(listener);
  server.on("connection", () => {
    ever++;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, address, resolve);
  });
  const { port } = server.address() as AddressInfo;
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended ??= new Promise((resolve) => {
      server.close(() => resolve());
      // Including requests that get no response.
      server.closeAllConnections();
    });
    return ended;
  };
  after(close);
  const host = address.includes(":") ? `[${address}]` : address;
  let checked = 0;
  async function checkWebhooks(): Promise<void> {
    const { assertWebhookDescribed } = await import("./openapi.ts");
    for (; checked < requests.length; checked += 1) {
      const { body = "" } = requests[checked] ?? {};
      if (!body.startsWith('{"type"')) continue;
      assertCompact(body);
      assertWebhookDescribed(JSON.parse(body));
    }
  }
  let open = 0;
  server.on(tls ? "secureConnection" : "connection", (socket) => {
    open++;
    socket.on("close", () => open--);
  });
  return {
    url: `${tls ? "https" : "http"}://${host}:${port}`,
    port,
    requests,
    script: (...behaviours) => void scripted.push(...behaviours),
    at: (path, behaviour) => void paths.set(path, behaviour),
    otherwise: (behaviour) => {
      standard = behaviour;
    },
    async waitFor(count, deadlineMs) {
      await until(`${count} requests at the receiver`, () => requests.length >= count, deadlineMs);
      await checkWebhooks();
      return requests;
    },
    connections: () => ({ open, ever }),
    close,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const raw = Buffer.concat(parts);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers,
    rawHeaders: incoming.rawHeaders,
    raw,
    body: raw.toString("utf8"),
    at: Date.now(),
  };
}

/** 200 with a short text. */
export const ok: HookBehaviour = (_request, response) => {
  response.writeHead(200, { "content-type": "text/plain", "content-length": "2" });
  response.end("ok");
};

/** Responds with a status, a body and headers. */
export const status =
  (code: number, body: string | Buffer = "", headers: Record<string, string> = {}): HookBehaviour =>
  (_request, response) => {
    response.writeHead(code, headers);
    response.end(body);
  };

/** 410 Gone. */
export const gone: HookBehaviour = status(410);

/** Responds with Retry-After: seconds, or an HTTP date. */
export const retryAfter = (value: string, code = 503): HookBehaviour =>
  status(code, "later", { "retry-after": value });

/** Redirects. */
export const redirect = (location: string, code = 302): HookBehaviour => status(code, "", { location });

/** Responds with 200 after a delay in ms. */
export const slow =
  (delayMs: number, then: HookBehaviour = ok): HookBehaviour =>
  (request, response) => {
    const timer = setTimeout(() => void then(request, response), delayMs);
    response.on("close", () => clearTimeout(timer));
  };

/** Never responds. */
export const hang: HookBehaviour = () => {};

/** Closes the connection without a response. */
export const hangUp: HookBehaviour = (_request, response) => void response.socket?.end();

/** Resets the connection (RST). */
export const reset: HookBehaviour = (_request, response) => void response.socket?.resetAndDestroy();

/** Responds with 200, sends less than its Content-Length, then resets the connection. */
export const cutShort: HookBehaviour = (_request, response) => {
  response.writeHead(200, { "content-length": "1000" });
  response.write("half of");
  setImmediate(() => response.destroy());
};

/** Sends an endless body until the sender disconnects. */
export const endless =
  (code = 200): HookBehaviour =>
  (_request, response) => {
    response.writeHead(code, { "content-type": "text/plain" });
    const block = Buffer.alloc(16 * 1024, "x");
    const more = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", more);
    more();
  };

/** Sends bytes one by one with a delay in ms between them, without ending the response. */
export const trickle =
  (bytes: string, everyMs: number): HookBehaviour =>
  (_request, response) => {
    const socket = response.socket;
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < bytes.length) socket?.write(bytes[sent++] ?? "");
    }, everyMs);
    response.on("close", () => clearInterval(timer));
  };

/** Sends raw bytes, which need not be HTTP, and closes the connection. */
export const rawAnswer =
  (bytes: string): HookBehaviour =>
  (_request, response) =>
    void response.socket?.end(bytes);
