import { isIPv4 } from "node:net";

/**
 * Normalizes the host of a Host header or a setting: lower case, ASCII, without port and trailing dot, IPv6 in brackets.
 * @returns null for an invalid host.
 */
export function hostNameOf(text: string): string | null {
  if (text === "" || /[\s/?#@\\]/.test(text)) return null;
  const name = URL.parse(`http://${text}`)?.hostname.replace(/\.$/, "");
  return name ? name : null;
}

/** Names that always mean this machine, so a foreign DNS server can't make a browser use them. */
export function isLoopbackHost(name: string): boolean {
  return name === "localhost" || name === "[::1]" || (isIPv4(name) && name.startsWith("127."));
}
