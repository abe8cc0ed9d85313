import { z } from "zod";
import type { VersionName } from "../contract/versions.ts";
import {
  addressRanges,
  bucketPrefix,
  databaseUrl,
  duration,
  flag,
  httpUrl,
  retrySchedule,
  units,
  type VersionOverride,
  versionStatus,
  whole,
} from "./config-values.ts";
import { resolveDataDir } from "./db/embedded/index.ts";

/** A bucket; credentials come from the usual AWS variables. */
export interface S3Settings {
  readonly bucket: string;
  /** Null: Amazon's own. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Goes before every key, with a slash at its end; null: a bucket of our own. */
  readonly prefix: string | null;
}

/** A speech model and how to ask it. */
export interface TranscriptionSettings {
  /** Address of the server, with or without `/v1/audio/transcriptions`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Language of the meetings; null: the model finds out. */
  readonly language: string | null;
}

/** A language model and how to ask it. */
export interface LanguageModelSettings {
  /** Address of the server, with or without `/v1/chat/completions`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** How many tokens the model takes in one request, its answer included. */
  readonly contextTokens: number;
  /** For each workspace; null: no limit but the workspace's own. */
  readonly maxTokensPerDay: number | null;
  /** How long the server may say nothing. */
  readonly silenceMs: number;
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
  /** Where files are kept; null: in the data folder. */
  readonly s3: S3Settings | null;
  /** Key for signed links; null: one is made at the first start and kept with the files. */
  readonly secret: string | null;
  /** 0 turns the limit off. */
  readonly rateLimitPerMinute: number;
  readonly pageSize: number;
  /** `contract`: before/after as the contract words them; `by-name`: as the names say. */
  readonly datetimeFilters: "contract" | "by-name";
  readonly newRecordingShareState: "public" | "workspace" | "restricted";
  /** How long an upload's URL takes the file. */
  readonly uploadUrlTtlMs: number;
  /** How long after the URL's expiry an upload without a file is given up. */
  readonly uploadExpiryGraceMs: number;
  /** How long the file of a staged upload is kept. */
  readonly stagedMediaTtlMs: number;
  readonly staleUploadTtlMs: number;
  /** How long an upload may be processing or promoting before it is given up. */
  readonly processingTtlMs: number;
  /** How long a link to a file for download is good. */
  readonly downloadUrlTtlMs: number;
  readonly sweepIntervalMs: number;
  /** Longest recording, where the workspace's plan says nothing else. */
  readonly maxDurationMs: number;
  readonly maxUploadBytes: number;
  /** Addresses that hooks may be sent to although they are not public, as a list of ranges. */
  readonly hooksAllowAddresses: string;
  /** Milliseconds between the attempts of a delivery; null: the usual ones. */
  readonly hookRetryScheduleMs: readonly number[] | null;
  /** What a bucket's notifications must carry; null: there are none. */
  readonly s3NotificationToken: string | null;
  /** A speech model behind an OpenAI-compatible `/v1/audio/transcriptions`; null: none. */
  readonly transcription: TranscriptionSettings | null;
  /** A language model behind an OpenAI-compatible `/v1/chat/completions`; null: none. */
  readonly languageModel: LanguageModelSettings | null;
  /** How long entries of the audit log are kept; null: for ever. */
  readonly auditTtlMs: number | null;
  /** Addresses and ranges of the proxies whose word on where a request comes from is taken. */
  readonly trustedProxies: readonly string[];
  readonly versionStatus: ReadonlyMap<VersionName, VersionOverride>;
  readonly logLevel: string;
}

/** One entry for each setting: how its text is read. Absent settings keep the default below. */
const settings = {
  PARLEY_HOST: z.string(),
  PARLEY_PORT: whole(1, 65535),
  PARLEY_BASE_URL: httpUrl,
  PARLEY_DATA_DIR: z.string(),
  PARLEY_DATABASE_URL: databaseUrl,
  PARLEY_STORAGE: z.enum(["local", "s3"]),
  PARLEY_S3_BUCKET: z.string(),
  PARLEY_S3_ENDPOINT: httpUrl,
  PARLEY_S3_REGION: z.string(),
  PARLEY_S3_FORCE_PATH_STYLE: flag,
  PARLEY_S3_PREFIX: bucketPrefix,
  PARLEY_S3_NOTIFICATION_TOKEN: z.string().min(16, "must have at least 16 characters"),
  PARLEY_SECRET: z.string().min(32, "must have at least 32 characters"),
  PARLEY_ROLE: z.enum(["all", "api", "worker"]),
  PARLEY_RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000_000),
  PARLEY_PAGE_SIZE: whole(1, 1000),
  PARLEY_DATETIME_FILTERS: z.enum(["contract", "by-name"]),
  PARLEY_NEW_RECORDING_SHARE_STATE: z.enum(["public", "workspace", "restricted"]),
  PARLEY_UPLOAD_URL_TTL: duration,
  PARLEY_UPLOAD_EXPIRY_GRACE: duration,
  PARLEY_STAGED_MEDIA_TTL: duration,
  PARLEY_STALE_UPLOAD_TTL: duration,
  PARLEY_PROCESSING_TTL: duration,
  PARLEY_DOWNLOAD_URL_TTL: duration,
  PARLEY_MAX_DURATION: duration
    .refine((ms) => ms >= 10_000, "must be 10s at least")
    .refine((ms) => ms <= 24 * units.d, "must be 24d at most"),
  // One part of an S3 upload can't be larger, and neither can a file of the contract.
  PARLEY_MAX_UPLOAD_BYTES: whole(1, 4_294_967_296),
  PARLEY_HOOKS_ALLOW_ADDRESSES: z.string(),
  PARLEY_HOOK_RETRY_SCHEDULE: retrySchedule,
  PARLEY_TRANSCRIPTION_URL: httpUrl,
  PARLEY_TRANSCRIPTION_MODEL: z.string(),
  PARLEY_TRANSCRIPTION_API_KEY: z.string(),
  PARLEY_TRANSCRIPTION_LANGUAGE: z.string(),
  PARLEY_LLM_URL: httpUrl,
  PARLEY_LLM_MODEL: z.string(),
  PARLEY_LLM_API_KEY: z.string(),
  // Below, not even the questions fit.
  PARLEY_LLM_CONTEXT_TOKENS: whole(4096, 100_000_000),
  PARLEY_LLM_MAX_TOKENS_PER_DAY: whole(1, 1_000_000_000_000),
  PARLEY_LLM_TIMEOUT: duration.refine((ms) => ms <= units.d, "must be a day at most"),
  // Timers of this platform run at once when told to wait for longer than 24 days.
  PARLEY_SWEEP_INTERVAL: duration.refine((ms) => ms <= units.d, "must be a day at most"),
  PARLEY_AUDIT_TTL: duration.refine((ms) => ms >= units.d, "must be a day at least"),
  PARLEY_TRUSTED_PROXIES: addressRanges,
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
  const disagreements = findDisagreements(values);
  if (disagreements.length > 0) throw new ConfigError(`wrong setting: ${disagreements.join("; ")}`);
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
    s3:
      values.PARLEY_STORAGE === "s3"
        ? {
            bucket: values.PARLEY_S3_BUCKET ?? "",
            endpoint: values.PARLEY_S3_ENDPOINT ?? null,
            region: values.PARLEY_S3_REGION ?? env.AWS_REGION ?? "us-east-1",
            forcePathStyle: values.PARLEY_S3_FORCE_PATH_STYLE ?? values.PARLEY_S3_ENDPOINT !== undefined,
            prefix: values.PARLEY_S3_PREFIX ?? null,
          }
        : null,
    secret: values.PARLEY_SECRET ?? null,
    s3NotificationToken: values.PARLEY_S3_NOTIFICATION_TOKEN ?? null,
    uploadUrlTtlMs: values.PARLEY_UPLOAD_URL_TTL ?? units.d,
    uploadExpiryGraceMs: values.PARLEY_UPLOAD_EXPIRY_GRACE ?? units.d,
    stagedMediaTtlMs: values.PARLEY_STAGED_MEDIA_TTL ?? 7 * units.d,
    processingTtlMs: values.PARLEY_PROCESSING_TTL ?? units.d,
    downloadUrlTtlMs: values.PARLEY_DOWNLOAD_URL_TTL ?? units.h,
    maxDurationMs: values.PARLEY_MAX_DURATION ?? 3 * units.h,
    maxUploadBytes: values.PARLEY_MAX_UPLOAD_BYTES ?? 4_294_967_296,
    hooksAllowAddresses: values.PARLEY_HOOKS_ALLOW_ADDRESSES ?? "",
    hookRetryScheduleMs: values.PARLEY_HOOK_RETRY_SCHEDULE ?? null,
    transcription:
      values.PARLEY_TRANSCRIPTION_URL === undefined
        ? null
        : {
            url: values.PARLEY_TRANSCRIPTION_URL,
            model: values.PARLEY_TRANSCRIPTION_MODEL ?? "whisper-1",
            apiKey: values.PARLEY_TRANSCRIPTION_API_KEY ?? null,
            language: values.PARLEY_TRANSCRIPTION_LANGUAGE ?? null,
          },
    languageModel:
      values.PARLEY_LLM_URL === undefined
        ? null
        : {
            url: values.PARLEY_LLM_URL,
            model: values.PARLEY_LLM_MODEL ?? "gpt-4.1-mini",
            apiKey: values.PARLEY_LLM_API_KEY ?? null,
            contextTokens: values.PARLEY_LLM_CONTEXT_TOKENS ?? 32_768,
            maxTokensPerDay: values.PARLEY_LLM_MAX_TOKENS_PER_DAY ?? null,
            silenceMs: values.PARLEY_LLM_TIMEOUT ?? 5 * units.m,
          },
    staleUploadTtlMs: values.PARLEY_STALE_UPLOAD_TTL ?? 30 * units.d,
    sweepIntervalMs: values.PARLEY_SWEEP_INTERVAL ?? units.m,
    auditTtlMs: values.PARLEY_AUDIT_TTL ?? null,
    trustedProxies: values.PARLEY_TRUSTED_PROXIES ?? [],
    versionStatus: values.PARLEY_VERSION_STATUS ?? new Map(),
    logLevel: values.PARLEY_LOG_LEVEL ?? "info",
  } satisfies Config);
}

/** Settings that are right each by itself and wrong together. */
function findDisagreements(values: Settings): string[] {
  if (values.PARLEY_STORAGE !== "s3") return [];
  const longestLinkMs = 7 * units.d;
  return [
    ...(values.PARLEY_S3_BUCKET ? [] : ["PARLEY_S3_BUCKET must name the bucket when PARLEY_STORAGE is s3"]),
    ...(["PARLEY_UPLOAD_URL_TTL", "PARLEY_DOWNLOAD_URL_TTL"] as const)
      .filter((name) => (values[name] ?? 0) > longestLinkMs)
      .map((name) => `${name} must be 7d at most when PARLEY_STORAGE is s3, whose links live no longer`),
  ];
}

function describeFault(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  return issue?.message ?? "is not valid";
}

/** What `parley upload` reads, which speaks to a server as any client does. */
const clientSettings: readonly string[] = ["PARLEY_URL", "PARLEY_TOKEN"];

/** Names of `PARLEY_…` variables that mean nothing to this program: most likely typing errors. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith("PARLEY_") && !(name in settings) && !clientSettings.includes(name),
  );
}
