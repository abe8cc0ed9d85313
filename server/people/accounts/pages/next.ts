/** Longer than any path of the app. */
const maxLength = 2000;

/**
 * The path to go to after sign-in: `next` if it is a path on this server, otherwise `/`. Browsers resolve `//host`,
 * `/\host` and texts that become one of them without tabs and newlines to another host (WHATWG URL), so `next` is parsed
 * by the same rules and must keep this origin.
 */
export function ownPath(next: unknown): string {
  if (typeof next !== "string" || next.length > maxLength) return "/";
  // Only characters that a URL may contain: no backslash, no control character, no space.
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)) return "/";
  // `/%2Fhost` and `/%5Chost` stay on this server, but a proxy that decodes them would redirect to another host.
  if (/^\/(?:%2f|%5c|%09|%0a|%0d|\.|%2e)/i.test(next)) return "/";
  const url = URL.parse(next, "https://own.invalid");
  return url !== null && url.origin === "https://own.invalid" && !url.pathname.startsWith("//") ? next : "/";
}
