import { connect, type Socket } from "node:net";
import type { FuzzRequest } from "./request.ts";

/** A response as read from the connection. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case name; the last value of repeated headers. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A client that sends raw bytes over keep-alive connections. */
export interface Client {
  /**
   * @returns the response, or null if the connection ended without one.
   * @throws Error after a timeout, or if the response is not HTTP.
   */
  exchange(request: FuzzRequest): Promise<RawResponse | null>;
  close(): void;
}

/**
 * Uses plain sockets, because Node's HTTP client refuses to send most malformed requests.
 * @param timeoutMs maximum time for a response.
 */
export function createClient(port: number, timeoutMs = 20_000): Client {
  const idle = new Set<Socket>();
  /** The previous request of a connection, which may be the cause of a later failure. */
  const served = new WeakMap<Socket, FuzzRequest>();

  function open(): Socket {
    for (const socket of idle) {
      idle.delete(socket);
      socket.removeAllListeners();
      if (!socket.destroyed && socket.readyState === "open") return socket;
    }
    return connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  }

  function keep(socket: Socket): void {
    socket.removeAllListeners();
    for (const event of ["end", "error", "close", "data"]) {
      socket.on(event, () => {
        idle.delete(socket);
        socket.destroy();
      });
    }
    idle.add(socket);
  }

  return {
    exchange(request) {
      const socket = open();
      return new Promise((resolve, reject) => {
        const reader = responseReader(request.isHead);
        let isFinished = false;
        const finish = (response: RawResponse | null, error?: Error): void => {
          if (isFinished) return;
          isFinished = true;
          clearTimeout(timer);
          socket.removeAllListeners();
          socket.on("error", () => {}); // Ignores errors of an abandoned connection.
          const isReusable = request.ending === "keep" && response?.headers.get("connection") !== "close";
          if (response !== null && isReusable && socket.writable && !socket.destroyed) keep(socket);
          else socket.destroy();
          if (error) reject(error);
          else resolve(response);
        };
        const earlier = served.get(socket);
        served.set(socket, request);
        const timer = setTimeout(
          () =>
            finish(
              null,
              new Error(
                `no response within ${timeoutMs} ms` +
                  (earlier === undefined
                    ? ""
                    : `; the connection's previous request was ${JSON.stringify(earlier.bytes.toString("latin1")).slice(0, 900)}`),
              ),
            ),
          timeoutMs,
        );
        const read = (isEnded: boolean): void => {
          try {
            const response = reader.read(isEnded);
            if (response !== null || isEnded) finish(response);
          } catch (error) {
            finish(null, error as Error);
          }
        };
        socket.on("data", (chunk: Buffer) => {
          reader.add(chunk);
          read(false);
        });
        socket.on("end", () => read(true));
        // A server that refuses a body closes the connection while it is sent; the response may have arrived.
        socket.on("error", () => read(true));
        socket.on("close", () => read(true));
        socket.write(request.bytes, () => {
          if (request.ending === "finish") socket.end();
          if (request.ending === "reset") {
            socket.resetAndDestroy();
            finish(null);
          }
        });
      });
    },
    close() {
      for (const socket of idle) socket.destroy();
    },
  };
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Offset of the body. */
  readonly bodyAt: number;
}

/** Reads the first final response from the received chunks. */
function responseReader(isHead: boolean) {
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Head | null = null;
  // Concatenating for every chunk would take quadratic time for a long response.
  let worthReadingAt = 0;
  return {
    add(chunk: Buffer): void {
      chunks.push(chunk);
      length += chunk.length;
    },
    /**
     * @param isEnded whether the connection has ended.
     * @returns null if the response is incomplete.
     */
    read(isEnded: boolean): RawResponse | null {
      if (length < worthReadingAt && !isEnded) return null;
      const bytes = Buffer.concat(chunks);
      chunks.splice(0, chunks.length, bytes);
      head ??= readHead(bytes, 0);
      if (head === null) return null;
      const { status, headers, bodyAt } = head;
      const isEmpty = isHead || status === 204 || status === 304;
      const body = isEmpty ? Buffer.alloc(0) : readBody(bytes.subarray(bodyAt), headers, isEnded);
      if (body !== null) return { status, headers, body };
      worthReadingAt = bodyAt + Number(headers.get("content-length") ?? length - bodyAt + 1);
      return null;
    },
  };
}

/** The head of the first response that is not 1xx, or null if it is incomplete. */
function readHead(bytes: Buffer, start: number): Head | null {
  const headEnd = bytes.indexOf("\r\n\r\n", start);
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an HTTP status line: ${JSON.stringify(statusLine)}`);
  const bodyAt = headEnd + 4;
  if (status < 200) return readHead(bytes, bodyAt);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status, headers: new Map(headers), bodyAt };
}

function readBody(rest: Buffer, headers: ReadonlyMap<string, string>, isEnded: boolean): Buffer | null {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(rest);
  const length = headers.get("content-length");
  if (length === undefined) return isEnded ? rest : null;
  return rest.length < Number(length) ? null : rest.subarray(0, Number(length));
}

function readChunks(rest: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("a chunk of the response has no size");
    if (size === 0) return Buffer.concat(pieces);
    if (rest.length < lineEnd + 2 + size + 2) return null;
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
