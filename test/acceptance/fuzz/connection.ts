import { connect, type Socket } from "node:net";
import type { FuzzRequest } from "./request.ts";

/** What came back over the connection. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of repeated ones the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A client that sends bytes as they are, over connections it keeps as long as the server does. */
export interface Client {
  /**
   * @returns the answer, or null when the connection ended without one.
   * @throws Error when nothing comes in time, or what comes is no HTTP.
   */
  exchange(request: FuzzRequest): Promise<Answer | null>;
  close(): void;
}

/**
 * Node's own client refuses to send most of what this test is about, hence one on bare sockets.
 * @param patienceMs how long an answer may take before the server counts as hanging.
 */
export function createClient(port: number, patienceMs = 20_000): Client {
  const idle = new Set<Socket>();
  /** What a connection carried before, since that may be the cause of what happens to it later. */
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
        const reader = answerReader(request.isHead);
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
        const earlier = served.get(socket);
        served.set(socket, request);
        const timer = setTimeout(
          () =>
            settle(
              null,
              new Error(
                `no answer within ${patienceMs} ms` +
                  (earlier === undefined
                    ? ""
                    : `; before, the connection carried ${JSON.stringify(earlier.bytes.toString("latin1")).slice(0, 900)}`),
              ),
            ),
          patienceMs,
        );
        const read = (isEnded: boolean): void => {
          try {
            const answer = reader.read(isEnded);
            if (answer !== null || isEnded) settle(answer);
          } catch (error) {
            settle(null, error as Error);
          }
        };
        socket.on("data", (chunk: Buffer) => {
          reader.add(chunk);
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

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Where the body begins. */
  readonly bodyAt: number;
}

/** Reads the first final answer from what comes, piece by piece. */
function answerReader(isHead: boolean) {
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Head | null = null;
  // Putting the pieces together each time would take a time that grows with the square of a long answer.
  let worthReadingAt = 0;
  return {
    add(chunk: Buffer): void {
      chunks.push(chunk);
      length += chunk.length;
    },
    /**
     * @param isEnded nothing more comes.
     * @returns null when the answer is not complete.
     */
    read(isEnded: boolean): Answer | null {
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

/** The head of the first answer that is not a provisional one, or null when it is not complete. */
function readHead(bytes: Buffer, start: number): Head | null {
  const headEnd = bytes.indexOf("\r\n\r\n", start);
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not the start of an HTTP answer: ${JSON.stringify(statusLine)}`);
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
    if (Number.isNaN(size)) throw new Error("a chunk of the answer has no size");
    if (size === 0) return Buffer.concat(pieces);
    if (rest.length < lineEnd + 2 + size + 2) return null;
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
