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

const labels = {
  PARLEY_SMTP_URL: msg`SMTP URL`,
  PARLEY_SMTP_FROM: msg`SMTP from`,
  PARLEY_TRANSCRIPTION_URL: msg`Transcription URL`,
  PARLEY_TRANSCRIPTION_MODEL: msg`Transcription model`,
  PARLEY_TRANSCRIPTION_API_KEY: msg`Transcription API key`,
  PARLEY_TRANSCRIPTION_LANGUAGE: msg`Transcription language`,
  PARLEY_TRANSCRIPTION: msg`Transcription engine`,
  PARLEY_MODEL_MIRROR: msg`Model mirror`,
  PARLEY_LLM_URL: msg`LLM URL`,
  PARLEY_LLM: msg`LLM engine`,
  PARLEY_LLM_MODEL: msg`LLM model`,
  PARLEY_LLM_GPU: msg`GPU for the LLM`,
  PARLEY_LLM_API_KEY: msg`LLM API key`,
  PARLEY_LLM_CONTEXT_TOKENS: msg`LLM context tokens`,
  PARLEY_LLM_MAX_TOKENS_PER_DAY: msg`LLM tokens per day`,
  PARLEY_OIDC_ISSUER: msg`OIDC issuer`,
  PARLEY_OIDC_CLIENT_ID: msg`OIDC client ID`,
  PARLEY_OIDC_CLIENT_SECRET: msg`OIDC client secret`,
  PARLEY_OIDC_NAME: msg`OIDC name`,
  PARLEY_OIDC_TRUST_EMAIL: msg`Trust emails from OIDC`,
  PARLEY_OIDC_PROVIDERS: msg`Sign-in providers`,
  PARLEY_OAUTH_REGISTRATION: msg`Registration of apps`,
  PARLEY_BACKUP_TO: msg`Backup destination`,
  PARLEY_BACKUP_S3_ENDPOINT: msg`Backup S3 endpoint`,
  PARLEY_BACKUP_S3_KEY: msg`Backup S3 key`,
  PARLEY_BACKUP_AT: msg`Backup time`,
  PARLEY_BACKUP_KEEP: msg`Backups to keep`,
  PARLEY_BACKUP_PASSPHRASE: msg`Backup passphrase`,
  PARLEY_MAX_DURATION: msg`Maximum duration`,
  PARLEY_MAX_UPLOAD_BYTES: msg`Maximum upload size in bytes`,
  PARLEY_STORAGE_PER_WORKSPACE: msg`Storage per workspace`,
  PARLEY_RATE_LIMIT_PER_MINUTE: msg`Rate limit per minute`,
  PARLEY_PROXY: msg`Proxy`,
  PARLEY_HOOKS_ALLOW_ADDRESSES: msg`Allowed private IP addresses`,
  PARLEY_AUDIT_TTL: msg`Age of audit log entries`,
  PARLEY_NEW_RECORDING_SHARE_STATE: msg`Share state of new recordings`,
  PARLEY_WATCH_DIRS: msg`Watched folders`,
  PARLEY_TRUSTED_HOSTS: msg`Trusted hosts`,
  PARLEY_LOG_LEVEL: msg`Log level`,
  PARLEY_S3_DOWNLOADS: msg`S3 downloads`,
  PARLEY_S3_NOTIFICATION_TOKEN: msg`S3 notification token`,
  PARLEY_VERSION_STATUS: msg`Version status`,
  PARLEY_COMPAT: msg`Compatibility`,
  PARLEY_DATETIME_FILTERS: msg`Date filters`,
} satisfies Readonly<Record<string, MessageDescriptor>>;
export type LabeledSetting = keyof typeof labels;

/** The label of a setting; its variable's name for one that is only listed as changed. */
export function settingLabel(name: string): string {
  return isLabeled(name) ? t(labels[name]) : name;
}

/** A text that names settings by their labels, as the server settings do; where a value is set, by their variables. */
export function withLabels(text: string): string {
  return text.replace(/PARLEY_[A-Z0-9_]+(?![A-Z0-9_=])/g, settingLabel);
}

function isLabeled(name: string): name is LabeledSetting {
  return Object.hasOwn(labels, name);
}
