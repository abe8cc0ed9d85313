/** Longer than any address of ours. */
const longest = 2000;

/**
 * Where to go after signing in, if that is a path of our own; `/` otherwise. Browsers take `//host`, `/\host` and what
 * becomes one of them once tabs and newlines are dropped for another host (WHATWG URL), so what is allowed is read by
 * the same rules and has to come back unchanged in origin.
 */
export function ownPath(next: unknown): string {
  if (typeof next !== "string" || next.length > longest) return "/";
  // Nothing but what an address is written with: no backslash, no control character, no space.
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)) return "/";
  // `/%2Fhost` and `/%5Chost` are ours as they stand, but a proxy that decodes once would send people away.
  if (/^\/(?:%2f|%5c|%09|%0a|%0d|\.|%2e)/i.test(next)) return "/";
  const url = URL.parse(next, "https://own.invalid");
  return url !== null && url.origin === "https://own.invalid" && !url.pathname.startsWith("//") ? next : "/";
}
