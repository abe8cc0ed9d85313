/** Hosts that mean the user's own device. */
export const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Whether what is sent to a URL crosses a network unencrypted. */
export function isUnencrypted(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !loopbackHosts.has(hostname);
}

/** Who receives what is sent to a redirect URI, in words. */
export function describeTarget(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:") return `the app on this device that handles ${protocol}`;
  return loopbackHosts.has(hostname) ? "a program on this device" : host;
}
