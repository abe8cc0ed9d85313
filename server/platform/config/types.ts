import type { Compatibility, DatetimeFilters } from "../../../contract/common.ts";
import type { VersionName } from "../../../contract/versions.ts";
import type { KeepRule, VersionOverride } from "./values.ts";

/** How to reach S3; credentials come from the usual AWS variables. */
interface S3Connection {
  /** Null: Amazon S3. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
}

interface S3Settings extends S3Connection {
  readonly bucket: string;
  /** Prefix of every key, with a trailing slash; null: none. */
  readonly prefix: string | null;
}

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

/** A language model server. */
export interface LanguageModelSettings {
  /** URL of the server, with or without `/v1/chat/completions`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** The model's context size in tokens, including its response. */
  readonly contextTokens: number;
  /** Daily limit for each workspace; null: only the workspace's own limit. */
  readonly maxTokensPerDay: number | null;
  /** How long to wait while the server sends nothing. */
  readonly silenceMs: number;
}

/** The mail server for outgoing email. */
export interface SmtpSettings {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  readonly url: string;
  /** Sender: an email, or a name with an email in angle brackets. */
  readonly from: string;
}

/** The single sign-on provider (OpenID Connect). */
export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Name on the sign-in button. */
  readonly name: string;
  /** Create accounts for users whose email is in a claimed domain. */
  readonly createUsers: boolean;
  /** Trust emails without an email_verified claim. */
  readonly trustEmail: boolean;
}

/** Backups. */
interface BackupSettings {
  /** Where scheduled backups go: a folder or `s3://bucket/prefix`; null: there are none. */
  readonly destination: string | null;
  /** When, in minutes after midnight in the server's time zone. */
  readonly atMinute: number;
  readonly keep: KeepRule;
  /** Encrypts backups; null: they are not encrypted. */
  readonly passphrase: string | null;
  /** Whether the database is copied before migrations change it; null: if it is the embedded one. */
  readonly beforeUpgrade: boolean | null;
}

/** A watched folder. */
export interface WatchDir {
  /** An absolute path without a trailing slash, or `s3://bucket/prefix`. */
  readonly location: string;
  /** The only workspace that its files may become recordings of; null: settings in the folder choose. */
  readonly workspaceId: string | null;
}

/** All settings, read once and frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | null;
  /** The same database past a pooler in transaction mode, for what needs a session; null: no pooler. */
  readonly databaseDirectUrl: string | null;
  /** A streaming replica for reads that tolerate lag; null: none. */
  readonly databaseReplicaUrl: string | null;
  readonly role: "all" | "api" | "worker";
  /** Where files are stored, unless they were migrated (move/stores.ts). */
  readonly storage: "local" | "s3";
  /** The bucket for files; null: none is named. */
  readonly s3: S3Settings | null;
  /** How to reach S3 for backups, also if files are in the data folder. */
  readonly s3Connection: S3Connection;
  readonly backup: BackupSettings;
  /** Key for signed links and encryption; null: created at the first start and stored with the files. */
  readonly secret: string | null;
  /** 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** For all tokens and sessions of a user together; 0: no limit. */
  readonly rateLimitPerUserPerMinute: number;
  /** Open uploads of a user; 0: any number, as for the next two. */
  readonly openUploadsPerUser: number;
  readonly hooksPerUser: number;
  readonly tokensPerUser: number;
  /** Hook requests a minute to one host, by all processes together; 0: any number. */
  readonly hookRequestsPerHostPerMinute: number;
  /** Bytes a workspace may store; null: unlimited. */
  readonly storageBytesPerWorkspace: number | null;
  readonly pageSize: number;
  /** `contract`: before `>`, after `<=`, as the contract defines them; `by-name`: before `<`, after `>=`. */
  readonly datetimeFilters: DatetimeFilters;
  /** Names of the original service that are also used. */
  readonly compatibility: Compatibility;
  /** Whether apps may register themselves. */
  readonly oauthRegistration: boolean;
  /** Schemes without a dot that redirect URIs of public apps may have. */
  readonly oauthRedirectSchemes: readonly string[];
  readonly newRecordingShareState: "public" | "workspace" | "restricted";
  /** Lifetime of an upload URL. */
  readonly uploadUrlTtlMs: number;
  /** How long after the URL's expiry an upload without a file fails. */
  readonly uploadExpiryGraceMs: number;
  /** How long the file of a staged upload is kept. */
  readonly stagedMediaTtlMs: number;
  readonly staleUploadTtlMs: number;
  /** How long an upload may be processing or promoting before it fails. */
  readonly processingTtlMs: number;
  /** Lifetime of a download link. */
  readonly downloadUrlTtlMs: number;
  readonly sweepIntervalMs: number;
  /** How long after it was created or changed a retention rule starts to delete. */
  readonly retentionGraceMs: number;
  /** Longest recording, unless the workspace has its own limit. */
  readonly maxDurationMs: number;
  readonly maxUploadBytes: number;
  /** Private IP ranges that hooks may be sent to. */
  readonly hooksAllowAddresses: string;
  /** Milliseconds between the attempts of a delivery; null: the defaults. */
  readonly hookRetryScheduleMs: readonly number[] | null;
  /** Who sends whole files that are in a bucket: this server, which can cut them off, or the bucket. */
  readonly s3Downloads: "server" | "bucket";
  /** Token that a bucket's notifications must send; null: notifications are off. */
  readonly s3NotificationToken: string | null;
  /** What transcribes recordings; null: nothing. */
  readonly transcription: TranscriptionSettings | null;
  /** Where speech models are downloaded from instead of their publishers; null: from these. */
  readonly modelMirror: string | null;
  /** A language model behind an OpenAI-compatible `/v1/chat/completions`; null: none. */
  readonly languageModel: LanguageModelSettings | null;
  /** How long entries of the audit log are kept; null: indefinitely. */
  readonly auditTtlMs: number | null;
  /** IP addresses and ranges of trusted proxies, whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
  /** Hosts that requests may name besides those of the base URL and of this machine; in the form of `hostNameOf`. */
  readonly trustedHosts: readonly string[];
  /** Where to report vulnerabilities, as URIs. */
  readonly securityContacts: readonly string[];
  /** DNS servers for verifying email domains, as IP addresses with an optional port; none: the system's. */
  readonly dnsServers: readonly string[];
  /** How long requests are still served after the stop signal, while load balancers notice. */
  readonly drainMs: number;
  /** Where a worker without API reports its health; null: nowhere. */
  readonly healthAddress: { readonly host: string; readonly port: number } | null;
  /** Where the process serves metrics for Prometheus; null: nowhere. */
  readonly metricsAddress: { readonly host: string; readonly port: number } | null;
  /** Null: no email is sent. */
  readonly smtp: SmtpSettings | null;
  /** Null: users sign in with a password. */
  readonly singleSignOn: SingleSignOnSettings | null;
  /** Folders whose files become recordings. */
  readonly watchDirs: readonly WatchDir[];
  /** How often they are checked. */
  readonly watchIntervalMs: number;
  readonly versionStatus: ReadonlyMap<VersionName, VersionOverride>;
  readonly logLevel: string;
}

/** How tokens and apps without a choice of their own read date filters and name CRM data. */
export type CompatibilityDefaults = Pick<Config, "datetimeFilters" | "compatibility">;
