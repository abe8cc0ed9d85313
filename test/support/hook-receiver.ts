import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { until } from "./until.ts";

/** A request as it came. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, in the order and the letter case of the wire. */
  readonly rawHeaders: readonly string[];
  /** The bytes that a signature is checked against. */
  readonly raw: Buffer;
  /** The body as text. */
  readonly body: string;
  /** Ms since 1970, when the whole request was here. */
  readonly at: number;
}

/** How one request is answered: by a reply, or by doing with the socket what servers do when they fail. */
export type HookBehaviour = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface HookReceiver {
  /** Where it listens, without a path: `http://127.0.0.1:4000`. */
  readonly url: string;
  readonly port: number;
  /** Everything that came, in order. */
  readonly requests: ReceivedRequest[];
  /** What each of the next requests meets, whatever its path; after the last of them, as before. */
  script(...behaviours: HookBehaviour[]): void;
  /** What requests to this path meet from now on. */
  at(path: string, behaviour: HookBehaviour): void;
  /** What requests meet that neither a script nor a path is for; at first `ok`. */
  otherwise(behaviour: HookBehaviour): void;
  /**
   * Waits until so many requests have come, and returns all of them.
   * @throws Error when they do not come in time.
   */
  waitFor(count: number, deadlineMs?: number): Promise<readonly ReceivedRequest[]>;
  /** How many connections are open, and how many ever were. */
  connections(): { readonly open: number; readonly ever: number };
  /** Ends it before the test file does; more calls do nothing. */
  close(): Promise<void>;
}

export interface HookReceiverOptions {
  /** Speaks TLS with the certificate of the fixtures: for localhost, hooks.test and the loopback addresses. */
  readonly tls?: boolean | "expired";
  /** Listens here instead of 127.0.0.1. */
  readonly address?: string;
  /** Where it listens; a free port when left out. */
  readonly port?: number;
}

/** The certificate that a sender has to trust to reach a receiver with `tls`, as PEM. */
export function receiverCertificate(kind: true | "expired" = true): string {
  return readFixture(kind === "expired" ? "expired.crt" : "receiver.crt");
}

function readFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), "utf8");
}

/** A real receiver of hooks that keeps what it gets and answers as told. Ends with the calling test file. */
export async function startHookReceiver(options: HookReceiverOptions = {}): Promise<HookReceiver> {
  const { tls = false, address = "127.0.0.1" } = options;
  const requests: ReceivedRequest[] = [];
  const scripted: HookBehaviour[] = [];
  const paths = new Map<string, HookBehaviour>();
  let standard: HookBehaviour = ok;
  let ever = 0;
  const listener: RequestListener = (incoming, response) => {
    answer(incoming, response).catch(() => {
      // The sender left before its request was whole, or a behaviour failed: what a sender sees is a lost connection.
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
      // Also those it was told never to answer.
      server.closeAllConnections();
    });
    return ended;
  };
  after(close);
  const host = address.includes(":") ? `[${address}]` : address;
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
    waitFor: (count, deadlineMs) =>
      until(`${count} requests at the receiver`, () => requests.length >= count && requests, deadlineMs),
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

/** Answers with a status, a body and headers. */
export const status =
  (code: number, body: string | Buffer = "", headers: Record<string, string> = {}): HookBehaviour =>
  (_request, response) => {
    response.writeHead(code, headers);
    response.end(body);
  };

/** Wants nothing more, ever. */
export const gone: HookBehaviour = status(410);

/** Asks to wait: seconds, or an HTTP date. */
export const retryAfter = (value: string, code = 503): HookBehaviour =>
  status(code, "later", { "retry-after": value });

/** Points elsewhere. */
export const redirect = (location: string, code = 302): HookBehaviour => status(code, "", { location });

/** Answers with 200, so many ms later. */
export const slow =
  (delayMs: number, then: HookBehaviour = ok): HookBehaviour =>
  (request, response) => {
    const timer = setTimeout(() => void then(request, response), delayMs);
    response.on("close", () => clearTimeout(timer));
  };

/** Takes the request and never answers. */
export const hang: HookBehaviour = () => {};

/** Closes the connection in good order, without an answer. */
export const hangUp: HookBehaviour = (_request, response) => void response.socket?.end();

/** Breaks the connection off (RST). */
export const reset: HookBehaviour = (_request, response) => void response.socket?.resetAndDestroy();

/** Says 200 and promises more than it sends, then breaks the connection off. */
export const cutShort: HookBehaviour = (_request, response) => {
  response.writeHead(200, { "content-length": "1000" });
  response.write("half of");
  setImmediate(() => response.destroy());
};

/** A body that ends when the sender has enough of it. */
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

/** Sends these bytes one by one, each so many ms after the one before, and never ends: a whole answer or its body. */
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

/** Writes bytes that may be no HTTP at all, and closes. */
export const rawAnswer =
  (bytes: string): HookBehaviour =>
  (_request, response) =>
    void response.socket?.end(bytes);
