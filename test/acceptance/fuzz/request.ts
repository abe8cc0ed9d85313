import type { Target } from "./targets.ts";

/** One request as sent, and the allowed responses. */
export interface FuzzRequest {
  /** The generator's name, for the report. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** A HEAD request, whose response has no body. */
  readonly isHead: boolean;
  /**
   * What the client does with the connection: `keep` it for the next request; `close` it after the response;
   * `finish`, end its side right after the bytes, which Node treats as a client that has left; `reset` it as soon as the
   * bytes are sent.
   */
  readonly ending: "keep" | "close" | "finish" | "reset";
  /** The expected status; `any` still excludes 5xx. */
  readonly expects: "any" | "2xx" | "4xx" | "414";
  /** No response is right too, because the client aborted or sent no valid request. */
  readonly mayGetNoResponse: boolean;
  /** The operation, if the path is unchanged: a 200 response must then match its schema. */
  readonly target: Target | null;
}

/** The parts of a request before serialization. */
export interface Parts {
  readonly method: string;
  readonly path: string;
  /** In this order, repeated as given; Content-Length is added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  /** Sizes of the chunks to send the body in, used in turn. */
  readonly chunks?: readonly number[];
}

/** Serializes a request line, headers and body with correct framing. Header values are Latin-1, the path UTF-8. */
export function toBytes(parts: Parts): Buffer {
  const { method, path, headers, body, chunks } = parts;
  const framing: [string, string][] =
    body === undefined
      ? []
      : chunks === undefined
        ? [["Content-Length", String(body.length)]]
        : [["Transfer-Encoding", "chunked"]];
  const lines = [["Host", "127.0.0.1"], ...headers, ...framing].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n`),
    Buffer.from(`${lines.join("")}\r\n`, "latin1"),
    ...(body === undefined ? [] : chunks === undefined ? [body] : inChunks(body, chunks)),
  ]);
}

function inChunks(body: Buffer, sizes: readonly number[]): Buffer[] {
  const written: Buffer[] = [];
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const piece = body.subarray(at, at + Math.max(1, sizes[turn % sizes.length] ?? 1));
    written.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
    at += piece.length;
  }
  return [...written, Buffer.from("0\r\n\r\n")];
}

/** A well-framed request. By default any response below 500 is right. */
export function request(kind: string, parts: Parts, more: Partial<FuzzRequest> = {}): FuzzRequest {
  return {
    kind,
    bytes: toBytes(parts),
    isHead: parts.method === "HEAD",
    ending: "keep",
    expects: "any",
    mayGetNoResponse: false,
    target: null,
    ...more,
  };
}
