import type { Target } from "./targets.ts";

/** One request as it goes over the wire, and what may come back. */
export interface FuzzRequest {
  /** Which generator made it, for the report. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Whether the answer has no body because it is one to HEAD. */
  readonly isHead: boolean;
  /**
   * What the client does with the connection: `keep` it for the next request; `close` it once the answer is here;
   * `finish`, end its side right after the bytes, which Node takes for a client that has gone; `reset` it as soon as
   * they are sent.
   */
  readonly ending: "keep" | "close" | "finish" | "reset";
  /** What status is right; `any` still means none of 500 and above. */
  readonly expects: "any" | "2xx" | "4xx" | "414";
  /** No answer at all is right too: the client broke off, or what it sent is no request. */
  readonly mayStaySilent: boolean;
  /** The operation it calls, when the address is untouched: a good answer must then have its form. */
  readonly target: Target | null;
}

/** A request before it is written down. */
export interface Parts {
  readonly method: string;
  readonly path: string;
  /** In this order, repeated as given; Content-Length is added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  /** Sizes of the chunks to send the body in, used in turn. */
  readonly chunks?: readonly number[];
}

/** Writes a request line, headers and body with correct framing. Header values are Latin-1, the path UTF-8. */
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

/** A well-framed request that any answer below 500 is right for, unless told otherwise. */
export function request(kind: string, parts: Parts, more: Partial<FuzzRequest> = {}): FuzzRequest {
  return {
    kind,
    bytes: toBytes(parts),
    isHead: parts.method === "HEAD",
    ending: "keep",
    expects: "any",
    mayStaySilent: false,
    target: null,
    ...more,
  };
}
