/** No connection was made, for a reason that is already in plain words. */
export class HookConnectError extends Error {
  override readonly name = "HookConnectError";
  readonly code = "HOOK_CONNECT";
}

/** What went wrong, by the codes of Node (sockets, DNS, TLS) and undici. */
const words: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was closed before an answer came"],
  ["EPIPE", "the connection was closed before an answer came"],
  ["UND_ERR_SOCKET", "the connection was closed before an answer came"],
  ["ETIMEDOUT", "there was no answer to the connection"],
  ["EHOSTUNREACH", "there is no way to the address"],
  ["ENETUNREACH", "there is no way to the address"],
  ["EADDRNOTAVAIL", "there is no way to the address"],
  ["ENOTFOUND", "the name of the host does not exist"],
  ["EAI_AGAIN", "the name of the host could not be looked up"],
  ["CERT_HAS_EXPIRED", "the TLS certificate has expired"],
  ["CERT_NOT_YET_VALID", "the TLS certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the TLS certificate is for another name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the TLS certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the TLS certificate comes from an unknown authority"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the TLS certificate comes from an unknown authority"],
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "the TLS certificate comes without its chain, or from an unknown authority",
  ],
  ["UND_ERR_HEADERS_OVERFLOW", "the headers of the answer are too large"],
]);

/** Codes that come in families. */
const families: readonly (readonly [prefix: string, text: string])[] = [
  ["ERR_SSL_", "there was no agreement on TLS: the other side may not speak it"],
  ["EPROTO", "there was no agreement on TLS: the other side may not speak it"],
  ["ERR_TLS_", "there was no agreement on TLS"],
  ["EAI_", "the name of the host could not be looked up"],
];

/** An error of the network in plain words, without addresses of files or traces. */
export function inWords(error: Error): string {
  if (error instanceof HookConnectError) return error.message;
  // Several addresses were tried; the first one's reason is as good as any.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return inWords(error.errors[0]);
  // undici gives it no code.
  if (error.name === "HTTPParserError") return "the answer is not HTTP/1.1";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = words.get(code) ?? families.find(([prefix]) => code.startsWith(prefix))?.[1];
  return known ?? `the request failed: ${code === "" ? error.message : code}`;
}
