import type { VersionName } from "../contract/versions.ts";
import type { VersionOverride } from "./config-values.ts";

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

/** A server that takes our mail. */
export interface SmtpSettings {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  readonly url: string;
  /** What mails come from: an address, or a name with one in angle brackets. */
  readonly from: string;
}

/** A provider of single sign-on by OpenID Connect. */
export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the button says it leads to. */
  readonly name: string;
  /** Make accounts for people whose email lies in a workspace's domains. */
  readonly createUsers: boolean;
  /** Believe emails of which the provider does not say whether they are verified. */
  readonly trustEmail: boolean;
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
  /** How long after it was made or changed a retention rule begins to delete. */
  readonly retentionGraceMs: number;
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
  /** Null: no mail is sent. */
  readonly smtp: SmtpSettings | null;
  /** Null: people sign in with a password. */
  readonly singleSignOn: SingleSignOnSettings | null;
  readonly versionStatus: ReadonlyMap<VersionName, VersionOverride>;
  readonly logLevel: string;
}
