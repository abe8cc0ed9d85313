import type { Random } from "./random.ts";

export type Header = readonly [name: string, value: string];

/** Additional headers: odd, too many, too long, or meant for other servers. */
export const extraHeaders: readonly ((random: Random) => Header[])[] = [
  (random) => Array.from({ length: 50 + random.int(400) }, (_, n): Header => [`X-${n}`, "y"]),
  () => Array.from({ length: 2500 }, (): Header => ["a", ""]),
  (random) => [["X-Long", "z".repeat(15_000 + random.int(40_000))]],
  () => [[`X-${"n".repeat(17_000)}`, "v"]],
  () => [["Cookie", "a=b; ".repeat(3000)]],
  () => [["Host", "other.example"]],
  () => [
    ["Content-Type", "text/plain"],
    ["Content-Type", "application/json"],
  ],
  () => [
    ["Authorization", "Bearer x"],
    ["Authorization", "Basic eDp5"],
  ],
  () => [["Connection", "close"]],
  () => [
    ["Connection", "upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Key", "AAAA"],
  ],
  () => [
    ["Connection", "Upgrade, HTTP2-Settings"],
    ["Upgrade", "h2c"],
    ["HTTP2-Settings", "AAMAAABkAAQ"],
  ],
  () => [["Expect", "100-continue"]],
  () => [["Expect", "a-miracle"]],
  () => [["Content-Encoding", "gzip"]],
  () => [["Content-Encoding", "br, identity"]],
  () => [
    ["Accept", "application/xml;q=0"],
    ["Accept-Encoding", "*;q=0"],
  ],
  () => [
    ["TE", "trailers, deflate;q=0.5"],
    ["Trailer", "Content-Length"],
  ],
  () => [
    ["Range", "bytes=0-0,-1,5-2"],
    ["If-Range", '"x"'],
  ],
  () => [
    ["If-Match", "*"],
    ["If-None-Match", "*"],
    ["If-Modified-Since", "never"],
  ],
  () => [
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-Method-Override", "TRACE"],
  ],
  () => [
    ["X-Forwarded-For", "' ,,\x80"],
    ["X-Forwarded-Host", "evil.example"],
    ["Forwarded", "for=;by=,"],
  ],
  () => [
    ["X-Request-Id", "\xff".repeat(300)],
    ["traceparent", "00-x"],
  ],
  () => [
    ["Accept-Version", "9.9.9"],
    ["Origin", "null"],
    ["Access-Control-Request-Method", "PUT"],
  ],
  () => [
    ["__proto__", "x"],
    ["constructor", "y"],
    ["toString", "z"],
  ],
  (random) => [
    [
      "X-Bytes",
      random
        .bytes(200)
        .toString("latin1")
        .replace(/[^\t\x20-\x7e\x80-\xff]/g, "?"),
    ],
  ],
];
