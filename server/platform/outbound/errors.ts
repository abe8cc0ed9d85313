/** No connection was opened; the message is for users. */
export class HookConnectError extends Error {
  override readonly name = "HookConnectError";
  readonly code = "HOOK_CONNECT";
}

/** The guard forbids the IP address. */
export class ForbiddenAddressError extends HookConnectError {}

/** Messages by the error codes of Node (sockets, DNS, TLS) and undici. */
const messages: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was closed before a response arrived"],
  ["EPIPE", "the connection was closed before a response arrived"],
  ["UND_ERR_SOCKET", "the connection was closed before a response arrived"],
  ["ETIMEDOUT", "the connection timed out"],
  ["EHOSTUNREACH", "the host is unreachable"],
  ["ENETUNREACH", "the host is unreachable"],
  ["EADDRNOTAVAIL", "the host is unreachable"],
  ["ENOTFOUND", "the host name does not exist"],
  ["EAI_AGAIN", "the host name could not be resolved"],
  ["CERT_HAS_EXPIRED", "the TLS certificate has expired"],
  ["CERT_NOT_YET_VALID", "the TLS certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the TLS certificate is for another host name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the TLS certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the TLS certificate comes from an unknown authority"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the TLS certificate comes from an unknown authority"],
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "the TLS certificate comes without its chain, or from an unknown authority",
  ],
  ["UND_ERR_HEADERS_OVERFLOW", "the response headers are too large"],
]);

/** Messages by the first characters of a code. */
const families: readonly (readonly [prefix: string, text: string])[] = [
  ["ERR_SSL_", "the TLS handshake failed; the port may not use TLS"],
  ["EPROTO", "the TLS handshake failed; the port may not use TLS"],
  ["ERR_TLS_", "the TLS handshake failed"],
  ["EAI_", "the host name could not be resolved"],
];

/** Describes a network error for users, without file paths or stack traces. */
export function describeNetworkError(error: Error): string {
  if (error instanceof HookConnectError) return error.message;
  // Several IP addresses were tried; the first one's reason is as good as any.
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return describeNetworkError(error.errors[0]);
  // undici sets no code for it.
  if (error.name === "HTTPParserError") return "the response is not HTTP/1.1";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return messageOf(code) ?? `the request failed: ${code === "" ? error.message : code}`;
}

/** What an error of the network or of TLS means, which may be the cause of this one; null: it is none. */
export function findNetworkReason(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // nodemailer replaces the code, and keeps it.
  const { code, originalCode } = error as { code?: unknown; originalCode?: unknown };
  const known = messageOf(String(originalCode ?? code));
  return known ?? findNetworkReason(error instanceof AggregateError ? error.errors[0] : error.cause);
}

function messageOf(code: string): string | undefined {
  return messages.get(code) ?? families.find(([prefix]) => code.startsWith(prefix))?.[1];
}
