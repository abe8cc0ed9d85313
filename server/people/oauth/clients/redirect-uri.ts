import { parse } from "tldts";
import { loopbackHosts } from "../../../../contract/accounts/redirect-target.ts";

/** Parameters that the response adds to a redirect URI, which therefore must not contain them. */
const ownParameters = ["code", "state", "iss", "error", "error_description"];

/** What the redirect URIs of an app may be. */
interface RedirectRules {
  readonly isPublic: boolean;
  /** Schemes that are allowed by name (setting PARLEY_OAUTH_REDIRECT_SCHEMES). */
  readonly schemes: readonly string[];
}

/**
 * Why an app may not be registered with this redirect URI, in words; null when it may. Sources: RFC 6749, section
 * 3.1.2; RFC 8252, section 7; RFC 9700, section 2.1.
 */
export function redirectUriProblem(uri: string, { isPublic, schemes }: RedirectRules): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || !URL.canParse(uri))
    return "must be an absolute URL in ASCII, such as https://app.example.com/callback";
  if (/[\\"'<>`{}|^]/.test(uri)) return "must not contain quotes, brackets, braces or backslashes";
  if (uri.includes("*")) return "must not contain *; URLs must match exactly";
  if (uri.includes("#")) return "must not have a fragment";
  const url = new URL(uri);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  const own = ownParameters.find((name) => url.searchParams.has(name));
  if (own !== undefined) return `must not have the parameter ${own}, which the response adds`;
  // Without slashes, browsers resolve `https:page` as a path on this server, and the response would never leave it.
  if (/^https?:$/.test(url.protocol) && !/^https?:\/\//.test(uri))
    return "must start with https:// or http:// in lower case";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:")
    return loopbackHosts.has(url.hostname)
      ? null
      : "must be https; http is only allowed for 127.0.0.1, [::1] and localhost";
  const scheme = url.protocol.slice(0, -1);
  if (!schemes.includes(scheme) && !isReversedDomain(scheme))
    return "must be https, http on the loopback interface, a scheme that is a domain you own in reverse, such as com.example.app:/callback, or a scheme in the setting PARLEY_OAUTH_REDIRECT_SCHEMES";
  return isPublic ? null : "may use a custom scheme only for a public client";
}

/**
 * Top-level domains that are also names of browsers or operating systems, which may handle every scheme that starts with
 * them.
 */
const systemLabels = new Set(["android", "chrome", "data", "file", "microsoft", "windows"]);

/**
 * Whether a scheme is a registrable domain in reverse (RFC 8252, section 7.1), such as `com.example.app`. This
 * allows schemes that apps own, and refuses schemes that browsers handle, such as `view-source.x`, without a list: their
 * first label is not a top-level domain in the Public Suffix List.
 */
function isReversedDomain(scheme: string): boolean {
  const labels = scheme.split(".");
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label))) return false;
  if (systemLabels.has(labels[0] ?? "")) return false;
  const { domain, isIcann, hostname } = parse(labels.reverse().join("."), { extractHostname: false });
  return hostname !== null && domain !== null && isIcann === true;
}

/**
 * Whether a redirect URI is registered, compared exactly. For a public client, a registered loopback URI without a port
 * matches every port, because native apps listen on a free one (RFC 8252, section 7.3).
 */
export function isRegistered(uri: string, registered: readonly string[], rules: RedirectRules): boolean {
  // An older version, or other settings, may have allowed URIs that are refused today.
  if (redirectUriProblem(uri, rules) !== null) return false;
  if (registered.includes(uri)) return true;
  if (!rules.isPublic) return false;
  const [, host, port, rest] =
    /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):(\d{1,5})(\/.*)?$/.exec(uri) ?? [];
  if (host === undefined || Number(port) > 65_535) return false;
  return registered.includes(`${host}${rest ?? ""}`);
}

/** The redirect URI with the response added to its query (RFC 6749, section 3.1.2). */
export function withResponse(uri: string, response: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(response).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams(given)}`;
}

/** The CSP form-action source that allows a form to redirect to this URI. */
export function formTargetOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  // CSP can't express IPv6 addresses, and a custom scheme has no origin.
  if (hostname.startsWith("[") || (protocol !== "https:" && protocol !== "http:")) return protocol;
  return origin;
}

/** Why an origin can't be registered for CORS, in words; null when it can. */
export function corsOriginProblem(origin: string): string | null {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  if (!isOrigin || origin.includes("*"))
    return "must be an origin such as https://app.example.com, without a path";
  const { protocol, hostname } = new URL(origin);
  if (protocol === "https:" || (protocol === "http:" && loopbackHosts.has(hostname))) return null;
  return "must be https; http is only allowed for 127.0.0.1, [::1] and localhost";
}
