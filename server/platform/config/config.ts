import { availableParallelism } from "node:os";
import type { z } from "zod";
import { resolveDataDir } from "../db/embedded/index.ts";
import { readProxy } from "../outbound/proxy.ts";
import { type Rows, type Setting, settings, type ValuesOf } from "./settings.ts";
import { units } from "./values.ts";

export type { WatchDir } from "./values.ts";

/** All settings, read once and frozen: the table's values, and what follows from several of them. */
export type Config = Readonly<ReturnType<typeof compose>>;

/** How tokens and apps without a choice of their own read date filters and name CRM data. */
export type CompatibilityDefaults = Pick<Config, "datetimeFilters" | "compatibility">;

/** What transcribes recordings. */
export type TranscriptionSettings = TranscriptionServerSettings | LocalTranscriptionSettings;

/** The built-in speech engine. */
export interface LocalTranscriptionSettings {
  readonly engine: "local";
  /** Whether the operator chose it; otherwise it is used once a model is installed. */
  readonly isRequired: boolean;
  /** Name of an installed model; null: the first that knows the language. */
  readonly model: string | null;
  readonly threads: number;
  /** Language of the meetings; null: the model detects it. */
  readonly language: string | null;
}

/** A speech model server. */
export interface TranscriptionServerSettings {
  readonly engine: "server";
  /** URL of the server, with or without `/v1/audio/transcriptions`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Language of the meetings; null: the model detects it. */
  readonly language: string | null;
}

/** A language model server; its URL is with or without `/v1/chat/completions`. */
export type LanguageModelSettings = Values["languageModel"] & { readonly url: string };

/** The mail server for outgoing email. */
export type SmtpSettings = Complete<Values["smtp"]>;

/** The single sign-on provider (OpenID Connect). */
export type SingleSignOnSettings = Complete<Values["singleSignOn"]>;

type Values = ValuesOf<typeof settings>;
type Complete<Group> = { readonly [Key in keyof Group]: NonNullable<Group[Key]> };
type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown for invalid settings; the message is one line that names all of them. */
export class ConfigError extends Error {}

/**
 * Reads the settings from the environment.
 * @throws ConfigError naming each invalid setting and its rule.
 */
export function readConfig(env: Environment, cwd: string): Config {
  const violations: string[] = [];
  const values = readRows(settings, (setting) => {
    const text = env[setting.name] || setting.default;
    if (text === null) return null;
    const result = setting.kind.safeParse(text);
    if (!result.success) violations.push(`${setting.name} ${describeProblem(result.error)}`);
    return result.data;
  }) as Values;
  violations.push(...findProxyViolations(env));
  if (violations.length > 0) throw new ConfigError(`invalid setting: ${violations.join("; ")}`);
  const disagreements = findDisagreements(values);
  if (disagreements.length > 0) throw new ConfigError(`invalid setting: ${disagreements.join("; ")}`);
  return Object.freeze(compose(values, env, cwd));
}

/** The same table with what `read` returns in place of each setting. */
function readRows(rows: Rows, read: (setting: Setting) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rows).map(([key, row]) => [key, isSetting(row) ? read(row) : readRows(row, read)]),
  );
}

function isSetting(row: Rows[string]): row is Setting {
  return typeof row.name === "string";
}

/** Replaces the values whose meaning depends on other settings or on the machine. */
function compose(values: Values, env: Environment, cwd: string) {
  const { bucket, endpoint, prefix } = values.s3;
  const s3Connection = {
    endpoint,
    region: values.s3.region ?? env.AWS_REGION ?? "us-east-1",
    forcePathStyle: values.s3.forcePathStyle ?? endpoint !== null,
  };
  const { smtp, singleSignOn, languageModel } = values;
  return {
    ...values,
    baseUrl: values.baseUrl ?? `http://localhost:${values.port}`,
    dataDir: resolveDataDir(values.dataDir ?? undefined, cwd),
    drainMs: values.drainMs ?? (values.trustedProxies.length > 0 ? 10_000 : 0),
    rateLimitPerUserPerMinute: values.rateLimitPerUserPerMinute ?? 3 * values.rateLimitPerMinute,
    /** How to reach S3 for backups and watched folders, also if files are in the data folder. */
    s3Connection,
    /** The bucket for files; null: none is named. */
    s3: bucket === null ? null : { bucket, prefix, ...s3Connection },
    /** What transcribes recordings; null: nothing. */
    transcription: readTranscription(values.transcription),
    /** Null: none. */
    languageModel: languageModel.url === null ? null : { ...languageModel, url: languageModel.url },
    /** Null: no email is sent. */
    smtp: isComplete(smtp) ? smtp : null,
    /** Null: users sign in with a password. */
    singleSignOn: isComplete(singleSignOn) ? singleSignOn : null,
  };
}

function isComplete<Group extends object>(group: Group): group is Group & Complete<Group> {
  return Object.values(group).every((value) => value !== null);
}

/** A server when its URL is set; otherwise the built-in engine, which works once a model is installed. */
function readTranscription(values: Values["transcription"]): TranscriptionSettings | null {
  const { url, model, apiKey, language } = values;
  const engine = values.engine ?? (url === null ? "local" : "server");
  if (engine === "off") return null;
  if (engine === "server") return { engine, url: url ?? "", model: model ?? "whisper-1", apiKey, language };
  const threads = values.threads ?? Math.min(availableParallelism(), 4);
  return { engine, isRequired: values.engine === "local", model, threads, language };
}

/** Settings of a group that have no default are set together. */
function findLonely(
  group: Readonly<Record<string, Setting>>,
  values: Readonly<Record<string, unknown>>,
): string[] {
  const required = Object.entries(group).filter(([, setting]) => setting.default === null);
  const missing = required.filter(([key]) => values[key] === null);
  if (missing.length === required.length) return [];
  return missing.map(([, { name }]) => {
    const others = required.map(([, other]) => other.name).filter((other) => other !== name);
    return `${name} must be set together with ${others.join(", ")}`;
  });
}

/** Settings of the database at PARLEY_DATABASE_URL without it. */
function findUnfounded(values: Values): string[] {
  if (values.databaseUrl !== null) return [];
  return (["databaseDirectUrl", "databaseReplicaUrl"] as const)
    .filter((key) => values[key] !== null)
    .map((key) => `${settings[key].name} must be set together with PARLEY_DATABASE_URL`);
}

/** The standard variables of proxies are settings too: a wrong one would stop every outgoing request. */
function findProxyViolations(env: Environment): string[] {
  try {
    for (const protocol of ["https:", "http:"] as const) readProxy(protocol, env);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Settings that are valid alone but not together. */
function findDisagreements(values: Values): string[] {
  const lonely = [
    ...findLonely(settings.smtp, values.smtp),
    ...findLonely(settings.singleSignOn, values.singleSignOn),
    ...findUnfounded(values),
  ];
  if (values.transcription.engine === "server" && values.transcription.url === null)
    lonely.push("PARLEY_TRANSCRIPTION_URL must be set when PARLEY_TRANSCRIPTION is server");
  const usesS3 = values.storage === "s3" || values.s3.bucket !== null;
  if (lonely.length > 0 || !usesS3) return lonely;
  const maxLinkMs = 7 * units.d;
  return [
    ...(values.s3.bucket === null ? ["PARLEY_S3_BUCKET must name the bucket when PARLEY_STORAGE is s3"] : []),
    ...(["uploadUrlTtlMs", "downloadUrlTtlMs"] as const)
      .filter((key) => values[key] > maxLinkMs)
      .map(
        (key) =>
          `${settings[key].name} must be at most 7d with PARLEY_S3_BUCKET, because S3 links expire then`,
      ),
  ];
}

function describeProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  return issue?.message ?? "is not valid";
}

/** Names of the settings in a table. */
function namesOf(rows: Rows): string[] {
  return Object.values(rows).flatMap((row) => (isSetting(row) ? [row.name] : namesOf(row)));
}

/** Read by `parley upload` and `parley import`, which are clients of a server. */
const clientSettings: readonly string[] = ["PARLEY_URL", "PARLEY_TOKEN", "PARLEY_IMPORT_TOKEN"];

/** Names of unknown `PARLEY_…` variables, most likely typos. */
export function unknownSettings(env: Environment): string[] {
  const known = new Set([...namesOf(settings), ...clientSettings]);
  return Object.keys(env).filter((name) => name.startsWith("PARLEY_") && !known.has(name));
}
