import { type Context, correctCall, type Generator, targetNamed } from "./calls.ts";
import { type Random, seeded } from "./random.ts";
import { type FuzzRequest, type Parts, request, toBytes } from "./request.ts";

/** Bytes that are not, or only almost, an HTTP request. The client then ends its side. */
export const brokenFraming: Generator = (context, random) => {
  const [name, bytes] = random.pick(brokenStreams)(context, random);
  return raw(`broken framing: ${name}`, bytes);
};

function raw(kind: string, bytes: Buffer, more: Partial<FuzzRequest> = {}): FuzzRequest {
  return {
    kind,
    bytes,
    isHead: false,
    ending: "finish",
    expects: "any",
    mayGetNoResponse: true,
    target: null,
    ...more,
  };
}

type Stream = (context: Context, random: Random) => [name: string, bytes: Buffer];

const list = (context: Context, random: Random): Parts =>
  correctCall(context, random, targetNamed(context, "listRecordings"));

/** A valid request with these additional headers and this body. */
function framed(context: Context, random: Random, headers: string, body: string | Buffer): Buffer {
  const { body: _unused, ...head } = list(context, random);
  const text = toBytes(head).toString("latin1");
  return Buffer.concat([
    Buffer.from(text.replace(/\r\n\r\n$/, `\r\n${headers}\r\n\r\n`), "latin1"),
    Buffer.from(body),
  ]);
}

const brokenHeads: readonly string[] = [
  "GET /\r\n\r\n",
  "GET\r\n\r\n",
  " \r\n\r\n",
  "\r\n\r\n\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\nHost: a\n\n",
  "GET / HTTP/1.1\rHost: a\r\r",
  "GET / HTTP/1.0\r\n\r\n",
  "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
  "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
  "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
  "GET  /  HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET nothing HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET ? HTTP/1.1\r\nHost: a\r\n\r\n",
  "get / HTTP/1.1\r\nHost: a\r\n\r\n",
  "FOO / HTTP/1.1\r\nHost: a\r\n\r\n",
  "G\xcbT / HTTP/1.1\r\nHost: a\r\n\r\n",
  "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
  "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: \x01\r\n\r\n",
  "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nX\xe9: b\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nX: b",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
  "SSH-2.0-OpenSSH_9.9\r\n",
  "EHLO example.com\r\nMAIL FROM:<a@b>\r\n",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "\0".repeat(4000),
  "A".repeat(100_000),
  `GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(20_000)}\r\n`,
];

/** Content-Length and Transfer-Encoding that contradict the body or each other, as in request smuggling. */
const bodyFramings: readonly (readonly [headers: string, body: string])[] = [
  ["Content-Length: 10", "{}"],
  ["Content-Length: 1", '{"a":1}'],
  ["Content-Length: 0", "{}"],
  ["Content-Length: -1", "{}"],
  ["Content-Length: +2", "{}"],
  ["Content-Length: 0x2", "{}"],
  ["Content-Length: 2.0", "{}"],
  ["Content-Length: 2e0", "{}"],
  ["Content-Length: 2, 2", "{}"],
  ["Content-Length:", "{}"],
  ["Content-Length: two", "{}"],
  ["Content-Length: 99999999999999999999999", "{}"],
  ["Content-Length: 9007199254740993", "{}"],
  ["Content-Length: 18446744073709551617", "{}"],
  ["Content-Length: 2\r\nContent-Length: 2", "{}"],
  ["Content-Length: 2\r\nContent-Length: 7", "{}"],
  ["Content-Length: 2\r\nTransfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked\r\nContent-Length: 2", "0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["Transfer-Encoding: gzip", "{}"],
  ["Transfer-Encoding: identity", "{}"],
  ["Transfer-Encoding: chunked, gzip", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: gzip, chunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked, chunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: \x0bchunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding : chunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: xchunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "2\r\n{}\r\n"],
  ["Transfer-Encoding: chunked", "2\r\n{}"],
  ["Transfer-Encoding: chunked", "1\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "5\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "7FFFFFFF\r\n{}"],
  ["Transfer-Encoding: chunked", "-2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "0x2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "2\n{}\n0\n\n"],
  ["Transfer-Encoding: chunked", " 2\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", `2;${"e".repeat(30_000)}\r\n{}\r\n0\r\n\r\n`],
  ["Transfer-Encoding: chunked", '2;a="\r\n{}\r\n0\r\n\r\n'],
  ["Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\nX: trailer\r\nContent-Length: 5\r\n\r\n"],
  ["Transfer-Encoding: chunked", `2\r\n{}\r\n0\r\n${"X: trailer\r\n".repeat(5000)}\r\n`],
  ["Transfer-Encoding: chunked", `${"1\r\n \r\n".repeat(20_000)}0\r\n\r\n`],
  ["Expect: 100-continue\r\nContent-Length: 2", ""],
  ["Connection: Content-Length\r\nContent-Length: 2", "{}"],
];

const brokenStreams: readonly Stream[] = [
  (_context, random) => ["random bytes", random.bytes(1 + random.int(3000))],
  (_context, random) => {
    const head = random.pick(brokenHeads);
    return [JSON.stringify(head.slice(0, 40)), Buffer.from(head, "latin1")];
  },
  (context, random) => {
    const [headers, body] = random.pick(bodyFramings);
    return [headers, framed(context, random, headers, body)];
  },
  (context, random) => {
    const [headers, body] = random.pick(bodyFramings);
    return [headers, framed(context, random, headers, body)];
  },
  (context, random) => {
    const bytes = toBytes(list(context, random));
    for (let changes = 1 + random.int(5); changes > 0; changes--)
      bytes[random.int(bytes.length)] = random.int(256);
    return ["changed bytes", bytes];
  },
];

/** A client that leaves: within the head or the body, or before it has read the response. */
export const aborted: Generator = (context, random) => {
  const id = random.pick([
    "createUpload",
    "listRecordings",
    "updateRecording",
    "listUploads",
    "getTranscript",
  ]);
  const bytes = toBytes(correctCall(context, random, targetNamed(context, id)));
  // Never sends a complete creation, because without the response its result is unknown.
  const isWhole = id !== "createUpload" && random.chance(0.3);
  const sent = isWhole ? bytes : bytes.subarray(0, 1 + random.int(bytes.length - 1));
  return raw("aborted", sent, { ending: random.pick(["finish", "reset"]) });
};

/** Valid requests on one connection, followed by garbage: the valid ones must succeed. */
export const validThenGarbage: Generator = (context, random) => {
  const id = random.pick(["createUpload", "listRecordings", "listUsers"]);
  const target = targetNamed(context, id);
  const call = { ...correctCall(context, random, target) };
  const { bytes, ...rest } = request("valid then garbage", call, { target, expects: "2xx" });
  const rubbish = random.pick([
    "\0\0\0\0",
    "NONSENSE / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nno colon\r\n\r\n",
    "}\r\n",
  ]);
  return { ...rest, ending: "close", bytes: Buffer.concat([bytes, Buffer.from(rubbish)]) };
};

/** A refused upgrade, and requests after it on the same connection. */
export function afterUpgrade(context: Context): [upgrade: FuzzRequest, next: FuzzRequest] {
  const call = correctCall(context, seeded(3), targetNamed(context, "listUsers"));
  const headers = [...call.headers, ["Connection", "upgrade"], ["Upgrade", "websocket"]] as const;
  return [
    request("upgrade", { ...call, headers }, { expects: "2xx" }),
    raw("broken head after an upgrade", Buffer.from("GET / HTTP/1.1\r\nno colon\r\n\r\n"), {
      ending: "keep",
    }),
  ];
}
