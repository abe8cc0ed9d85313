import { isIP, isIPv6 } from "node:net";
import { isAbsolute, resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import {
  isVersionName,
  type VersionName,
  type VersionStatus,
  versionStatuses,
} from "../../../contract/versions.ts";
import { parseRanges } from "../outbound/address-ranges.ts";
import { readProxy } from "../outbound/proxy.ts";
import { bucketPrefixRule } from "../storage/key-rules.ts";
import { hostNameOf } from "./host-name.ts";

/** The status of one API version in `PARLEY_VERSION_STATUS`. */
export interface VersionOverride {
  readonly status: VersionStatus;
  /** Retirement date of a sunsetting version. */
  readonly sunsetOn?: string;
}

type VersionStatuses = ReadonlyMap<VersionName, VersionOverride>;

/** Milliseconds of each unit. */
export const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration such as `90s`, `24h` or `7d`.
 * @returns milliseconds, or null when the text is not a duration.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return null;
  return Math.round(Number(match[1]) * units[match[2] as keyof typeof units]);
}

/** The entries of a comma-separated list; none for an empty text. */
function entriesOf(text: string): string[] {
  return text === "" ? [] : text.split(",").map((entry) => entry.trim());
}

/** A whole number within these bounds. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ type: `whole number from ${min} to ${max}` });

const maxMs = 3650 * units.d;

/** A duration such as `90s`, in milliseconds; at most ten years. */
export const duration = z
  .string()
  .transform((text, context) => {
    const ms = parseDuration(text);
    if (ms === null || ms === 0 || ms > maxMs) {
      context.addIssue("must be a duration such as 90s, 24h or 7d, at most ten years");
      return z.NEVER;
    }
    return ms;
  })
  .meta({ type: "duration" });

/** `0` or a duration of at most five minutes, in milliseconds. */
export const pause = z.string().transform((text, context) => {
  const ms = text.trim() === "0" ? 0 : parseDuration(text);
  if (ms === null || ms > 5 * units.m) {
    context.addIssue("must be 0 or a duration such as 10s, at most five minutes");
    return z.NEVER;
  }
  return ms;
});

/** `host:port` to listen at, or a port alone for the loopback interface. */
export const listenAddress = z.string().transform((text, context) => {
  const match = /^(?:(\[[0-9a-fA-F:.]{2,45}\]|[^:\s]{1,253}):)?(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) {
    context.addIssue("must be a port such as 3001, or host and port such as 0.0.0.0:3001");
    return z.NEVER;
  }
  return { host: match[1]?.replace(/^\[|\]$/g, "") ?? "127.0.0.1", port };
});

const byteUnits = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** An amount of bytes such as `500GB` or `1TiB`, at least one. */
export const byteSize = z
  .string()
  .transform((text, context) => {
    const [, amount = "", unit = "B"] =
      /^(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]iB|[kMGT]?B)?$/.exec(text.trim()) ?? [];
    const bytes = Math.round(Number(amount) * byteUnits[unit as keyof typeof byteUnits]);
    if (amount !== "" && bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER) return bytes;
    context.addIssue("must be an amount of bytes such as 500GB, 1TiB or 1000000");
    return z.NEVER;
  })
  .meta({ type: "bytes" });

/** A time of day, such as `03:00`; in minutes after midnight. */
export const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 03:00")
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

/** How many backups to keep: the newest of so many days, weeks and months. */
export interface KeepRule {
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

/** How many backups to keep, such as `7d,4w,12m`. */
export const keepRule = z.string().transform((text, context): KeepRule => {
  const parts = text.split(",").map((part) => /^(\d{1,4})([dwm])$/.exec(part.trim()));
  const counts = new Map(parts.map((part) => [part?.[2], Number(part?.[1])]));
  const isValid = parts.every((part) => part !== null) && counts.size === parts.length;
  if (isValid && [...counts.values()].some((count) => count > 0))
    return { days: counts.get("d") ?? 0, weeks: counts.get("w") ?? 0, months: counts.get("m") ?? 0 };
  context.addIssue("must be numbers of days, weeks and months, such as 7d,4w,12m");
  return z.NEVER;
});

/** Yes or no. */
export const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((text) => text === "true" || text === "1")
  .meta({ type: "true | false" });

/** On or off. */
export const onOff = z
  .enum(["on", "off"])
  .transform((text) => text === "on")
  .meta({ type: "on | off" });

/** Key of a bucket: `ID:SECRET`. */
export const accessKey = z.string().transform((text, context) => {
  const [, id = "", secret = ""] = /^([^:\s]{1,200}):(\S{1,500})$/.exec(text.trim()) ?? [];
  if (id !== "") return { id, secret };
  context.addIssue("must be an access key ID and a secret access key, separated by a colon");
  return z.NEVER;
});

/** What a setting takes, in words: `duration`, `bytes`, the choices separated by `|`, or `text`. */
export function typeOf(kind: z.ZodType): string {
  const type = kind.meta()?.type;
  if (typeof type === "string") return type;
  return kind instanceof z.ZodEnum ? kind.options.join(" | ") : "text";
}

/** Seconds, comma separated; in milliseconds. */
export const retrySchedule = z.string().transform((text, context): readonly number[] => {
  const seconds = entriesOf(text);
  if (seconds.length <= 100 && seconds.every((part) => /^\d{1,7}(\.\d+)?$/.test(part)))
    return seconds.map((part) => Math.round(Number(part) * 1000));
  context.addIssue("must be seconds, comma separated, such as 5,30,300");
  return z.NEVER;
});

/** A folder in a bucket. */
export const bucketPrefix = z
  .string()
  .regex(bucketPrefixRule, "must be at most 200 letters, digits, ._=- and /, and must not start with /")
  // Bounded: a setting.
  .transform((text) => `${text.replace(/\/+$/, "")}/`);

/**
 * The URL of this service as its origin, the only form that is used from then on.
 * @throws Error whose message ends a sentence ("must …") and says what to set.
 */
export function parseBaseUrl(text: string): string {
  const url = parseHttpUrl(text);
  if (url === null) throw new Error("must be an http or https URL such as https://parley.example.com");
  if (/[^/]/.test(url.pathname) || url.search !== "" || url.hash !== "")
    throw new Error(
      `must have nothing after the host and port, because Parley has no path of its own: set it to ${url.origin} and give Parley a host name or port of its own`,
    );
  if (hasUserInfo(url)) throw new Error(`must not contain a user name or password: set it to ${url.origin}`);
  return url.origin;
}

/** The URL of this service; see parseBaseUrl. */
export const baseUrl = z.string().transform((text, context) => {
  try {
    return parseBaseUrl(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});

/** The URL of another server, normalized and without a trailing slash. A user name and password are allowed. */
export const httpUrlWithUser = z.string().transform((text, context) => {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== "" || url.hash !== "") {
    context.addIssue("must be an http or https URL without a query");
    return z.NEVER;
  }
  // Bounded: a setting.
  return url.href.replace(/[?#]$/, "").replace(/\/+$/, "");
});

/** The same without user name and password, which would not be sent. */
export const httpUrl = httpUrlWithUser.refine(
  (text) => !hasUserInfo(new URL(text)),
  "must not contain a user name or password, which have settings of their own",
);

/** Null: not an absolute http or https URL. Text around it and other notations of the same URL don't matter. */
function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" ? url : null;
}

function hasUserInfo({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

/** An HTTP proxy. A name without a scheme is one of HTTP, as in the standard variables. */
export const proxyUrl = z.string().transform((text, context) => {
  try {
    const proxy = readProxy("https:", { HTTPS_PROXY: text });
    if (proxy !== null) return proxy.url.href;
  } catch (error) {
    context.addIssue((error as Error).message.replace(/^\w+ /, ""));
    return z.NEVER;
  }
  context.addIssue("must be the URL of an HTTP proxy");
  return z.NEVER;
});

/** IP addresses and ranges that outgoing requests may reach although they are not public. */
export const outboundRanges = z.string().superRefine((text, context) => {
  try {
    parseRanges(text);
  } catch (error) {
    context.addIssue(`must be comma-separated IP addresses and ranges: ${(error as Error).message}`);
  }
});

/** The mail server: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. */
export const smtpUrl = z
  .string()
  .trim()
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== "";
  }, "must be a URL such as smtp://user:password@mail.example.com:587");

/** Issuers are compared exactly, so the text is only trimmed. Only localhost may go without TLS. */
export const issuerUrl = z
  .string()
  .trim()
  .refine((text) => {
    const url = URL.parse(text);
    if (url === null || url.search !== "" || url.hash !== "" || hasUserInfo(url)) return false;
    const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
    return url.protocol === "https:" || (url.protocol === "http:" && isLocal);
  }, "must be the https URL of an OpenID Connect issuer, without user name, password and query");

/** Hardly validated: PostgreSQL's connection strings allow more than URLs, such as an empty host. */
export const databaseUrl = z
  .string()
  .trim()
  .regex(/^postgres(ql)?:\/\//, "must be a postgres:// connection string")
  .refine((text) => {
    const [host = ""] = text.slice(text.indexOf("//") + 2).split(/[/?]/, 1);
    return !host.slice(host.lastIndexOf("@") + 1).includes(",");
  }, "must name one host, which leads to the primary; lists of hosts are not supported");

/** IP addresses and ranges such as `10.0.0.0/8`, comma separated. */
export const addressRanges = z.string().transform((text, context): readonly string[] => {
  const ranges = entriesOf(text);
  const wrong = ranges.find((range) => !isAddress(range) && !ipaddr.isValidCIDR(range));
  if (wrong === undefined && !ranges.some(isEverything)) return ranges;
  context.addIssue(
    wrong === undefined
      ? "must not contain every IP address, or clients could claim any IP address"
      : `must be comma-separated IP addresses and ranges such as 127.0.0.1,10.0.0.0/8; "${wrong}" is invalid`,
  );
  return z.NEVER;
});

/** Refuses short and octal forms of IPv4. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function isEverything(range: string): boolean {
  return range.endsWith("/0");
}

/** Statuses of API versions by name. */
export const versionStatus = z.string().transform((text, context): VersionStatuses => {
  const overrides = new Map<VersionName, VersionOverride>();
  for (const entry of entriesOf(text)) {
    const [name = "", rest = ""] = entry.split("=");
    const [status = "", sunsetOn] = rest.split("@");
    const known = versionStatuses.find((candidate) => candidate === status);
    // Only a sunsetting version has a date.
    const dateIsRight =
      sunsetOn === undefined ||
      (/^(sunsetting|retired)$/.test(status) && z.iso.date().safeParse(sunsetOn).success);
    if (!isVersionName(name) || !known || !dateIsRight) {
      context.addIssue(
        `"${entry}" must look like 2025-10-31=sunsetting@2027-03-01 with a known version, one of ${versionStatuses.join(", ")}, and a date for sunsetting`,
      );
      return z.NEVER;
    }
    overrides.set(name, sunsetOn === undefined ? { status: known } : { status: known, sunsetOn });
  }
  return overrides;
});

/** IP addresses of DNS servers, comma separated, each with an optional port, as `Resolver.setServers` of Node takes them. */
export const dnsServers = z.string().transform((text, context): readonly string[] => {
  const servers = entriesOf(text);
  const wrong = servers.find((server) => {
    const [, bracketed, plain] = /^(?:\[(.+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?)$/.exec(server) ?? [];
    return isIP(bracketed ?? plain ?? server) === 0;
  });
  if (wrong === undefined) return servers;
  context.addIssue(
    `must be comma-separated IP addresses such as 192.0.2.53,[2001:db8::53]:53; "${wrong}" is invalid`,
  );
  return z.NEVER;
});

/** Host names and IP addresses without ports, comma separated. */
export const hostNames = z.string().transform((text, context): readonly string[] => {
  const names: string[] = [];
  for (const part of entriesOf(text)) {
    const host = isIPv6(part) ? `[${part}]` : part;
    const name = hostNameOf(host);
    if (name === null || host.includes("*") || /:\d*$/.test(host)) {
      context.addIssue(
        `must be comma-separated host names or IP addresses without ports such as parley.lan,192.168.1.20; "${part}" is invalid`,
      );
      return z.NEVER;
    }
    names.push(name);
  }
  return names;
});

/** Schemes that browsers or operating systems handle themselves, which would not lead to one app. */
const systemSchemes =
  /^(?:about|android.*|blob|chrome.*|data|edge.*|file.*|ftps?|https?.*|intent|jar|javascript|mailto|microsoft.*|ms-.*|resource|search.*|sms|tel|vbscript|view-source|windows.*|wss?)$/;

/** Schemes of redirect URIs without a dot, comma separated; `none` for an empty list. */
export const redirectSchemes = z.string().transform((text, context): readonly string[] => {
  if (text.trim() === "none") return [];
  const schemes = entriesOf(text);
  const wrong = schemes.find(
    (scheme) => !/^[a-z][a-z0-9-]{0,40}$/.test(scheme) || systemSchemes.test(scheme),
  );
  if (wrong === undefined) return schemes;
  context.addIssue(
    `must be none, or comma-separated schemes of apps such as cursor,vscode; "${wrong}" is not allowed`,
  );
  return z.NEVER;
});

/** Email addresses, `mailto:`, `tel:` and https URLs, comma separated; as URIs (RFC 9116, section 2.5.3). */
export const contactUris = z.string().transform((text, context): readonly string[] => {
  const uris: string[] = [];
  for (const part of entriesOf(text)) {
    const uri = /^[^\s@:/]+@[^\s@:/]+$/.test(part) ? `mailto:${part}` : part;
    if (
      // Bounded: a setting.
      !/^(https:\/\/[\x21-\x7e]+|mailto:[\x21-\x7e]+@[\x21-\x7e]+|tel:\+?[\d-]+)$/.test(uri) ||
      !URL.canParse(uri)
    ) {
      context.addIssue(
        `must be comma-separated emails or https URLs such as security@example.com; "${part}" is invalid`,
      );
      return z.NEVER;
    }
    uris.push(uri);
  }
  return uris;
});

/** A watched folder. */
export interface WatchDir {
  /** An absolute path without a trailing slash, or `s3://bucket/prefix`. */
  readonly location: string;
  /** The only workspace that its files may become recordings of; null: settings in the folder choose. */
  readonly workspaceId: string | null;
}

/** `/folder` or `s3://bucket/prefix`, optionally after `WORKSPACE_ID=`; several are separated by commas. */
export const watchDirs = z.string().transform((text, context): readonly WatchDir[] => {
  const found: WatchDir[] = [];
  const refuse = (what: string): never => {
    context.addIssue(what);
    return z.NEVER;
  };
  for (const entry of entriesOf(text)) {
    if (entry === "") continue;
    const [, id, given = ""] = /^(?:([0-9a-fA-F-]{36})=)?(.+)$/.exec(entry) ?? [];
    if (id !== undefined && !z.uuid().safeParse(id).success)
      return refuse(`has ${id}, which is not the ID of a workspace`);
    const location = given.startsWith("s3://") ? bucketLocation(given) : folderLocation(given);
    if (location === null)
      return refuse(
        `has ${entry}, which is none of /absolute/folder, s3://bucket/prefix, and WORKSPACE_ID=… with one of these`,
      );
    found.push({ location, workspaceId: id?.toLowerCase() ?? null });
  }
  for (const one of found)
    for (const other of found)
      if (one !== other && `${other.location}/`.startsWith(`${one.location}/`))
        return refuse(`has ${other.location} twice, or within ${one.location}; name the outer folder only`);
  return found;
});

function folderLocation(path: string): string | null {
  return isAbsolute(path) ? resolve(path) : null;
}

/** Without a prefix the whole bucket would be watched, with everything that others store there. */
function bucketLocation(url: string): string | null {
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.{1,500})$/.exec(url) ?? [];
  const folders = prefix.split("/").filter((name) => name !== "");
  if (bucket === undefined || folders.length === 0) return null;
  return folders.some((name) => name === "." || name === "..") ? null : `s3://${bucket}/${folders.join("/")}`;
}
