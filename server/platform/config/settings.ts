import { z } from "zod";
import { Compatibility, DatetimeFilters } from "../../../contract/common.ts";
import { providerList } from "./sign-in-providers.ts";
import {
  accessKey,
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
  onOff,
  outboundRanges,
  pause,
  proxyUrl,
  redirectSchemes,
  retrySchedule,
  smtpUrl,
  timeOfDay,
  units,
  versionStatus,
  watchDirs,
  whole,
} from "./values.ts";

/** A setting that an operator can make. */
export interface Setting<Kind extends z.ZodType = z.ZodType, Default extends string | null = string | null> {
  /** The environment variable. */
  readonly name: `PARLEY_${string}`;
  /** Reads the variable's text. */
  readonly kind: Kind;
  /** As an operator would write it; empty: an empty list; null: none, or one that depends on other settings. */
  readonly default: Default;
  /** One sentence of help, in Markdown: the docs, the form and the command line are made from this table. */
  readonly meaning: string;
  /** What the docs say in place of the default. */
  readonly shownDefault: string | undefined;
  /** Whether the value is or may contain a secret, so that it must never be shown. */
  readonly isSecret: boolean;
  /** The setting with the URL to which the secret is sent: it is entered again when that changes. */
  readonly sentTo: `PARLEY_${string}` | undefined;
  /** Whether nobody has to decide it any more: the variable still counts, with a notice. */
  readonly isRetired: boolean;
  /** The setting that decides it in new installations; this one is retired. */
  readonly replacedBy: `PARLEY_${string}` | undefined;
}

/** Settings by their key in the configuration; a group is an object of its own there. */
export interface Rows {
  readonly [key: string]: Setting | Readonly<Record<string, Setting>>;
}

/** What the settings of a table are read as; null: not set, without a default. */
export type ValuesOf<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer Kind, infer Default>
    ? z.output<Kind> | (Default extends null ? null : never)
    : ValuesOf<Table[Key]>;
};

function setting<Kind extends z.ZodType, Default extends string | null>(
  name: `PARLEY_${string}`,
  kind: Kind,
  fallback: Default,
  meaning: string,
  options: {
    shownDefault?: string;
    isSecret?: boolean;
    sentTo?: `PARLEY_${string}`;
    isRetired?: boolean;
    replacedBy?: `PARLEY_${string}`;
  } = {},
): Setting<Kind, Default> {
  const {
    shownDefault,
    isSecret = false,
    sentTo,
    replacedBy,
    isRetired = replacedBy !== undefined,
  } = options;
  return { name, kind, default: fallback, meaning, shownDefault, isSecret, sentTo, isRetired, replacedBy };
}

const text = z.string();
const isSecret = true;
const isRetired = true;
const limit = whole(0, 1_000_000_000);
const quota = whole(0, 1_000_000);
const atMostADay = duration.refine((ms) => ms <= units.d, "must be at most a day");
const secret = text.min(32, "must have at least 32 characters");
const notificationToken = text.min(16, "must have at least 16 characters");
const passphrase = text.min(12, "must have at least 12 characters");
const maxDuration = duration
  .refine((ms) => ms >= 10_000, "must be at least 10s")
  // Node timers fire at once when set to more than 24 days.
  .refine((ms) => ms <= 24 * units.d, "must be at most 24d");

const server = {
  host: setting("PARLEY_HOST", text, "127.0.0.1", "IP address to listen on"),
  port: setting("PARLEY_PORT", whole(1, 65535), "3000", "Port to listen on"),
  baseUrl: setting(
    "PARLEY_BASE_URL",
    baseUrl,
    null,
    "URL under which users and programs reach the server; part of every link. Scheme, host and port only: Parley can't be served below a path",
    { shownDefault: "`http://localhost:PORT`" },
  ),
  role: setting(
    "PARLEY_ROLE",
    z.enum(["all", "api", "worker"]),
    "all",
    "`all`, `api` or `worker`; same as `serve --role`",
  ),
  trustedProxies: setting(
    "PARLEY_TRUSTED_PROXIES",
    addressRanges,
    "",
    "IP addresses and ranges of your reverse proxies, such as `127.0.0.1,10.0.0.0/8`; see [On the internet](internet.md)",
  ),
  healthAddress: setting(
    "PARLEY_HEALTH_ADDRESS",
    listenAddress,
    null,
    "`host:port`, or a port on the loopback interface, where a process with `--role worker` serves `/healthz` and `/readyz`",
  ),
  metricsAddress: setting(
    "PARLEY_METRICS_ADDRESS",
    listenAddress,
    null,
    "`host:port`, or a port on the loopback interface, where the process serves [metrics](metrics.md) at `/metrics`",
  ),
};

const files = {
  dataDir: setting(
    "PARLEY_DATA_DIR",
    text,
    null,
    "Folder of the embedded database and local files. As root, in a folder that other users can't enter: `/var/lib/parley`",
    { shownDefault: "`./data`" },
  ),
  databaseUrl: setting(
    "PARLEY_DATABASE_URL",
    databaseUrl,
    null,
    "Use this PostgreSQL (15 or newer) instead of the embedded one",
    { isSecret },
  ),
  databaseDirectUrl: setting(
    "PARLEY_DATABASE_DIRECT_URL",
    databaseUrl,
    null,
    "The same database past a pooler such as PgBouncer in transaction mode, to which `PARLEY_DATABASE_URL` then leads; see [Behind PgBouncer](scale.md#behind-pgbouncer)",
    { isSecret },
  ),
  databaseReplicaUrl: setting(
    "PARLEY_DATABASE_REPLICA_URL",
    databaseUrl,
    null,
    "A streaming replica of it for reads that tolerate lag; see [Read replicas](scale.md#read-replicas)",
    { isSecret },
  ),
  secret: setting(
    "PARLEY_SECRET",
    secret,
    null,
    "Key for signed links and stored secrets, at least 32 characters. A generated secret is kept with the files; set your own if others can read the bucket. Several, separated by commas, while you [rotate it](secrets.md): the first encrypts",
    { shownDefault: "generated at the first start", isSecret },
  ),
  storage: setting(
    "PARLEY_STORAGE",
    z.enum(["local", "s3"]),
    "local",
    "Where files are stored: `local` (data folder) or `s3`. After a migration the database's record counts (see [Move](storage.md#files-to-s3-or-back))",
  ),
  s3: {
    bucket: setting(
      "PARLEY_S3_BUCKET",
      text,
      null,
      "Bucket, used with `PARLEY_STORAGE=s3` and for a migration. Credentials come from the usual AWS variables",
    ),
    endpoint: setting("PARLEY_S3_ENDPOINT", httpUrl, null, "URL of an S3-compatible store", {
      shownDefault: "Amazon's",
    }),
    region: setting("PARLEY_S3_REGION", text, null, "Region", {
      shownDefault: "`AWS_REGION`, otherwise `us-east-1`",
      isRetired,
    }),
    forcePathStyle: setting(
      "PARLEY_S3_FORCE_PATH_STYLE",
      flag,
      null,
      "Put the bucket into the path instead of the host name",
      { shownDefault: "`true` with an endpoint", isRetired },
    ),
    prefix: setting(
      "PARLEY_S3_PREFIX",
      bucketPrefix,
      null,
      "Prefix of every key, such as `parley/`, if the bucket is shared",
    ),
  },
};

const mail = {
  smtp: {
    url: setting(
      "PARLEY_SMTP_URL",
      smtpUrl,
      null,
      "Mail server, such as `smtp://user:password@mail.example.com:587`, or with `smtps://` for TLS from the start, usually on port 465. In user and password, write `@` as `%40`, `/` as `%2F` and `#` as `%23` ([set up email](../guide/accounts.md#set-up-email))",
      { isSecret },
    ),
    from: setting(
      "PARLEY_SMTP_FROM",
      text.regex(/@/, "must be an email address"),
      null,
      "Sender of email, such as `Parley <parley@example.com>`",
    ),
  },
};

const speech = {
  transcription: {
    url: setting(
      "PARLEY_TRANSCRIPTION_URL",
      httpUrl,
      null,
      "URL of a speech server ([transcription](../guide/transcription.md))",
    ),
    model: setting(
      "PARLEY_TRANSCRIPTION_MODEL",
      text,
      null,
      "Model of the speech server, or the name of an installed model",
      { shownDefault: "`whisper-1` with a server" },
    ),
    apiKey: setting("PARLEY_TRANSCRIPTION_API_KEY", text, null, "API key of the speech server", {
      isSecret,
      sentTo: "PARLEY_TRANSCRIPTION_URL",
    }),
    language: setting(
      "PARLEY_TRANSCRIPTION_LANGUAGE",
      text,
      null,
      "Language of the meetings, such as `en`; without it, the model detects it",
    ),
    engine: setting(
      "PARLEY_TRANSCRIPTION",
      z.enum(["local", "server", "off"]),
      null,
      "What transcribes recordings: `local`, `server` or `off` ([transcription](../guide/transcription.md))",
      { shownDefault: "`server` if a URL is set, otherwise `local` once a model is installed" },
    ),
    threads: setting(
      "PARLEY_TRANSCRIPTION_THREADS",
      whole(1, 64),
      null,
      "Threads of the built-in speech engine, and of the built-in language model",
      { shownDefault: "number of cores, at most 4", isRetired },
    ),
  },
  modelMirror: setting(
    "PARLEY_MODEL_MIRROR",
    httpUrlWithUser,
    null,
    "URL from which models are downloaded, as `URL/NAME/FILE`; a user and password in it are sent as basic authentication",
    { shownDefault: "the models' publishers", isSecret },
  ),
};

const languageModels = {
  languageModel: {
    url: setting(
      "PARLEY_LLM_URL",
      httpUrl,
      null,
      "URL of a language model server for summaries, chapters, action items and questions ([language model](../guide/language-model.md))",
    ),
    engine: setting(
      "PARLEY_LLM",
      z.enum(["local", "server", "off"]),
      null,
      "What writes summaries: `local`, `server` or `off` ([language model](../guide/language-model.md))",
      { shownDefault: "`server` if a URL is set, otherwise `local` once a model is installed" },
    ),
    model: setting(
      "PARLEY_LLM_MODEL",
      text,
      null,
      "Model of the language model server, or the name of an installed model",
      { shownDefault: "`gpt-4.1-mini` with a server" },
    ),
    gpu: setting(
      "PARLEY_LLM_GPU",
      z.enum(["off", "auto"]),
      "off",
      "`auto`: the built-in language model uses a GPU if its package is installed ([GPU](../guide/language-model.md#gpu))",
    ),
    apiKey: setting("PARLEY_LLM_API_KEY", text, null, "API key of the language model server", {
      isSecret,
      sentTo: "PARLEY_LLM_URL",
    }),
    // Smaller contexts don't even hold the prompts.
    contextTokens: setting(
      "PARLEY_LLM_CONTEXT_TOKENS",
      whole(4096, 100_000_000),
      "32768",
      "Tokens of one request to a server, including the output",
    ),
    silenceMs: setting(
      "PARLEY_LLM_TIMEOUT",
      atMostADay,
      "5m",
      "How long the language model server may send nothing",
      { isRetired },
    ),
    maxTokensPerDay: setting(
      "PARLEY_LLM_MAX_TOKENS_PER_DAY",
      whole(1, 1_000_000_000_000),
      null,
      "Tokens for each workspace and UTC day; a workspace may set a lower limit",
    ),
  },
};

const signIn = {
  singleSignOn: {
    issuer: setting(
      "PARLEY_OIDC_ISSUER",
      issuerUrl,
      null,
      "Issuer for single sign-on by OpenID Connect. The redirect URI is `<base>/sign-in/callback` ([set up single sign-on](../guide/accounts.md#set-up-single-sign-on))",
    ),
    clientId: setting("PARLEY_OIDC_CLIENT_ID", text, null, "ID with which Parley is registered there"),
    clientSecret: setting("PARLEY_OIDC_CLIENT_SECRET", text, null, "Secret of that registration", {
      isSecret,
      sentTo: "PARLEY_OIDC_ISSUER",
    }),
    name: setting(
      "PARLEY_OIDC_NAME",
      text.max(60, "must have at most 60 characters"),
      "single sign-on",
      "Label of the button on the sign-in page",
    ),
    createUsers: setting(
      "PARLEY_OIDC_CREATE_USERS",
      flag,
      "false",
      "Create accounts for users whose email is in a [claimed domain](../guide/accounts.md#claim-an-email-domain)",
      { replacedBy: "PARLEY_OIDC_PROVIDERS" },
    ),
    trustEmail: setting(
      "PARLEY_OIDC_TRUST_EMAIL",
      flag,
      "false",
      "Accept emails if the provider, such as Microsoft Entra ID, doesn't say whether they are verified. Only for an issuer of one organization, not `common`, `organizations` or `consumers`",
    ),
  },
  signInProviders: setting(
    "PARLEY_OIDC_PROVIDERS",
    providerList,
    null,
    "Providers of single sign-on as a JSON list, besides the one of `PARLEY_OIDC_ISSUER` ([single sign-on](../guide/single-sign-on.md#the-list-of-providers))",
    { isSecret },
  ),
  oauthRegistration: setting(
    "PARLEY_OAUTH_REGISTRATION",
    onOff,
    "on",
    "`on`: assistants and other apps can register themselves, and users can authorize them where their workspace allows it. `off`: only apps that an admin registered can be authorized. Access that users granted before remains until it is revoked",
  ),
  oauthRedirectSchemes: setting(
    "PARLEY_OAUTH_REDIRECT_SCHEMES",
    redirectSchemes,
    "cursor, vscode, vscode-insiders",
    "Schemes, such as `cursor://…`, to which public apps may return besides https, loopback and reversed domains. `none`: no others",
    { isRetired },
  ),
  dnsServers: setting(
    "PARLEY_DNS_SERVERS",
    dnsServers,
    "",
    "DNS servers for checking claimed email domains: IP addresses with an optional port, such as `192.0.2.53,[2001:db8::53]:53`",
    { shownDefault: "the system's", isRetired },
  ),
};

const backups = {
  backup: {
    destination: setting(
      "PARLEY_BACKUP_TO",
      text,
      null,
      "Folder or `s3://bucket/prefix` for [backups](backup.md) by schedule",
    ),
    s3Endpoint: setting(
      "PARLEY_BACKUP_S3_ENDPOINT",
      httpUrl,
      null,
      "URL of the S3-compatible store of the backups, if it isn't the store of the files; for Amazon, the endpoint of the bucket's region, such as `https://s3.eu-west-1.amazonaws.com`",
      { shownDefault: "`PARLEY_S3_ENDPOINT`, otherwise Amazon's" },
    ),
    s3Key: setting(
      "PARLEY_BACKUP_S3_KEY",
      accessKey,
      null,
      "Access key ID and secret access key for the bucket of the backups, as `ID:SECRET`",
      { shownDefault: "the usual AWS variables", isSecret, sentTo: "PARLEY_BACKUP_S3_ENDPOINT" },
    ),
    atMinute: setting("PARLEY_BACKUP_AT", timeOfDay, "03:00", "Time of day, in the server's time zone"),
    keep: setting(
      "PARLEY_BACKUP_KEEP",
      keepRule,
      "7d,4w,12m",
      "How many daily, weekly and monthly backups to keep",
    ),
    beforeUpgrade: setting(
      "PARLEY_BACKUP_BEFORE_UPGRADE",
      flag,
      null,
      "Copy the database into the data folder [before an upgrade](upgrade.md)",
      { shownDefault: "`true` for the embedded database", isRetired },
    ),
    passphrase: setting(
      "PARLEY_BACKUP_PASSPHRASE",
      passphrase,
      null,
      "Encrypts backups; at least 12 characters. Nobody can restore them without it: keep a copy outside of Parley",
      { isSecret },
    ),
  },
};

const limits = {
  maxDurationMs: setting(
    "PARLEY_MAX_DURATION",
    maxDuration,
    "3h",
    "Longest recording. `parley workspace create --max-duration` sets a workspace's own limit",
  ),
  // The largest part of an S3 upload, and the largest file of the contract.
  maxUploadBytes: setting(
    "PARLEY_MAX_UPLOAD_BYTES",
    byteSize.refine((bytes) => bytes <= 4 * 2 ** 30, "must be at most 4GiB"),
    "4GiB",
    "Largest file, such as `500MB`",
  ),
  storageBytesPerWorkspace: setting(
    "PARLEY_STORAGE_PER_WORKSPACE",
    byteSize,
    null,
    "Bytes that a workspace may store, such as `500GB` or `1TiB` (see [Quotas](#quotas))",
  ),
  rateLimitPerMinute: setting(
    "PARLEY_RATE_LIMIT_PER_MINUTE",
    limit,
    "300",
    "Requests a minute for each token, shared by all processes. Requests without a token are counted by IP address before their body is read; successful token requests are not counted. Files of [public links](../guide/public-links.md) have a separate limit, ten times as high. `0` turns it off",
  ),
  rateLimitPerUserPerMinute: setting(
    "PARLEY_RATE_LIMIT_PER_USER_PER_MINUTE",
    limit,
    null,
    "Requests a minute for all tokens and sessions of a user. `0` turns it off",
    { shownDefault: "three times the limit above", isRetired },
  ),
  openUploadsPerUser: setting(
    "PARLEY_OPEN_UPLOADS_PER_USER",
    quota,
    "500",
    "Unfinished uploads of a user (see [Quotas](#quotas)). `0`: no limit",
    { isRetired },
  ),
  hooksPerUser: setting(
    "PARLEY_HOOKS_PER_USER",
    quota,
    "100",
    "Webhooks of a user (see [Quotas](#quotas)). `0`: no limit",
    { isRetired },
  ),
  tokensPerUser: setting(
    "PARLEY_TOKENS_PER_USER",
    quota,
    "100",
    "Active tokens of a user (see [Quotas](#quotas)). `0`: no limit",
    { isRetired },
  ),
  hookRequestsPerHostPerMinute: setting(
    "PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE",
    limit,
    "6000",
    "Webhook requests a minute to one host, for all webhooks and processes. `0`: no limit",
    { isRetired },
  ),
};

const outgoing = {
  proxy: setting(
    "PARLEY_PROXY",
    proxyUrl,
    null,
    "HTTP proxy for outgoing requests, such as `http://proxy.example.com:3128`. `HTTPS_PROXY` and `HTTP_PROXY` count before it, and hosts in `NO_PROXY` are reached directly",
    { isSecret },
  ),
  hooksAllowAddresses: setting(
    "PARLEY_HOOKS_ALLOW_ADDRESSES",
    outboundRanges,
    "",
    "Private IP addresses to which webhooks and deliveries may be sent, and from which calendars may be read and banner images and the recordings of imports and connections downloaded, such as `127.0.0.0/8,10.1.2.3`",
  ),
  hookRetryScheduleMs: setting(
    "PARLEY_HOOK_RETRY_SCHEDULE",
    retrySchedule,
    "5,30,300,1800,7200,18000,36000,50400,72000,86400",
    "Seconds between the attempts of a delivery",
    { isRetired },
  ),
};

const retention = {
  auditTtlMs: setting(
    "PARLEY_AUDIT_TTL",
    duration.refine((ms) => ms >= units.d, "must be at least a day"),
    null,
    "How long to keep entries of the [audit log](../guide/audit.md), and receipts of retention rules and personal-data erasures, at least a day; without it, indefinitely",
  ),
  retentionGraceMs: setting(
    "PARLEY_RETENTION_GRACE",
    duration,
    "1d",
    "How long after it is created or changed a [retention rule](../guide/data-governance.md) starts",
    { isRetired },
  ),
};

const advanced = {
  newRecordingShareState: setting(
    "PARLEY_NEW_RECORDING_SHARE_STATE",
    z.enum(["public", "workspace", "restricted"]),
    "restricted",
    "Access to new recordings: `restricted`, `workspace` or `public`. A workspace can override it with `restricted` or `workspace`",
  ),
  watchDirs: setting(
    "PARLEY_WATCH_DIRS",
    watchDirs,
    "",
    "Folders whose files become recordings, separated by commas: `/folder`, `s3://bucket/prefix`, or `WORKSPACE_ID=` before either (see [Watched folders](storage.md#watched-folders))",
  ),
  watchIntervalMs: setting(
    "PARLEY_WATCH_INTERVAL",
    atMostADay,
    "10s",
    "How often watched folders are listed. A file is taken when it has not changed for three intervals",
    { isRetired },
  ),
  trustedHosts: setting(
    "PARLEY_TRUSTED_HOSTS",
    hostNames,
    "",
    "Additional host names and IP addresses, without ports, under which the server may be reached, such as `parley.lan,192.168.1.20`",
  ),
  securityContacts: setting(
    "PARLEY_SECURITY_CONTACT",
    contactUris,
    "",
    "Where to report vulnerabilities, shown in `/.well-known/security.txt` (RFC 9116): emails or https URLs, comma separated",
    { shownDefault: "a page of this server", isRetired },
  ),
  logLevel: setting(
    "PARLEY_LOG_LEVEL",
    z.enum(["trace", "debug", "info", "warn", "error", "silent"]),
    "info",
    "`trace`, `debug`, `info`, `warn`, `error`, `silent`",
  ),
  s3Downloads: setting(
    "PARLEY_S3_DOWNLOADS",
    z.enum(["server", "bucket"]),
    "server",
    "Who sends whole files: `server`, so that a download ends with the user's access, or `bucket`, which takes the bandwidth off the API processes (see [S3](storage.md#s3))",
  ),
  s3NotificationToken: setting(
    "PARLEY_S3_NOTIFICATION_TOKEN",
    notificationToken,
    null,
    "Token of the bucket's notifications; enables them (see [Files](storage.md#files))",
    { isSecret },
  ),
  versionStatus: setting(
    "PARLEY_VERSION_STATUS",
    versionStatus,
    "",
    "Status of API versions, such as `2025-10-31=sunsetting@2027-03-01`: `current`, `deprecated`, `sunsetting` or `retired`. A sunsetting version is retired automatically on its date. In the 90 days before, its rate limit falls to a tenth; without a date it is halved",
  ),
  compatibility: setting(
    "PARLEY_COMPAT",
    Compatibility,
    "none",
    "`hubspot`: `include.hubspot` is accepted like `include.crm`, and both return `hubspot` (`hubspot_company_ids`, `hubspot_deal_ids`) and `hs_contact_id` beside `crm` and `crm_contact_id`. It is the default for new tokens, apps and authorizations of self-registered apps; each can have its own (`compatibility`, `--compat`)",
  ),
  datetimeFilters: setting(
    "PARLEY_DATETIME_FILTERS",
    DatetimeFilters,
    "contract",
    "`contract`: `before_datetime` finds recordings that start after the value, `after_datetime` those that start at or before it, as the API contract says. `by-name`: `before_datetime` finds those that start before the value, `after_datetime` those that start at or after it. It is the default for new tokens, apps and authorizations of self-registered apps; each can have its own (`datetime_filters`), and the web app always follows the contract. Where two date filters exclude every recording, the response has a `Warning` header that says why, and the log has a line; an empty list with one date filter has the header too",
  ),
  pageSize: setting("PARLEY_PAGE_SIZE", whole(1, 1000), "50", "Entries on a page of list operations", {
    isRetired,
  }),
  uploadUrlTtlMs: setting(
    "PARLEY_UPLOAD_URL_TTL",
    duration,
    "24h",
    "How long an upload's URL accepts the file",
    { isRetired },
  ),
  uploadExpiryGraceMs: setting(
    "PARLEY_UPLOAD_EXPIRY_GRACE",
    duration,
    "24h",
    "How long after that an upload without a file fails",
    { isRetired },
  ),
  stagedMediaTtlMs: setting(
    "PARLEY_STAGED_MEDIA_TTL",
    duration,
    "7d",
    "How long the file of a staged upload is kept",
    { isRetired },
  ),
  processingTtlMs: setting(
    "PARLEY_PROCESSING_TTL",
    duration,
    "24h",
    "How long to keep retrying an upload that has failed at least five times, from the first attempt",
    { isRetired },
  ),
  staleUploadTtlMs: setting(
    "PARLEY_STALE_UPLOAD_TTL",
    duration,
    "30d",
    "When to delete uploads that never became a recording, and an upload's copy of the transcript (see [Files](storage.md#files))",
    { isRetired },
  ),
  downloadUrlTtlMs: setting("PARLEY_DOWNLOAD_URL_TTL", duration, "1h", "How long a link to a file is valid", {
    isRetired,
  }),
  drainMs: setting(
    "PARLEY_DRAIN",
    pause,
    null,
    "How long an API process continues to serve requests after the signal to stop, while `/readyz` returns 503",
    { shownDefault: "`10s` with `PARLEY_TRUSTED_PROXIES`, else `0`", isRetired },
  ),
  sweepIntervalMs: setting(
    "PARLEY_SWEEP_INTERVAL",
    atMostADay,
    "1m",
    "How often workers check for stale, stuck and orphaned items (a *sweep*)",
    { isRetired },
  ),
};

/** A page of the form and of the docs. */
interface Section {
  readonly rows: Rows;
  /** `environment`: needed before the database can be read; `app`: also in the web app and by `parley settings`. */
  readonly where: "environment" | "app";
}

/** The settings by section, as the form and docs/operations/settings.md list them. */
export const sections = {
  Server: { rows: server, where: "environment" },
  "Database and files": { rows: files, where: "environment" },
  Mail: { rows: mail, where: "app" },
  Speech: { rows: speech, where: "app" },
  "Language model": { rows: languageModels, where: "app" },
  "Sign-in": { rows: signIn, where: "app" },
  Backups: { rows: backups, where: "app" },
  "Limits and quotas": { rows: limits, where: "app" },
  "Webhooks and outgoing requests": { rows: outgoing, where: "app" },
  "Retention of logs": { rows: retention, where: "app" },
  Advanced: { rows: advanced, where: "app" },
} as const satisfies Readonly<Record<string, Section>>;

/** All settings. To add one, add a line to its section. */
export const settings = {
  ...server,
  ...files,
  ...mail,
  ...speech,
  ...languageModels,
  ...signIn,
  ...backups,
  ...limits,
  ...outgoing,
  ...retention,
  ...advanced,
} satisfies Rows;

/** A setting and its place. */
export interface ListedSetting extends Setting {
  readonly section: string;
  readonly where: Section["where"];
}

export function isSetting(row: Rows[string]): row is Setting {
  return typeof row.name === "string";
}

function settingsIn(rows: Rows): Setting[] {
  return Object.values(rows).flatMap((row) => (isSetting(row) ? [row] : settingsIn(row)));
}

/** Every setting in the order of the sections, with those that are still read but no longer shown. */
export const allSettings: readonly ListedSetting[] = Object.entries(sections).flatMap(
  ([section, { rows, where }]) =>
    settingsIn(rows).map((setting) => ({
      ...setting,
      section,
      where: setting.isRetired ? "environment" : where,
    })),
);

/** The settings that are shown. */
export const shownSettings: readonly ListedSetting[] = allSettings.filter(({ isRetired }) => !isRetired);
