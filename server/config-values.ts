import ipaddr from "ipaddr.js";
import { z } from "zod";
import {
  isVersionName,
  type VersionName,
  type VersionStatus,
  versionStatuses,
} from "../contract/versions.ts";
import { bucketPrefixRule } from "./storage/key-rules.ts";

/** What an operator says of one API version by `PARLEY_VERSION_STATUS`. */
export interface VersionOverride {
  readonly status: VersionStatus;
  /** Retirement date of a sunsetting version. */
  readonly sunsetOn?: string;
}

/** Milliseconds of each unit. */
export const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration such as `90s`, `24h` or `7d`.
 * @returns milliseconds, or null when the text is no duration.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return null;
  return Math.round(Number(match[1]) * units[match[2] as keyof typeof units]);
}

/** A whole number within these bounds. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

const longestMs = 3650 * units.d;

/** A duration such as `90s`, in milliseconds; ten years at most. */
export const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms === null || ms === 0 || ms > longestMs) {
    context.addIssue("must be a duration such as 90s, 24h or 7d, of ten years at most");
    return z.NEVER;
  }
  return ms;
});

/** Yes or no. */
export const flag = z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1");

/** Seconds, comma separated; in milliseconds. */
export const retrySchedule = z.string().transform((text, context) => {
  const seconds = text.split(",").map((part) => part.trim());
  if (seconds.length <= 100 && seconds.every((part) => /^\d{1,7}(\.\d+)?$/.test(part)))
    return seconds.map((part) => Math.round(Number(part) * 1000));
  context.addIssue("must be seconds, comma separated, such as 5,300,1800");
  return z.NEVER;
});

/** A folder in a bucket. */
export const bucketPrefix = z
  .string()
  .regex(bucketPrefixRule, "must be letters, digits, ._=- and /, 200 at most, and not begin with /")
  .transform((text) => `${text.replace(/\/+$/, "")}/`);

/** An http or https address, without the slash at its end. */
export const httpUrl = z
  .string()
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  }, "must be an http or https address without a query")
  .transform((text) => text.replace(/\/+$/, ""));

/** Not checked further: PostgreSQL's connection strings allow what other addresses don't, such as no host. */
export const databaseUrl = z.string().regex(/^postgres(ql)?:\/\//, "must be a postgres:// connection string");

/** Addresses and ranges such as `10.0.0.0/8`, comma separated. */
export const addressRanges = z.string().transform((text, context) => {
  const ranges = text.split(",").map((part) => part.trim());
  const wrong = ranges.find((range) => !isAddress(range) && !ipaddr.isValidCIDR(range));
  if (wrong === undefined && !ranges.some(isEverything)) return ranges;
  context.addIssue(
    wrong === undefined
      ? "must not name every address: anybody could claim to be anybody"
      : `must be addresses and ranges, comma separated, such as 127.0.0.1,10.0.0.0/8; "${wrong}" is none`,
  );
  return z.NEVER;
});

/** Not the short and octal forms that some programs read as IPv4. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function isEverything(range: string): boolean {
  return range.endsWith("/0");
}

/** Statuses of API versions by name. */
export const versionStatus = z.string().transform((text, context) => {
  const overrides = new Map<VersionName, VersionOverride>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [name = "", rest = ""] = entry.split("=");
    const [status = "", sunsetOn] = rest.split("@");
    const known = versionStatuses.find((candidate) => candidate === status);
    // Only what ends has a date: the contract knows none for the other statuses.
    const dateIsRight =
      sunsetOn === undefined ||
      (/^(sunsetting|retired)$/.test(status) && z.iso.date().safeParse(sunsetOn).success);
    if (!isVersionName(name) || !known || !dateIsRight) {
      context.addIssue(
        `"${entry}" must look like 2025-10-31=sunsetting@2027-03-01 with a known version, one of ${versionStatuses.join(", ")}, and a date for what ends`,
      );
      return z.NEVER;
    }
    overrides.set(name, sunsetOn === undefined ? { status: known } : { status: known, sunsetOn });
  }
  return overrides;
});
