import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";

/** Titles of the sections, by the name that the server gives them. */
const sections: Readonly<Record<string, MessageDescriptor>> = {
  Mail: msg`Mail`,
  Speech: msg`Speech`,
  "Language model": msg`Language model`,
  "Sign-in": msg`Sign-in`,
  Backups: msg`Backups`,
  "Limits and quotas": msg`Limits and quotas`,
  "Webhooks and outgoing requests": msg`Webhooks and outgoing requests`,
  "Retention of logs": msg`Retention of logs`,
  Advanced: msg`Advanced`,
};

export function sectionTitle(section: string): string {
  return sections[section] === undefined ? section : t(sections[section]);
}

interface SettingText {
  /** Of the field in the app; none for one that only the environment sets. */
  readonly label?: MessageDescriptor;
  /** What it does. Code is in backticks. */
  readonly help: () => string;
}

/** The texts of each setting. */
const texts: Readonly<Record<string, SettingText>> = {
  PARLEY_HOST: { help: () => t`IP address to listen on.` },
  PARLEY_PORT: { help: () => t`Port to listen on.` },
  PARLEY_BASE_URL: {
    help: () =>
      t`URL under which users and programs reach the server; part of every link. Scheme, host and port only: Parley can't be served below a path. Default: \`http://localhost:PORT\`.`,
  },
  PARLEY_ROLE: { help: () => t`\`all\`, \`api\` or \`worker\`; same as \`serve --role\`.` },
  PARLEY_TRUSTED_PROXIES: {
    help: () => t`IP addresses and ranges of your reverse proxies, such as \`127.0.0.1,10.0.0.0/8\`.`,
  },
  PARLEY_HEALTH_ADDRESS: {
    help: () =>
      t`\`host:port\`, or a port on the loopback interface, where a process with \`--role worker\` serves \`/healthz\` and \`/readyz\`.`,
  },
  PARLEY_METRICS_ADDRESS: {
    help: () =>
      t`\`host:port\`, or a port on the loopback interface, where the process serves metrics at \`/metrics\`.`,
  },
  PARLEY_DATA_DIR: {
    help: () =>
      t`Folder of the embedded database and local files. As root, in a folder that other users can't enter: \`/var/lib/parley\`. Default: \`./data\`.`,
  },
  PARLEY_DATABASE_URL: { help: () => t`Use this PostgreSQL (15 or newer) instead of the embedded one.` },
  PARLEY_DATABASE_DIRECT_URL: {
    help: () =>
      t`The same database past a pooler such as PgBouncer in transaction mode, to which \`PARLEY_DATABASE_URL\` then leads.`,
  },
  PARLEY_DATABASE_REPLICA_URL: { help: () => t`A streaming replica of it for reads that tolerate lag.` },
  PARLEY_SECRET: {
    help: () =>
      t`Key for signed links and stored secrets, at least 32 characters. A generated secret is kept with the files; set your own if others can read the bucket. Several, separated by commas, while you rotate it: the first encrypts. Default: generated at the first start.`,
  },
  PARLEY_STORAGE: {
    help: () =>
      t`Where files are stored: \`local\` (data folder) or \`s3\`. After a migration the database's record counts.`,
  },
  PARLEY_S3_BUCKET: {
    help: () =>
      t`Bucket, used with \`PARLEY_STORAGE=s3\` and for a migration. Credentials come from the usual AWS variables.`,
  },
  PARLEY_S3_ENDPOINT: { help: () => t`URL of an S3-compatible store. Default: Amazon's.` },
  PARLEY_S3_PREFIX: { help: () => t`Prefix of every key, such as \`parley/\`, if the bucket is shared.` },
  PARLEY_SMTP_URL: {
    label: msg`SMTP URL`,
    help: () =>
      t`Mail server, such as \`smtp://user:password@mail.example.com:587\`, or with \`smtps://\` for TLS from the start, usually on port 465. In user and password, write \`@\` as \`%40\`, \`/\` as \`%2F\` and \`#\` as \`%23\`.`,
  },
  PARLEY_SMTP_FROM: {
    label: msg`SMTP from`,
    help: () => t`Sender of email, such as \`Parley <parley@example.com>\`.`,
  },
  PARLEY_TRANSCRIPTION_URL: { label: msg`Transcription URL`, help: () => t`URL of a speech server.` },
  PARLEY_TRANSCRIPTION_MODEL: {
    label: msg`Transcription model`,
    help: () =>
      t`Model of the speech server, or the name of an installed model. Default: \`whisper-1\` with a server.`,
  },
  PARLEY_TRANSCRIPTION_API_KEY: {
    label: msg`Transcription API key`,
    help: () => t`API key of the speech server.`,
  },
  PARLEY_TRANSCRIPTION_LANGUAGE: {
    label: msg`Transcription language`,
    help: () => t`Language of the meetings, such as \`en\`; without it, the model detects it.`,
  },
  PARLEY_TRANSCRIPTION: {
    label: msg`Transcription engine`,
    help: () =>
      t`What transcribes recordings: \`local\`, \`server\` or \`off\`. Default: \`server\` if a URL is set, otherwise \`local\` once a model is installed.`,
  },
  PARLEY_MODEL_MIRROR: {
    label: msg`Model mirror`,
    help: () =>
      t`URL from which models are downloaded, as \`URL/NAME/FILE\`; a user and password in it are sent as basic authentication. Default: the models' publishers.`,
  },
  PARLEY_LLM_URL: {
    label: msg`LLM URL`,
    help: () => t`URL of a language model server for summaries, chapters, action items and questions.`,
  },
  PARLEY_LLM: {
    label: msg`LLM engine`,
    help: () =>
      t`What writes summaries: \`local\`, \`server\` or \`off\`. Default: \`server\` if a URL is set, otherwise \`local\` once a model is installed.`,
  },
  PARLEY_LLM_MODEL: {
    label: msg`LLM model`,
    help: () =>
      t`Model of the language model server, or the name of an installed model. Default: \`gpt-4.1-mini\` with a server.`,
  },
  PARLEY_LLM_GPU: {
    label: msg`GPU for the LLM`,
    help: () => t`\`auto\`: the built-in language model uses a GPU if its package is installed.`,
  },
  PARLEY_LLM_API_KEY: { label: msg`LLM API key`, help: () => t`API key of the language model server.` },
  PARLEY_LLM_CONTEXT_TOKENS: {
    label: msg`LLM context tokens`,
    help: () => t`Tokens of one request to a server, including the output.`,
  },
  PARLEY_LLM_MAX_TOKENS_PER_DAY: {
    label: msg`LLM tokens per day`,
    help: () => t`Tokens for each workspace and UTC day; a workspace may set a lower limit.`,
  },
  PARLEY_OIDC_ISSUER: {
    label: msg`OIDC issuer`,
    help: () => {
      const url = `${location.origin}/sign-in/callback`;
      return t`Issuer for single sign-on by OpenID Connect. The redirect URI is \`${url}\`.`;
    },
  },
  PARLEY_OIDC_CLIENT_ID: {
    label: msg`OIDC client ID`,
    help: () => t`ID with which Parley is registered there.`,
  },
  PARLEY_OIDC_CLIENT_SECRET: { label: msg`OIDC client secret`, help: () => t`Secret of that registration.` },
  PARLEY_OIDC_NAME: { label: msg`OIDC name`, help: () => t`Label of the button on the sign-in page.` },
  PARLEY_OIDC_TRUST_EMAIL: {
    label: msg`Trust emails from OIDC`,
    help: () =>
      t`Accept emails if the provider, such as Microsoft Entra ID, doesn't say whether they are verified. Only for an issuer of one organization, not \`common\`, \`organizations\` or \`consumers\`.`,
  },
  PARLEY_OIDC_PROVIDERS: {
    label: msg`Sign-in providers`,
    help: () => t`Providers of single sign-on as a JSON list, besides the one of \`PARLEY_OIDC_ISSUER\`.`,
  },
  PARLEY_OAUTH_REGISTRATION: {
    label: msg`Registration of apps`,
    help: () =>
      t`\`on\`: assistants and other apps can register themselves, and users can authorize them where their workspace allows it. \`off\`: only apps that an admin registered can be authorized. Access that users granted before remains until it is revoked.`,
  },
  PARLEY_BACKUP_TO: {
    label: msg`Backup destination`,
    help: () => t`Folder or \`s3://bucket/prefix\` for backups by schedule.`,
  },
  PARLEY_BACKUP_S3_ENDPOINT: {
    label: msg`Backup S3 endpoint`,
    help: () =>
      t`URL of the S3-compatible store of the backups, if it isn't the store of the files; for Amazon, the endpoint of the bucket's region, such as \`https://s3.eu-west-1.amazonaws.com\`. Default: \`PARLEY_S3_ENDPOINT\`, otherwise Amazon's.`,
  },
  PARLEY_BACKUP_S3_KEY: {
    label: msg`Backup S3 key`,
    help: () =>
      t`Access key ID and secret access key for the bucket of the backups, as \`ID:SECRET\`. Default: the usual AWS variables.`,
  },
  PARLEY_BACKUP_AT: { label: msg`Backup time`, help: () => t`Time of day, in the server's time zone.` },
  PARLEY_BACKUP_KEEP: {
    label: msg`Backups to keep`,
    help: () => t`How many daily, weekly and monthly backups to keep.`,
  },
  PARLEY_BACKUP_PASSPHRASE: {
    label: msg`Backup passphrase`,
    help: () =>
      t`Encrypts backups; at least 12 characters. Nobody can restore them without it: keep a copy outside of Parley.`,
  },
  PARLEY_MAX_DURATION: {
    label: msg`Maximum duration`,
    help: () =>
      t`Longest recording. \`parley workspace create --max-duration\` sets a workspace's own limit.`,
  },
  PARLEY_MAX_UPLOAD_BYTES: {
    label: msg`Maximum upload size in bytes`,
    help: () => t`Largest file, such as \`500MB\`.`,
  },
  PARLEY_STORAGE_PER_WORKSPACE: {
    label: msg`Storage per workspace`,
    help: () => t`Bytes that a workspace may store, such as \`500GB\` or \`1TiB\`.`,
  },
  PARLEY_RATE_LIMIT_PER_MINUTE: {
    label: msg`Rate limit per minute`,
    help: () =>
      t`Requests a minute for each token, shared by all processes. Requests without a token are counted by IP address before their body is read; successful token requests are not counted. Files of public links have a separate limit, ten times as high. \`0\` turns it off.`,
  },
  PARLEY_PROXY: {
    label: msg`Proxy`,
    help: () =>
      t`HTTP proxy for outgoing requests, such as \`http://proxy.example.com:3128\`. \`HTTPS_PROXY\` and \`HTTP_PROXY\` count before it, and hosts in \`NO_PROXY\` are reached directly.`,
  },
  PARLEY_HOOKS_ALLOW_ADDRESSES: {
    label: msg`Allowed private IP addresses`,
    help: () =>
      t`Private IP addresses to which webhooks and deliveries may be sent, and from which calendars may be read and banner images and the recordings of imports and connections downloaded, such as \`127.0.0.0/8,10.1.2.3\`.`,
  },
  PARLEY_AUDIT_TTL: {
    label: msg`Age of audit log entries`,
    help: () =>
      t`How long to keep entries of the audit log, and receipts of retention rules and personal-data erasures, at least a day; without it, indefinitely.`,
  },
  PARLEY_NEW_RECORDING_SHARE_STATE: {
    label: msg`Share state of new recordings`,
    help: () =>
      t`Access to new recordings: \`restricted\`, \`workspace\` or \`public\`. A workspace can override it with \`restricted\` or \`workspace\`.`,
  },
  PARLEY_WATCH_DIRS: {
    label: msg`Watched folders`,
    help: () =>
      t`Folders whose files become recordings, separated by commas: \`/folder\`, \`s3://bucket/prefix\`, or \`WORKSPACE_ID=\` before either.`,
  },
  PARLEY_TRUSTED_HOSTS: {
    label: msg`Trusted hosts`,
    help: () =>
      t`Additional host names and IP addresses, without ports, under which the server may be reached, such as \`parley.lan,192.168.1.20\`.`,
  },
  PARLEY_LOG_LEVEL: {
    label: msg`Log level`,
    help: () => t`\`trace\`, \`debug\`, \`info\`, \`warn\`, \`error\`, \`silent\`.`,
  },
  PARLEY_S3_DOWNLOADS: {
    label: msg`S3 downloads`,
    help: () =>
      t`Who sends whole files: \`server\`, so that a download ends with the user's access, or \`bucket\`, which takes the bandwidth off the API processes.`,
  },
  PARLEY_S3_NOTIFICATION_TOKEN: {
    label: msg`S3 notification token`,
    help: () => t`Token of the bucket's notifications; enables them.`,
  },
  PARLEY_VERSION_STATUS: {
    label: msg`Version status`,
    help: () =>
      t`Status of API versions, such as \`2025-10-31=sunsetting@2027-03-01\`: \`current\`, \`deprecated\`, \`sunsetting\` or \`retired\`. A sunsetting version is retired automatically on its date. In the 90 days before, its rate limit falls to a tenth; without a date it is halved.`,
  },
  PARLEY_COMPAT: {
    label: msg`Compatibility`,
    help: () =>
      t`\`hubspot\`: \`include.hubspot\` is accepted like \`include.crm\`, and both return \`hubspot\` (\`hubspot_company_ids\`, \`hubspot_deal_ids\`) and \`hs_contact_id\` beside \`crm\` and \`crm_contact_id\`. It is the default for new tokens, apps and authorizations of self-registered apps; each can have its own (\`compatibility\`, \`--compat\`).`,
  },
  PARLEY_DATETIME_FILTERS: {
    label: msg`Date filters`,
    help: () =>
      t`\`contract\`: \`before_datetime\` finds recordings that start after the value, \`after_datetime\` those that start at or before it, as the API contract says. \`by-name\`: \`before_datetime\` finds those that start before the value, \`after_datetime\` those that start at or after it. It is the default for new tokens, apps and authorizations of self-registered apps; each can have its own (\`datetime_filters\`), and the web app always follows the contract. Where two date filters exclude every recording, the response has a \`Warning\` header that says why, and the log has a line; an empty list with one date filter has the header too.`,
  },
};

/** The help of a setting; null for one that the app doesn't know. */
export function settingHelp(name: string): string | null {
  return textOf(name)?.help() ?? null;
}

/** The label of a setting; its variable's name for one that is only listed as changed. */
export function settingLabel(name: string): string {
  const label = textOf(name)?.label;
  return label === undefined ? name : t(label);
}

/** A text that names settings by their labels, as the server settings do; where a value is set, by their variables. */
export function withLabels(text: string): string {
  return text.replace(/PARLEY_[A-Z0-9_]+(?![A-Z0-9_=])/g, settingLabel);
}

function textOf(name: string): SettingText | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
