/** Hosts that mean the person's own machine. */
const loopbackHosts = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** What the answer adds to a redirect URI; one that holds these itself could be read two ways. */
const ownParameters = ["code", "state", "iss", "error", "error_description"];

/**
 * Why an app may not be registered with this redirect URI, in words; null when it may. Sources: RFC 6749, section
 * 3.1.2; RFC 8252, section 7; RFC 9700, section 2.1.
 */
export function redirectUriFault(uri: string, isPublic: boolean): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || !URL.canParse(uri))
    return "must be an absolute address in ASCII, such as https://app.example.com/callback";
  if (/[\\"'<>`{}|^]/.test(uri)) return "must not hold quotes, brackets, braces or backslashes";
  if (uri.includes("*")) return "must not hold *; addresses are compared character by character";
  if (uri.includes("#")) return "must not have a fragment";
  const url = new URL(uri);
  if (url.username !== "" || url.password !== "") return "must not carry a name or a password";
  const own = ownParameters.find((name) => url.searchParams.has(name));
  if (own !== undefined) return `must not have the parameter ${own}, which the answer adds`;
  // Without its slashes a browser takes `https:page` for a page of this server, where the answer would stay.
  if (/^https?:$/.test(url.protocol) && !/^https?:\/\//.test(uri))
    return "must begin with https:// or http://, in small letters";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:")
    return loopbackHosts.has(url.hostname)
      ? null
      : "must be https; http is for 127.0.0.1, [::1] and localhost";
  // RFC 8252, section 7.1: a domain of the app's makers in reverse, which no scheme of browsers looks like.
  if (!/^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/.test(url.protocol))
    return "must be https, http on the loopback interface, or a scheme of your own such as com.example.app:/callback";
  return isPublic ? null : "may have a scheme of its own only for a public client";
}

/**
 * Whether a request may send the answer here: exactly one of the registered addresses, character by character. For a
 * public client an address on a loopback IP without a port stands for that address on any port, since a native app
 * takes a free one (RFC 8252, section 7.3).
 */
export function isRegistered(uri: string, registered: readonly string[], isPublic: boolean): boolean {
  if (registered.includes(uri)) return true;
  if (!isPublic) return false;
  const [, host, port, rest] = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):(\d{1,5})(\/.*)?$/.exec(uri) ?? [];
  if (host === undefined || Number(port) > 65_535) return false;
  return registered.includes(`${host}${rest ?? ""}`);
}

/** The redirect URI with the answer in its query; what the query held before stays (RFC 6749, section 3.1.2). */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams(given)}`;
}

/** How a Content Security Policy names where a form may lead to by a redirect. */
export function formTargetOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  // CSP has no way to write an IPv6 address, and a scheme of an app has no origin.
  if (hostname.startsWith("[") || (protocol !== "https:" && protocol !== "http:")) return protocol;
  return origin;
}

/** Where a person is sent back to, in words. */
export function describeTarget(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:")
    return `the app on this device that answers to ${protocol}`;
  return loopbackHosts.has(hostname) ? "a program on this device" : host;
}

/** Why pages of this origin may not be allowed to call, in words; null when they may. */
export function corsOriginFault(origin: string): string | null {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  if (!isOrigin || origin.includes("*"))
    return "must be an origin such as https://app.example.com, without a path";
  const { protocol, hostname } = new URL(origin);
  if (protocol === "https:" || (protocol === "http:" && loopbackHosts.has(hostname))) return null;
  return "must be https; http is for 127.0.0.1, [::1] and localhost";
}
