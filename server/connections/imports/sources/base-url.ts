/** The one spelling of a service's URL, by which its imports recognize each other. @param url a valid URL. */
export function normalBaseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  // Bounded: at most 1,000 characters, or an option of the command line.
  return origin + pathname.replace(/\/+$/, "");
}
