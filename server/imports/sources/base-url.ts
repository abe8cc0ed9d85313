const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether credentials and recordings would be sent to a valid URL unencrypted over a network. */
export function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !loopback.has(hostname);
}

/** The one spelling of a service's URL, by which its imports recognize each other. @param url a valid URL. */
export function normalBaseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  // Bounded: at most 1,000 characters, or an option of the command line.
  return origin + pathname.replace(/\/+$/, "");
}
