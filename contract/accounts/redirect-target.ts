/** Hosts that mean the user's own device. */
export const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Whether what is sent to a URL crosses a network unencrypted. */
export function isUnencrypted(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !loopbackHosts.has(hostname);
}

/** Who receives what is sent to a redirect URI. */
export interface RedirectTarget {
  readonly kind: "app" | "program" | "host";
  /** Of an app on this device, the scheme that it handles; otherwise the host. */
  readonly name: string;
}

export function redirectTargetOf(uri: string): RedirectTarget {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:") return { kind: "app", name: protocol };
  return { kind: loopbackHosts.has(hostname) ? "program" : "host", name: host };
}
