import { connect, type Socket } from "node:net";
import type { FuzzRequest } from "./request.ts";

/** What came back over the connection. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of repeated ones the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** How long an answer may take before the server counts as hanging. */
const patienceMs = 20_000;

/** A client that sends bytes as they are, over connections it keeps as long as the server does. */
export interface Client {
  /**
   * @returns the answer, or null when the connection ended without one.
   * @throws Error when nothing comes in time, or what comes is no HTTP.
   */
  exchange(request: FuzzRequest): Promise<Answer | null>;
  close(): void;
}

/** Node's own client refuses to send most of what this test is about, hence one on bare sockets. */
export function createClient(port: number): Client {
  const idle = new Set<Socket>();

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
        const chunks: Buffer[] = [];
        let isSettled = false;
        const settle = (answer: Answer | null, error?: Error): void => {
          if (isSettled) return;
          isSettled = true;
          clearTimeout(timer);
          socket.removeAllListeners();
          socket.on("error", () => {}); // Whatever becomes of a connection that is given up.
          const isReusable = request.ending === "keep" && answer?.headers.get("connection") !== "close";
          if (answer !== null && isReusable && socket.writable && !socket.destroyed) keep(socket);
          else socket.destroy();
          if (error) reject(error);
          else resolve(answer);
        };
        const timer = setTimeout(
          () => settle(null, new Error(`no answer within ${patienceMs} ms`)),
          patienceMs,
        );
        const read = (isEnded: boolean): void => {
          try {
            const answer = readAnswer(Buffer.concat(chunks), request.isHead, isEnded);
            if (answer !== null || isEnded) settle(answer);
          } catch (error) {
            settle(null, error as Error);
          }
        };
        socket.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          read(false);
        });
        socket.on("end", () => read(true));
        // A server that refuses a body closes while it still comes; the answer may be here all the same.
        socket.on("error", () => read(true));
        socket.on("close", () => read(true));
        socket.write(request.bytes, () => {
          if (request.ending === "finish") socket.end();
          if (request.ending === "reset") {
            socket.resetAndDestroy();
            settle(null);
          }
        });
      });
    },
    close() {
      for (const socket of idle) socket.destroy();
    },
  };
}

/**
 * Reads the first final answer from what has come.
 * @param isEnded nothing more comes.
 * @returns null when it is not complete.
 */
export function readAnswer(bytes: Buffer, isHead: boolean, isEnded: boolean): Answer | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not the start of an HTTP answer: ${JSON.stringify(statusLine)}`);
  const rest = bytes.subarray(headEnd + 4);
  if (status < 200) return readAnswer(rest, isHead, isEnded);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body =
    isHead || status === 204 || status === 304 ? Buffer.alloc(0) : readBody(rest, headers, isEnded);
  return body === null ? null : { status, headers, body };
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
    if (Number.isNaN(size)) throw new Error("a chunk of the answer has no size");
    if (size === 0) return Buffer.concat(pieces);
    if (rest.length < lineEnd + 2 + size + 2) return null;
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
