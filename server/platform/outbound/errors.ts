import { sentenceOf, sentences } from "../../../contract/sentences.ts";

/** No connection was opened; the message is for users. */
export class HookConnectError extends Error {
  override readonly name = "HookConnectError";
  readonly code = "HOOK_CONNECT";
}

/** The guard forbids the IP address. */
export class ForbiddenAddressError extends HookConnectError {}

/** Messages by the error codes of Node (sockets, DNS, TLS) and undici. */
const messages: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", sentences.net_refused],
  ["ECONNRESET", sentences.net_closed],
  ["EPIPE", sentences.net_closed],
  ["UND_ERR_SOCKET", sentences.net_closed],
  ["ETIMEDOUT", sentences.net_timeout],
  ["EHOSTUNREACH", sentences.net_unreachable],
  ["ENETUNREACH", sentences.net_unreachable],
  ["EADDRNOTAVAIL", sentences.net_unreachable],
  ["ENOTFOUND", sentences.net_no_host],
  ["EAI_AGAIN", sentences.net_unresolved],
  ["CERT_HAS_EXPIRED", sentences.net_expired],
  ["CERT_NOT_YET_VALID", sentences.net_not_valid_yet],
  ["ERR_TLS_CERT_ALTNAME_INVALID", sentences.net_other_host],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", sentences.net_self_signed],
  ["SELF_SIGNED_CERT_IN_CHAIN", sentences.net_unknown_authority],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", sentences.net_unknown_authority],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", sentences.net_no_chain],
  ["UND_ERR_HEADERS_OVERFLOW", sentences.net_headers],
]);

/** Messages by the first characters of a code. */
const families: readonly (readonly [prefix: string, text: string])[] = [
  ["ERR_SSL_", sentences.net_no_tls],
  ["EPROTO", sentences.net_no_tls],
  ["ERR_TLS_", sentences.net_tls],
  ["EAI_", sentences.net_unresolved],
];

/** Describes a network error for users, without file paths or stack traces. */
export function describeNetworkError(error: Error): string {
  if (error instanceof HookConnectError) return error.message;
  // Several IP addresses were tried; the first one's reason is as good as any.
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return describeNetworkError(error.errors[0]);
  // undici sets no code for it.
  if (error.name === "HTTPParserError") return sentences.net_not_http;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return messageOf(code) ?? sentenceOf("net_failed", { reason: code === "" ? error.message : code });
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
