import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { resolveDataDir } from "../db/embedded/index.ts";
import { readProxy } from "../outbound/proxy.ts";
import {
  allSettings,
  isSetting,
  type ListedSetting,
  type Rows,
  type Setting,
  settings,
  shownSettings,
  type ValuesOf,
} from "./settings.ts";
import { whyShared } from "./shared-issuers.ts";
import { findProviderClash, joinProviders } from "./sign-in-providers.ts";
import { units } from "./values.ts";

export type { WatchDir } from "./values.ts";

/**
 * All settings: the table's values, and what follows from several of them. In a running server those that can be changed in
 * the app are always the present ones, so read `config.x` where it is used and keep no copy.
 */
export type Config = Readonly<ReturnType<typeof compose>> & { readonly sources: SettingSources };

/** Settings as they are written, by name. */
export type SettingTexts = Readonly<Record<string, string | undefined>>;

const settingsByName: ReadonlyMap<string, ListedSetting> = new Map(
  allSettings.map((setting) => [setting.name, setting]),
);

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

/** What writes summaries. */
export type LanguageModelSettings = LanguageModelServerSettings | LocalLanguageModelSettings;

interface LanguageModelLimits {
  /** Tokens of one request, including the output. */
  readonly contextTokens: number;
  /** For each workspace and UTC day; null: no limit. */
  readonly maxTokensPerDay: number | null;
}

/** The built-in language model. */
export interface LocalLanguageModelSettings extends LanguageModelLimits {
  readonly engine: "local";
  /**
   * Whether the operator chose it and this process runs no jobs, so that the models may be on other machines; otherwise it is
   * used once a model is installed.
   */
  readonly isRequired: boolean;
  /** Name of an installed model; null: the first of the catalogue. */
  readonly model: string | null;
  readonly threads: number;
  /** Whether to use a GPU, if its package is installed. */
  readonly usesGpu: boolean;
}

/** A language model server. */
export interface LanguageModelServerSettings extends LanguageModelLimits {
  readonly engine: "server";
  /** With or without `/v1/chat/completions`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly silenceMs: number;
}

/** The mail server for outgoing email. */
export type SmtpSettings = Complete<Values["smtp"]>;

type Values = ValuesOf<typeof settings>;
type Complete<Group> = { readonly [Key in keyof Group]: NonNullable<Group[Key]> };
type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown for invalid settings; the message is one line that names all of them. */
export class ConfigError extends Error {}

/** Where the settings of a process come from, besides the database. */
interface SettingSources {
  readonly env: Environment;
  /** Settings of PARLEY_SETTINGS_FILE; null: there is no file. */
  readonly file: SettingTexts | null;
  readonly cwd: string;
}

/**
 * Reads the settings from the environment, and from the file that PARLEY_SETTINGS_FILE names.
 * @throws ConfigError naming each invalid setting and its rule.
 */
export function readConfig(env: Environment, cwd: string): Config {
  return configOf({ env, cwd, file: readSettingsFile(env, cwd) }, {});
}

/** A setting that is not valid, alone or with others. */
export interface SettingViolation {
  readonly name: string;
  /** Ends a sentence that begins with the name. */
  readonly detail: string;
}

/** Settings that are not valid. */
export class SettingsError extends ConfigError {
  readonly violations: readonly SettingViolation[];

  constructor(violations: readonly SettingViolation[]) {
    super(`invalid setting: ${violations.map(({ name, detail }) => `${name} ${detail}`).join("; ")}`);
    this.violations = violations;
  }
}

/** Where the value of a setting comes from: the first that has one. */
export function sourceOf(
  setting: ListedSetting,
  { env, file }: SettingSources,
  app: SettingTexts,
): "environment" | "file" | "app" | "default" {
  if (env[setting.name]) return "environment";
  if (file?.[setting.name]) return "file";
  return setting.where === "app" && app[setting.name] ? "app" : "default";
}

/** The text of a setting as it counts; null: none. */
export function textOf(setting: ListedSetting, sources: SettingSources, app: SettingTexts): string | null {
  const own = setting.where === "app" ? app[setting.name] : undefined;
  return sources.env[setting.name] || sources.file?.[setting.name] || own || setting.default;
}

/**
 * The settings with those that were made in the app.
 * @throws SettingsError
 */
export function configOf(sources: SettingSources, app: SettingTexts): Config {
  const violations: SettingViolation[] = [];
  const values = readRows(settings, ({ name, kind }) => {
    const listed = settingsByName.get(name);
    const text = listed === undefined ? null : textOf(listed, sources, app);
    if (text === null) return null;
    const result = kind.safeParse(text);
    if (!result.success) violations.push({ name, detail: describeProblem(result.error) });
    return result.data;
  }) as Values;
  violations.push(...findProxyViolations(sources.env));
  if (violations.length > 0) throw new SettingsError(violations);
  const disagreements = findDisagreements(values);
  if (disagreements.length > 0) throw new SettingsError(disagreements);
  return Object.freeze({ ...compose(values, sources.env, sources.cwd), sources });
}

/**
 * The same, without the settings of the app that are not valid any more, such as after an upgrade or beside other
 * variables: none of them may keep the server from starting.
 */
export function configWithout(
  sources: SettingSources,
  app: SettingTexts,
): { readonly config: Config; readonly ignored: readonly SettingViolation[] } {
  const left = { ...app };
  const ignored: SettingViolation[] = [];
  for (;;) {
    try {
      return { config: configOf(sources, left), ignored };
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      const wrong = error.violations.filter(({ name }) => left[name] !== undefined);
      // A missing companion is named; what is there without it is set aside.
      const section = settingsByName.get(error.violations[0]?.name ?? "")?.section;
      const names =
        wrong.length > 0
          ? wrong.map(({ name }) => name)
          : Object.keys(left).filter((name) => settingsByName.get(name)?.section === section);
      if (names.length === 0) throw error;
      for (const name of names) {
        delete left[name];
        const detail = error.violations.find((one) => one.name === name)?.detail;
        ignored.push({ name, detail: detail ?? `is set aside: ${error.message}` });
      }
    }
  }
}

/** @throws ConfigError */
function readSettingsFile(env: Environment, cwd: string): SettingTexts | null {
  const path = env.PARLEY_SETTINGS_FILE;
  if (!path) return null;
  const fail = (what: string): never => {
    throw new ConfigError(`invalid setting: PARLEY_SETTINGS_FILE ${path} ${what}`);
  };
  let text = "";
  try {
    text = readFileSync(resolve(cwd, path), "utf8");
  } catch (error) {
    fail(`can't be read: ${(error as Error).message}`);
  }
  try {
    return parseSettings(text);
  } catch (error) {
    return fail((error as Error).message);
  }
}

const Texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String));

/**
 * Reads settings as `parley settings export` writes them: a JSON object of names and values.
 * @throws Error whose message ends a sentence.
 */
export function parseSettings(text: string): SettingTexts {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message would quote the text, which may hold secrets.
    throw new Error("is not valid JSON");
  }
  const result = Texts.safeParse(json);
  if (!result.success) throw new Error("must be a JSON object of names and values");
  const unknown = Object.keys(result.data).filter((name) => !settingsByName.has(name));
  if (unknown.length > 0) throw new Error(`has unknown settings: ${unknown.map(withNearest).join(", ")}`);
  return result.data;
}

/** The same table with what `read` returns in place of each setting. */
function readRows(rows: Rows, read: (setting: Setting) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rows).map(([key, row]) => [key, isSetting(row) ? read(row) : readRows(row, read)]),
  );
}

/** Replaces the values whose meaning depends on other settings or on the machine. */
function compose(values: Values, env: Environment, cwd: string) {
  const { bucket, endpoint, prefix } = values.s3;
  const s3Connection = {
    endpoint,
    region: values.s3.region ?? env.AWS_REGION ?? "us-east-1",
    forcePathStyle: values.s3.forcePathStyle ?? endpoint !== null,
  };
  const { singleSignOn, signInProviders, smtp, ...others } = values;
  return {
    ...others,
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
    /** What writes summaries; null: nothing. */
    languageModel: readLanguageModel(values),
    /** Null: no email is sent. */
    smtp: isComplete(smtp) ? smtp : null,
    /** Single sign-on, in the order of the sign-in page. */
    signInProviders: joinProviders(isComplete(singleSignOn) ? singleSignOn : null, signInProviders ?? []),
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

/** More cost too much memory: 1.2 GB for 8,192 tokens of a model of 4 billion parameters. */
const localContextTokens = 8192;

/** As with transcription. The built-in model leaves a core to the server where it can. */
function readLanguageModel({ languageModel, transcription, role }: Values): LanguageModelSettings | null {
  const { url, model, apiKey, silenceMs, contextTokens, maxTokensPerDay } = languageModel;
  const engine = languageModel.engine ?? (url === null ? "local" : "server");
  if (engine === "off") return null;
  if (engine === "server")
    return {
      ...{ engine, url: url ?? "", model: model ?? "gpt-4.1-mini", apiKey, silenceMs },
      ...{ contextTokens, maxTokensPerDay },
    };
  const cores = availableParallelism();
  return {
    engine,
    isRequired: languageModel.engine === "local" && role === "api",
    model,
    threads: transcription.threads ?? Math.min(cores, Math.max(2, cores - 1), 8),
    usesGpu: languageModel.gpu === "auto",
    contextTokens: localContextTokens,
    maxTokensPerDay,
  };
}

/** Settings of a group that have no default are set together. */
function findLonely(
  group: Readonly<Record<string, Setting>>,
  values: Readonly<Record<string, unknown>>,
): SettingViolation[] {
  const required = Object.entries(group).filter(([, setting]) => setting.default === null);
  const missing = required.filter(([key]) => values[key] === null);
  if (missing.length === required.length) return [];
  return missing.map(([, { name }]) => {
    const others = required.map(([, other]) => other.name).filter((other) => other !== name);
    return { name, detail: `must be set together with ${others.join(", ")}` };
  });
}

/** Settings of the database at PARLEY_DATABASE_URL without it. */
function findUnfounded(values: Values): SettingViolation[] {
  if (values.databaseUrl !== null) return [];
  return (["databaseDirectUrl", "databaseReplicaUrl"] as const)
    .filter((key) => values[key] !== null)
    .map((key) => ({ name: settings[key].name, detail: "must be set together with PARLEY_DATABASE_URL" }));
}

/**
 * An email without proof counts only from a provider whose users the operator's organization chooses, and an issuer has one
 * provider.
 */
function findMistrusted({ singleSignOn, signInProviders }: Values): SettingViolation[] {
  const { issuer, trustEmail } = singleSignOn;
  const reason = issuer === null || !trustEmail ? null : whyShared(issuer);
  if (reason !== null)
    return [
      { name: settings.singleSignOn.trustEmail.name, detail: `can't be true for ${issuer}: ${reason}` },
    ];
  const clash = findProviderClash(
    joinProviders(isComplete(singleSignOn) ? singleSignOn : null, signInProviders ?? []),
  );
  return clash === null ? [] : [{ name: settings.signInProviders.name, detail: clash }];
}

/** The standard variables of proxies are settings too: a wrong one would stop every outgoing request. */
function findProxyViolations(env: Environment): SettingViolation[] {
  try {
    for (const protocol of ["https:", "http:"] as const) readProxy(protocol, env);
    return [];
  } catch (error) {
    const [name = "", ...detail] = (error as Error).message.split(" ");
    return [{ name, detail: detail.join(" ") }];
  }
}

/** Settings that are valid alone but not together. */
function findDisagreements(values: Values): SettingViolation[] {
  const lonely = [
    ...findLonely(settings.smtp, values.smtp),
    ...findLonely(settings.singleSignOn, values.singleSignOn),
    ...findUnfounded(values),
    ...findMistrusted(values),
  ];
  if (values.transcription.engine === "server" && values.transcription.url === null)
    lonely.push({
      name: "PARLEY_TRANSCRIPTION_URL",
      detail: "must be set when PARLEY_TRANSCRIPTION is server",
    });
  if (values.languageModel.engine === "server" && values.languageModel.url === null)
    lonely.push({ name: "PARLEY_LLM_URL", detail: "must be set when PARLEY_LLM is server" });
  const usesS3 = values.storage === "s3" || values.s3.bucket !== null;
  if (lonely.length > 0 || !usesS3) return lonely;
  const maxLinkMs = 7 * units.d;
  return [
    ...(values.s3.bucket === null
      ? [{ name: "PARLEY_S3_BUCKET", detail: "must name the bucket when PARLEY_STORAGE is s3" }]
      : []),
    ...(["uploadUrlTtlMs", "downloadUrlTtlMs"] as const)
      .filter((key) => values[key] > maxLinkMs)
      .map((key) => ({
        name: settings[key].name,
        detail: "must be at most 7d with PARLEY_S3_BUCKET, because S3 links expire then",
      })),
  ];
}

function describeProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  return issue?.message ?? "is not valid";
}

/** Read by `parley upload` and `parley import`, which are clients of a server, and before all settings. */
const otherNames: readonly string[] = [
  "PARLEY_URL",
  "PARLEY_TOKEN",
  "PARLEY_IMPORT_TOKEN",
  "PARLEY_SETTINGS_FILE",
];

/** Names of unknown `PARLEY_…` variables, most likely typos. */
export function unknownSettings(env: Environment): string[] {
  const known = new Set([...settingsByName.keys(), ...otherNames]);
  return Object.keys(env).filter((name) => name.startsWith("PARLEY_") && !known.has(name));
}

/** What to do about variables that still count, although nobody has to set them any more. */
export function retiredSettings(env: Environment): string[] {
  return allSettings
    .filter(({ name, isRetired }) => isRetired && env[name])
    .map(({ name, replacedBy }) =>
      replacedBy === undefined
        ? `${name} still counts, but nobody has to set it any more; consider removing it`
        : `${name} still counts; new installations set it in ${replacedBy}`,
    );
}

/** A wrong name with the nearest right one. */
export function withNearest(name: string): string {
  const nearest = nearestName(name);
  return nearest === null ? name : `${name} (did you mean ${nearest}?)`;
}

/** The name of a setting that a misspelled one is most likely meant to be; null: none is near. */
function nearestName(wrong: string): string | null {
  const [nearest] = [...shownSettings.map(({ name }) => name), ...otherNames]
    .map((name) => ({ name, distance: distanceOf(wrong.slice(0, 100).toUpperCase(), name) }))
    .sort((one, other) => one.distance - other.distance);
  return nearest !== undefined && nearest.distance <= 3 ? nearest.name : null;
}

/** How many letters to insert, remove, replace or swap with their neighbor. */
function distanceOf(from: string, to: string): number {
  let [earlier, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (earlier[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [earlier, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
