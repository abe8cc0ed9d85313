/** As long as browsers and proxies reliably accept. */
const MAX_LENGTH = 2000;

/**
 * Ports of other protocols, which could read a request as a command: the "bad ports" of the Fetch standard, section 2.9 (port
 * blocking).
 */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** A hook's URL and its credentials. */
export interface HookTarget {
  /** Without user name and password. */
  readonly url: string;
  /** As `user:password`; null: the URL has none. */
  readonly credentials: string | null;
}

const userInfoPattern = /^(https?:\/\/)([^/?#\\]*)@/i;

/**
 * Splits the user name and password from a hook's URL: they are stored separately, encrypted, and sent as Basic
 * authentication. A URL without them is returned unchanged, even if it is invalid.
 * @returns a string if the credentials are invalid: the reason as the end of a sentence ("must …"), without repeating them.
 */
export function splitHookUrl(url: string): HookTarget | string {
  const found = userInfoPattern.exec(url);
  if (found === null) return { url, credentials: null };
  const [prefix, scheme = "", userInfo = ""] = found;
  // Programs disagree on which @ ends the user info.
  if (userInfo.includes("@")) return "must write @ in a user name or password as %40";
  const colon = userInfo.indexOf(":");
  const user = decodePercent(colon === -1 ? userInfo : userInfo.slice(0, colon));
  const password = decodePercent(colon === -1 ? "" : userInfo.slice(colon + 1));
  if (user === null || password === null)
    return "must have a user name and password in valid percent-encoding (write % as %25)";
  if (user === "" && password === "") return "must not have an empty user name and password before the @";
  // RFC 7617, section 2.
  if (user.includes(":"))
    return "must not have a colon in the user name, which Basic authentication can't send";
  if (hasControl(user) || hasControl(password))
    return "must not have control characters in the user name or password";
  return { url: scheme + url.slice(prefix.length), credentials: `${user}:${password}` };
}

/** The value of the Authorization header. Source: RFC 7617, section 2, with UTF-8. */
export function basicAuthorization(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}

/** Text without its percent-encoding; null if that is malformed. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  }
  return false;
}

/**
 * Checks the text of a hook's URL. @returns null, or the problem as the end of a sentence ("must be …"). Its IP addresses are
 * checked when a connection is opened (guarded-connect.ts), because a host name may resolve differently by then.
 */
export function checkHookUrl(url: string, rules: { readonly httpsOnly: boolean }): string | null {
  if (url.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const scheme = rules.httpsOnly ? "an https URL" : "an http or https URL";
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (authority === undefined) return `must be ${scheme}`;
  // The WHATWG parser removes or replaces these; other parsers read them differently, and a URL must be unambiguous.
  if (hasBlankOrControl(url) || url.includes("\\"))
    return "must not contain spaces, control characters or \\";
  if (authority === "") return "must name a host";
  if (!URL.canParse(url)) return "must be a valid URL";
  const parsed = new URL(url);
  if (rules.httpsOnly && parsed.protocol !== "https:") return `must be ${scheme}`;
  // Also in the text: an empty user name leaves no trace in the parsed URL.
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
