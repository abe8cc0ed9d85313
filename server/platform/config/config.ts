import { availableParallelism } from "node:os";
import { z } from "zod";
import { resolveDataDir } from "../db/embedded/index.ts";
import { readProxy } from "../outbound/proxy.ts";
import type { Config, SingleSignOnSettings, SmtpSettings, TranscriptionSettings } from "./types.ts";
import {
  addressRanges,
  baseUrl,
  bucketPrefix,
  byteSize,
  contactUris,
  databaseUrl,
  dnsServers,
  duration,
  flag,
  hostNames,
  httpUrl,
  httpUrlWithUser,
  issuerUrl,
  keepRule,
  listenAddress,
  pause,
  redirectSchemes,
  retrySchedule,
  smtpUrl,
  timeOfDay,
  units,
  versionStatus,
  watchDirs,
  whole,
} from "./values.ts";

export type {
  CompatibilityDefaults,
  Config,
  LanguageModelSettings,
  LocalTranscriptionSettings,
  SingleSignOnSettings,
  SmtpSettings,
  TranscriptionServerSettings,
  TranscriptionSettings,
  WatchDir,
} from "./types.ts";

/** One entry for each setting: how its text is read. Absent settings keep the default below. */
const settings = {
  PARLEY_HOST: z.string(),
  PARLEY_PORT: whole(1, 65535),
  PARLEY_BASE_URL: baseUrl,
  PARLEY_DATA_DIR: z.string(),
  PARLEY_DATABASE_URL: databaseUrl,
  PARLEY_DATABASE_DIRECT_URL: databaseUrl,
  PARLEY_DATABASE_REPLICA_URL: databaseUrl,
  PARLEY_STORAGE: z.enum(["local", "s3"]),
  PARLEY_S3_BUCKET: z.string(),
  PARLEY_S3_ENDPOINT: httpUrl,
  PARLEY_S3_REGION: z.string(),
  PARLEY_S3_FORCE_PATH_STYLE: flag,
  PARLEY_S3_PREFIX: bucketPrefix,
  PARLEY_S3_DOWNLOADS: z.enum(["server", "bucket"]),
  PARLEY_S3_NOTIFICATION_TOKEN: z.string().min(16, "must have at least 16 characters"),
  PARLEY_SECRET: z.string().min(32, "must have at least 32 characters"),
  PARLEY_ROLE: z.enum(["all", "api", "worker"]),
  PARLEY_RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000_000),
  PARLEY_RATE_LIMIT_PER_USER_PER_MINUTE: whole(0, 1_000_000_000),
  PARLEY_OPEN_UPLOADS_PER_USER: whole(0, 1_000_000),
  PARLEY_HOOKS_PER_USER: whole(0, 1_000_000),
  PARLEY_TOKENS_PER_USER: whole(0, 1_000_000),
  PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE: whole(0, 1_000_000_000),
  PARLEY_STORAGE_PER_WORKSPACE: byteSize,
  PARLEY_PAGE_SIZE: whole(1, 1000),
  PARLEY_DATETIME_FILTERS: z.enum(["contract", "by-name"]),
  PARLEY_COMPAT: z.enum(["none", "hubspot"]),
  PARLEY_OAUTH_REGISTRATION: z.enum(["on", "off"]),
  PARLEY_OAUTH_REDIRECT_SCHEMES: redirectSchemes,
  PARLEY_NEW_RECORDING_SHARE_STATE: z.enum(["public", "workspace", "restricted"]),
  PARLEY_UPLOAD_URL_TTL: duration,
  PARLEY_UPLOAD_EXPIRY_GRACE: duration,
  PARLEY_STAGED_MEDIA_TTL: duration,
  PARLEY_STALE_UPLOAD_TTL: duration,
  PARLEY_PROCESSING_TTL: duration,
  PARLEY_DOWNLOAD_URL_TTL: duration,
  PARLEY_MAX_DURATION: duration
    .refine((ms) => ms >= 10_000, "must be at least 10s")
    .refine((ms) => ms <= 24 * units.d, "must be at most 24d"),
  // The largest part of an S3 upload, and the largest file of the contract.
  PARLEY_MAX_UPLOAD_BYTES: whole(1, 4_294_967_296),
  PARLEY_HOOKS_ALLOW_ADDRESSES: z.string(),
  PARLEY_HOOK_RETRY_SCHEDULE: retrySchedule,
  PARLEY_TRANSCRIPTION: z.enum(["local", "server", "off"]),
  PARLEY_TRANSCRIPTION_THREADS: whole(1, 64),
  PARLEY_MODEL_MIRROR: httpUrlWithUser,
  PARLEY_TRANSCRIPTION_URL: httpUrl,
  PARLEY_TRANSCRIPTION_MODEL: z.string(),
  PARLEY_TRANSCRIPTION_API_KEY: z.string(),
  PARLEY_TRANSCRIPTION_LANGUAGE: z.string(),
  PARLEY_LLM_URL: httpUrl,
  PARLEY_LLM_MODEL: z.string(),
  PARLEY_LLM_API_KEY: z.string(),
  // Smaller contexts don't even hold the prompts.
  PARLEY_LLM_CONTEXT_TOKENS: whole(4096, 100_000_000),
  PARLEY_LLM_MAX_TOKENS_PER_DAY: whole(1, 1_000_000_000_000),
  PARLEY_LLM_TIMEOUT: duration.refine((ms) => ms <= units.d, "must be at most a day"),
  PARLEY_SMTP_URL: smtpUrl,
  PARLEY_SMTP_FROM: z.string().regex(/@/, "must be an email address"),
  PARLEY_OIDC_ISSUER: issuerUrl,
  PARLEY_OIDC_CLIENT_ID: z.string(),
  PARLEY_OIDC_CLIENT_SECRET: z.string(),
  PARLEY_OIDC_NAME: z.string().max(60, "must have at most 60 characters"),
  PARLEY_OIDC_CREATE_USERS: flag,
  PARLEY_OIDC_TRUST_EMAIL: flag,
  // Node timers fire at once when set to more than 24 days.
  PARLEY_SWEEP_INTERVAL: duration.refine((ms) => ms <= units.d, "must be at most a day"),
  PARLEY_AUDIT_TTL: duration.refine((ms) => ms >= units.d, "must be at least a day"),
  PARLEY_TRUSTED_PROXIES: addressRanges,
  PARLEY_TRUSTED_HOSTS: hostNames,
  PARLEY_SECURITY_CONTACT: contactUris,
  PARLEY_DNS_SERVERS: dnsServers,
  PARLEY_DRAIN: pause,
  PARLEY_HEALTH_ADDRESS: listenAddress,
  PARLEY_METRICS_ADDRESS: listenAddress,
  PARLEY_RETENTION_GRACE: duration,
  PARLEY_WATCH_DIRS: watchDirs,
  PARLEY_WATCH_INTERVAL: duration.refine((ms) => ms <= units.d, "must be at most a day"),
  PARLEY_VERSION_STATUS: versionStatus,
  PARLEY_BACKUP_TO: z.string(),
  PARLEY_BACKUP_AT: timeOfDay,
  PARLEY_BACKUP_KEEP: keepRule,
  PARLEY_BACKUP_BEFORE_UPGRADE: flag,
  PARLEY_BACKUP_PASSPHRASE: z.string().min(12, "must have at least 12 characters"),
  PARLEY_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]),
} as const;

type Settings = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]> };

/** Thrown for invalid settings; the message is one line that names all of them. */
export class ConfigError extends Error {}

/**
 * Reads the settings from the environment.
 * @throws ConfigError naming each invalid setting and its rule.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a flat table of defaults; each `??` counts.
export function readConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const values: Settings = {};
  const violations: string[] = [];
  for (const [name, schema] of Object.entries(settings)) {
    const text = env[name];
    if (text === undefined || text === "") continue;
    const result = (schema as z.ZodType).safeParse(text);
    if (result.success) Object.assign(values, { [name]: result.data });
    else violations.push(`${name} ${describeProblem(result.error)}`);
  }
  violations.push(...findProxyViolations(env));
  if (violations.length > 0) throw new ConfigError(`invalid setting: ${violations.join("; ")}`);
  const disagreements = findDisagreements(values);
  if (disagreements.length > 0) throw new ConfigError(`invalid setting: ${disagreements.join("; ")}`);
  const port = values.PARLEY_PORT ?? 3000;
  const rateLimitPerMinute = values.PARLEY_RATE_LIMIT_PER_MINUTE ?? 300;
  const s3Connection = {
    endpoint: values.PARLEY_S3_ENDPOINT ?? null,
    region: values.PARLEY_S3_REGION ?? env.AWS_REGION ?? "us-east-1",
    forcePathStyle: values.PARLEY_S3_FORCE_PATH_STYLE ?? values.PARLEY_S3_ENDPOINT !== undefined,
  };
  return Object.freeze({
    host: values.PARLEY_HOST ?? "127.0.0.1",
    port,
    baseUrl: values.PARLEY_BASE_URL ?? `http://localhost:${port}`,
    dataDir: resolveDataDir(values.PARLEY_DATA_DIR, cwd),
    databaseUrl: values.PARLEY_DATABASE_URL ?? null,
    databaseDirectUrl: values.PARLEY_DATABASE_DIRECT_URL ?? null,
    databaseReplicaUrl: values.PARLEY_DATABASE_REPLICA_URL ?? null,
    role: values.PARLEY_ROLE ?? "all",
    rateLimitPerMinute,
    rateLimitPerUserPerMinute: values.PARLEY_RATE_LIMIT_PER_USER_PER_MINUTE ?? 3 * rateLimitPerMinute,
    openUploadsPerUser: values.PARLEY_OPEN_UPLOADS_PER_USER ?? 500,
    hooksPerUser: values.PARLEY_HOOKS_PER_USER ?? 100,
    tokensPerUser: values.PARLEY_TOKENS_PER_USER ?? 100,
    hookRequestsPerHostPerMinute: values.PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE ?? 6000,
    storageBytesPerWorkspace: values.PARLEY_STORAGE_PER_WORKSPACE ?? null,
    pageSize: values.PARLEY_PAGE_SIZE ?? 50,
    datetimeFilters: values.PARLEY_DATETIME_FILTERS ?? "contract",
    compatibility: values.PARLEY_COMPAT ?? "none",
    oauthRegistration: values.PARLEY_OAUTH_REGISTRATION !== "off",
    oauthRedirectSchemes: values.PARLEY_OAUTH_REDIRECT_SCHEMES ?? ["cursor", "vscode", "vscode-insiders"],
    newRecordingShareState: values.PARLEY_NEW_RECORDING_SHARE_STATE ?? "restricted",
    storage: values.PARLEY_STORAGE ?? "local",
    s3:
      values.PARLEY_S3_BUCKET === undefined
        ? null
        : { bucket: values.PARLEY_S3_BUCKET, prefix: values.PARLEY_S3_PREFIX ?? null, ...s3Connection },
    s3Connection,
    secret: values.PARLEY_SECRET ?? null,
    s3Downloads: values.PARLEY_S3_DOWNLOADS ?? "server",
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
    transcription: readTranscription(values),
    modelMirror: values.PARLEY_MODEL_MIRROR ?? null,
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
    smtp: readSmtp(values),
    singleSignOn: readSingleSignOn(values),
    staleUploadTtlMs: values.PARLEY_STALE_UPLOAD_TTL ?? 30 * units.d,
    retentionGraceMs: values.PARLEY_RETENTION_GRACE ?? units.d,
    sweepIntervalMs: values.PARLEY_SWEEP_INTERVAL ?? units.m,
    auditTtlMs: values.PARLEY_AUDIT_TTL ?? null,
    trustedProxies: values.PARLEY_TRUSTED_PROXIES ?? [],
    trustedHosts: values.PARLEY_TRUSTED_HOSTS ?? [],
    securityContacts: values.PARLEY_SECURITY_CONTACT ?? [],
    dnsServers: values.PARLEY_DNS_SERVERS ?? [],
    drainMs: values.PARLEY_DRAIN ?? ((values.PARLEY_TRUSTED_PROXIES ?? []).length > 0 ? 10_000 : 0),
    healthAddress: values.PARLEY_HEALTH_ADDRESS ?? null,
    metricsAddress: values.PARLEY_METRICS_ADDRESS ?? null,
    backup: {
      destination: values.PARLEY_BACKUP_TO ?? null,
      atMinute: values.PARLEY_BACKUP_AT ?? 180,
      keep: values.PARLEY_BACKUP_KEEP ?? { days: 7, weeks: 4, months: 12 },
      passphrase: values.PARLEY_BACKUP_PASSPHRASE ?? null,
      beforeUpgrade: values.PARLEY_BACKUP_BEFORE_UPGRADE ?? null,
    },
    watchDirs: values.PARLEY_WATCH_DIRS ?? [],
    watchIntervalMs: values.PARLEY_WATCH_INTERVAL ?? 10 * units.s,
    versionStatus: values.PARLEY_VERSION_STATUS ?? new Map(),
    logLevel: values.PARLEY_LOG_LEVEL ?? "info",
  } satisfies Config);
}

/** A server when its URL is set; otherwise the built-in engine, which works once a model is installed. */
function readTranscription(values: Settings): TranscriptionSettings | null {
  const { PARLEY_TRANSCRIPTION_URL: url, PARLEY_TRANSCRIPTION_MODEL: model } = values;
  const language = values.PARLEY_TRANSCRIPTION_LANGUAGE ?? null;
  const choice = values.PARLEY_TRANSCRIPTION ?? (url === undefined ? "local-if-installed" : "server");
  if (choice === "off") return null;
  if (choice === "server")
    return {
      engine: "server",
      url: url ?? "",
      model: model ?? "whisper-1",
      apiKey: values.PARLEY_TRANSCRIPTION_API_KEY ?? null,
      language,
    };
  return {
    engine: "local",
    isRequired: choice === "local",
    model: model ?? null,
    threads: values.PARLEY_TRANSCRIPTION_THREADS ?? Math.min(availableParallelism(), 4),
    language,
  };
}

function readSmtp(values: Settings): SmtpSettings | null {
  const { PARLEY_SMTP_URL: url, PARLEY_SMTP_FROM: from } = values;
  return url === undefined || from === undefined ? null : { url, from };
}

function readSingleSignOn(values: Settings): SingleSignOnSettings | null {
  if (values.PARLEY_OIDC_ISSUER === undefined) return null;
  return {
    issuer: values.PARLEY_OIDC_ISSUER,
    clientId: values.PARLEY_OIDC_CLIENT_ID ?? "",
    clientSecret: values.PARLEY_OIDC_CLIENT_SECRET ?? "",
    name: values.PARLEY_OIDC_NAME ?? "single sign-on",
    createUsers: values.PARLEY_OIDC_CREATE_USERS ?? false,
    trustEmail: values.PARLEY_OIDC_TRUST_EMAIL ?? false,
  };
}

/** Settings that must be set together. */
const together = [
  ["PARLEY_SMTP_URL", "PARLEY_SMTP_FROM"],
  ["PARLEY_OIDC_ISSUER", "PARLEY_OIDC_CLIENT_ID", "PARLEY_OIDC_CLIENT_SECRET"],
] as const;

function findLonely(values: Settings): string[] {
  return together
    .filter((names) => names.some((name) => values[name] !== undefined))
    .flatMap((names) =>
      names
        .filter((name) => values[name] === undefined)
        .map(
          (name) => `${name} must be set together with ${names.filter((other) => other !== name).join(", ")}`,
        ),
    );
}

/** Settings of the database at PARLEY_DATABASE_URL without it. */
function findUnfounded(values: Settings): string[] {
  if (values.PARLEY_DATABASE_URL !== undefined) return [];
  return (["PARLEY_DATABASE_DIRECT_URL", "PARLEY_DATABASE_REPLICA_URL"] as const)
    .filter((name) => values[name] !== undefined)
    .map((name) => `${name} must be set together with PARLEY_DATABASE_URL`);
}

/** The standard variables of proxies are settings too: a wrong one would stop every outgoing request. */
function findProxyViolations(env: Readonly<Record<string, string | undefined>>): string[] {
  try {
    for (const protocol of ["https:", "http:"] as const) readProxy(protocol, env);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Settings that are valid alone but not together. */
function findDisagreements(values: Settings): string[] {
  const lonely = [...findLonely(values), ...findUnfounded(values)];
  if (values.PARLEY_TRANSCRIPTION === "server" && values.PARLEY_TRANSCRIPTION_URL === undefined)
    lonely.push("PARLEY_TRANSCRIPTION_URL must be set when PARLEY_TRANSCRIPTION is server");
  const usesS3 = values.PARLEY_STORAGE === "s3" || values.PARLEY_S3_BUCKET !== undefined;
  if (lonely.length > 0 || !usesS3) return lonely;
  const maxLinkMs = 7 * units.d;
  return [
    ...(values.PARLEY_S3_BUCKET ? [] : ["PARLEY_S3_BUCKET must name the bucket when PARLEY_STORAGE is s3"]),
    ...(["PARLEY_UPLOAD_URL_TTL", "PARLEY_DOWNLOAD_URL_TTL"] as const)
      .filter((name) => (values[name] ?? 0) > maxLinkMs)
      .map((name) => `${name} must be at most 7d with PARLEY_S3_BUCKET, because S3 links expire then`),
  ];
}

function describeProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  return issue?.message ?? "is not valid";
}

/** Read by `parley upload` and `parley import`, which are clients of a server. */
const clientSettings: readonly string[] = ["PARLEY_URL", "PARLEY_TOKEN", "PARLEY_IMPORT_TOKEN"];

/** Names of unknown `PARLEY_…` variables, most likely typos. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith("PARLEY_") && !(name in settings) && !clientSettings.includes(name),
  );
}
