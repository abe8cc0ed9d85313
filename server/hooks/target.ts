/** As long as browsers and proxies reliably take. */
const MAX_LENGTH = 2000;

/**
 * Ports that speak something else than HTTP, where a request could be taken for a command of that protocol: the "bad
 * ports" of the Fetch standard, section 2.9 (port blocking).
 */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Whether a hook may be sent to this URL, as far as the text tells: null, or what is wrong with it as the end of a
 * sentence ("must be …"). Which addresses it leads to is not looked at: a name may lead elsewhere by the next minute,
 * so that is decided when a connection is made (send-connect.ts), on the host as the WHATWG parser normalises it.
 */
export function checkHookUrl(url: string, rules: { readonly httpsOnly: boolean }): string | null {
  if (url.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const scheme = rules.httpsOnly ? "an https URL" : "an http or https URL";
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (authority === undefined) return `must be ${scheme}`;
  // The parser drops or mends these; others read them differently, and a URL should mean one thing to everybody.
  if (hasBlankOrControl(url) || url.includes("\\"))
    return "must not contain spaces, control characters or \\";
  if (authority === "") return "must name a host";
  if (!URL.canParse(url)) return "must be a valid URL";
  const parsed = new URL(url);
  if (rules.httpsOnly && parsed.protocol !== "https:") return `must be ${scheme}`;
  // The text as well: an empty user name leaves no trace in the parsed URL.
  if (authority.includes("@") || parsed.username !== "" || parsed.password !== "")
    return "must not contain a user name or password";
  if (parsed.port !== "" && badPorts.has(Number(parsed.port)))
    return `must not use port ${parsed.port}, which belongs to another protocol`;
  return null;
}

function hasBlankOrControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || (code >= 0x7f && code <= 0xa0)) return true;
  }
  return false;
}
