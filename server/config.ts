import { z } from "zod";
import {
  isVersionName,
  type VersionName,
  type VersionStatus,
  versionStatuses,
} from "../contract/versions.ts";
import { resolveDataDir } from "./db/embedded/index.ts";

/** What an operator says of one API version by `PARLEY_VERSION_STATUS`. */
export interface VersionOverride {
  readonly status: VersionStatus;
  /** Retirement date of a sunsetting version. */
  readonly sunsetOn?: string;
}

/** Everything the environment decides, read once and frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Address people and programs reach the service at; without a trailing slash. */
  readonly baseUrl: string;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | null;
  readonly role: "all" | "api" | "worker";
  /** 0 turns the limit off. */
  readonly rateLimitPerMinute: number;
  readonly pageSize: number;
  /** `contract`: before/after as the contract words them; `by-name`: as the names say. */
  readonly datetimeFilters: "contract" | "by-name";
  readonly newRecordingShareState: "public" | "workspace" | "restricted";
  readonly staleUploadTtlMs: number;
  readonly sweepIntervalMs: number;
  readonly versionStatus: ReadonlyMap<VersionName, VersionOverride>;
  readonly logLevel: string;
}

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration such as `90s`, `24h` or `7d`.
 * @returns milliseconds, or null when the text is no duration.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return null;
  return Math.round(Number(match[1]) * units[match[2] as keyof typeof units]);
}

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

const longestMs = 3650 * units.d;

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms === null || ms === 0 || ms > longestMs) {
    context.addIssue("must be a duration such as 90s, 24h or 7d, of ten years at most");
    return z.NEVER;
  }
  return ms;
});

const httpUrl = z
  .string()
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  }, "must be an http or https address without a query")
  .transform((text) => text.replace(/\/+$/, ""));

/** Not checked further: PostgreSQL's connection strings allow what other addresses don't, such as no host. */
const databaseUrl = z.string().regex(/^postgres(ql)?:\/\//, "must be a postgres:// connection string");

const versionStatus = z.string().transform((text, context) => {
  const overrides = new Map<VersionName, VersionOverride>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [name = "", rest = ""] = entry.split("=");
    const [status = "", sunsetOn] = rest.split("@");
    const known = versionStatuses.find((candidate) => candidate === status);
    const dateIsRight = sunsetOn === undefined || z.iso.date().safeParse(sunsetOn).success;
    if (!isVersionName(name) || !known || !dateIsRight) {
      context.addIssue(
        `"${entry}" must look like 2025-10-31=sunsetting@2027-03-01 with a known version, one of ${versionStatuses.join(", ")}, and a date`,
      );
      return z.NEVER;
    }
    overrides.set(name, sunsetOn === undefined ? { status: known } : { status: known, sunsetOn });
  }
  return overrides;
});

/** One entry for each setting: how its text is read. Absent settings keep the default below. */
const settings = {
  PARLEY_HOST: z.string(),
  PARLEY_PORT: whole(1, 65535),
  PARLEY_BASE_URL: httpUrl,
  PARLEY_DATA_DIR: z.string(),
  PARLEY_DATABASE_URL: databaseUrl,
  PARLEY_STORAGE: z.enum(["local"]),
  PARLEY_ROLE: z.enum(["all", "api", "worker"]),
  PARLEY_RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000_000),
  PARLEY_PAGE_SIZE: whole(1, 1000),
  PARLEY_DATETIME_FILTERS: z.enum(["contract", "by-name"]),
  PARLEY_NEW_RECORDING_SHARE_STATE: z.enum(["public", "workspace", "restricted"]),
  PARLEY_STALE_UPLOAD_TTL: duration,
  // Timers of this platform run at once when told to wait for longer than 24 days.
  PARLEY_SWEEP_INTERVAL: duration.refine((ms) => ms <= units.d, "must be a day at most"),
  PARLEY_VERSION_STATUS: versionStatus,
  PARLEY_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]),
} as const;

type Settings = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]> };

/** A setting is wrong; the message is one line that names every wrong one. */
export class ConfigError extends Error {}

/**
 * Reads the settings from the environment.
 * @throws ConfigError naming each wrong setting and the rule it breaks.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const values: Settings = {};
  const faults: string[] = [];
  for (const [name, schema] of Object.entries(settings)) {
    const text = env[name];
    if (text === undefined || text === "") continue;
    const result = (schema as z.ZodType).safeParse(text);
    if (result.success) Object.assign(values, { [name]: result.data });
    else faults.push(`${name} ${describeFault(result.error)}`);
  }
  if (faults.length > 0) throw new ConfigError(`wrong setting: ${faults.join("; ")}`);
  const port = values.PARLEY_PORT ?? 3000;
  return Object.freeze({
    host: values.PARLEY_HOST ?? "127.0.0.1",
    port,
    baseUrl: values.PARLEY_BASE_URL ?? `http://localhost:${port}`,
    dataDir: resolveDataDir(values.PARLEY_DATA_DIR, cwd),
    databaseUrl: values.PARLEY_DATABASE_URL ?? null,
    role: values.PARLEY_ROLE ?? "all",
    rateLimitPerMinute: values.PARLEY_RATE_LIMIT_PER_MINUTE ?? 300,
    pageSize: values.PARLEY_PAGE_SIZE ?? 50,
    datetimeFilters: values.PARLEY_DATETIME_FILTERS ?? "contract",
    newRecordingShareState: values.PARLEY_NEW_RECORDING_SHARE_STATE ?? "restricted",
    staleUploadTtlMs: values.PARLEY_STALE_UPLOAD_TTL ?? 30 * units.d,
    sweepIntervalMs: values.PARLEY_SWEEP_INTERVAL ?? units.m,
    versionStatus: values.PARLEY_VERSION_STATUS ?? new Map(),
    logLevel: values.PARLEY_LOG_LEVEL ?? "info",
  } satisfies Config);
}

function describeFault(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  return issue?.message ?? "is not valid";
}

/** Names of `PARLEY_…` variables that mean nothing to this program: most likely typing errors. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter((name) => name.startsWith("PARLEY_") && !(name in settings));
}
