/** Hosts that mean the user's own device. */
export const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Who receives what is sent to a redirect URI, in words. */
export function describeTarget(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:") return `the app on this device that handles ${protocol}`;
  return loopbackHosts.has(hostname) ? "a program on this device" : host;
}
