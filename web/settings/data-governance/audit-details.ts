import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { textOf } from "../../causes/sentences.ts";
import { namesInLine } from "../../common/format/names.ts";
import { inWords } from "./audit-names.ts";

/** Names of what entries say about an action. Others, such as those of older versions, are shown as they are. */
const names: Readonly<Record<string, MessageDescriptor>> = {
  added: msg({ context: "audit log", message: "Added" }),
  after: msg({ context: "audit log", message: "After" }),
  allow_download: msg`Download allowed`,
  allowed_addresses: msg`Allowed IP addresses`,
  base_url: msg`Base URL`,
  before: msg({ context: "audit log", message: "Before" }),
  break_glass_user_id: msg`Break-glass admin`,
  by: msg({ context: "audit log", message: "By" }),
  change_id: msg`Change ID`,
  changed: msg({ context: "audit log", message: "Changed" }),
  consent: msg`Consent`,
  count: msg`Number`,
  created_with: msg`Created with`,
  disabled_hooks: msg`Disabled webhooks`,
  domain: msg`Domain`,
  dry_run: msg`Dry run`,
  email: msg`Email`,
  email_domains: msg`Email domains`,
  ended_sessions: msg`Ended sessions`,
  event: msg`Event`,
  expires_at: msg({ context: "audit log", message: "Expires" }),
  expires_datetime: msg({ context: "audit log", message: "Expires" }),
  external_id: msg`External ID`,
  family_id: msg`Token family ID`,
  family_name: msg`Family name`,
  files: msg`Files`,
  folder: msg`Folder`,
  former_email: msg`Former email`,
  format: msg`Format`,
  from: msg({ context: "audit log", message: "From" }),
  given_name: msg`Given name`,
  grace_days: msg`Days of grace`,
  grant_id: msg`Authorization ID`,
  has_password: msg`Has a password`,
  hash: msg`Hash`,
  hook_type: msg`Webhook event`,
  hooks: msg`Webhooks`,
  host: msg`Host`,
  include_summary: msg`Summary included`,
  is_room: msg`Room calendar`,
  issuer: msg`Issuer`,
  issuers: msg`Issuers`,
  kind: msg({ context: "audit log", message: "Kind" }),
  language: msg`Language`,
  legacy: msg`Legacy app`,
  link_id: msg`Link ID`,
  media_hosts: msg`Hosts of media files`,
  members: msg`Members`,
  method: msg({ context: "audit log", message: "Method" }),
  model: msg`Model`,
  name: msg`Name`,
  names: msg`Names`,
  new_recording_share_state: msg`Access to new recordings`,
  origin: msg({ context: "audit log", message: "Origin" }),
  overlap_sec: msg`Seconds of overlap`,
  passkeys: msg`Passkeys`,
  position: msg({ context: "audit log", message: "Position" }),
  public: msg`Public client`,
  reason: msg`Reason`,
  recorder_ids: msg`IDs of owners`,
  recording_consent: msg`Notice before recording`,
  recording_id: msg`Recording ID`,
  recordings: msg`Recordings`,
  refused_by: msg`Refused by`,
  removed: msg({ context: "audit log", message: "Removed" }),
  reused: msg({ context: "audit log", message: "Reused" }),
  revoked_tokens: msg`Revoked tokens`,
  role: msg`Role`,
  scope: msg({ context: "audit log", message: "Scope" }),
  second_factor: msg`Second factor`,
  self_registered: msg`Registered itself`,
  self_registered_apps: msg`Apps that register themselves`,
  session: msg`Session ID`,
  session_idle_minutes: msg`Minutes until idle sessions end`,
  session_max_hours: msg`Maximum hours of a session`,
  sessions: msg`Ended sessions`,
  single_sign_on_only: msg`Single sign-on only`,
  source: msg({ context: "audit log", message: "Source" }),
  spoken_language: msg`Spoken language`,
  subject: msg`Account at the provider`,
  taken_over: msg`Taken over`,
  team_id: msg`Team ID`,
  to: msg({ context: "audit log", message: "To" }),
  token_max_days: msg`Maximum days of a token`,
  tokens: msg`Revoked tokens`,
  type: msg({ context: "audit log", message: "Type" }),
  undo_of: msg`Undo of change`,
  upload_id: msg`Upload ID`,
  uploads: msg`Uploads`,
  user: msg`User`,
  user_id: msg`User ID`,
  voice_profiles: msg`Voice profiles`,
};

/** Values that are words. Others, such as names and IDs, are shown as they are. */
const values: Readonly<Record<string, MessageDescriptor>> = {
  admin: msg({ context: "value in the audit log", message: "admin" }),
  anonymise: msg({ context: "value in the audit log", message: "anonymized" }),
  client: msg({ context: "value in the audit log", message: "the app" }),
  code: msg({ context: "value in the audit log", message: "authorization code" }),
  delete: msg({ context: "value in the audit log", message: "deleted" }),
  email_domain_claimed: msg({ context: "value in the audit log", message: "email domain claimed" }),
  invitation: msg({ context: "value in the audit log", message: "invitation" }),
  link: msg({ context: "value in the audit log", message: "link" }),
  mail: msg({ context: "value in the audit log", message: "email" }),
  member: msg({ context: "value in the audit log", message: "member" }),
  operator: msg({ context: "value in the audit log", message: "operator of the server" }),
  passkey: msg({ context: "value in the audit log", message: "passkey" }),
  password: msg({ context: "value in the audit log", message: "password" }),
  password_reset: msg({ context: "value in the audit log", message: "password reset" }),
  personal: msg({ context: "value in the audit log", message: "personal" }),
  private: msg({ context: "value in the audit log", message: "private" }),
  provider: msg({ context: "value in the audit log", message: "the provider" }),
  public: msg({ context: "value in the audit log", message: "public" }),
  recovery_code: msg({ context: "value in the audit log", message: "recovery code" }),
  refresh_token: msg({ context: "value in the audit log", message: "refresh token" }),
  second_factor: msg({ context: "value in the audit log", message: "second factor" }),
  single_sign_on: msg({ context: "value in the audit log", message: "single sign-on" }),
  totp: msg({ context: "value in the audit log", message: "code of an authenticator app" }),
  viewer: msg({ context: "value in the audit log", message: "viewer" }),
  workspace: msg({ context: "value in the audit log", message: "workspace" }),
};

/** What an entry says about its action: `Role: member · Revoked tokens: 3`. */
export function detailsInWords(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details).map(pairInWords).join(" · ");
}

function pairInWords([key, value]: [string, unknown]): string {
  const known = Object.hasOwn(names, key) ? names[key] : undefined;
  const name = known === undefined ? inWords(key) : i18n._(known);
  const shown = shownOf(key, value);
  return t`${name}: ${shown}`;
}

function shownOf(key: string, value: unknown): string {
  if (typeof value !== "string" || value === "") return valueInWords(value);
  // A name is a name, also where it is one of the words.
  if (isFree.test(key)) return value;
  return key === "reason" ? textOf(wordsOf(value)) : wordsOf(value);
}

/** What users write, and other programs. */
const isFree = /(?:^|_)(?:name|email|id|domain|host|folder|issuer|subject|model)$/;

/** Formats a value without JSON: lists with commas, objects as `name: value`, changes as `before → after`. */
function valueInWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return t`none`;
  if (typeof value === "boolean") return value ? t`yes` : t`no`;
  if (Array.isArray(value))
    return value.length === 0 ? t`none` : namesInLine(value.map(valueInWords), value.length);
  if (typeof value === "string") return wordsOf(value);
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value);
  const [first, second] = entries;
  if (entries.length === 2 && first?.[0] === "from" && second?.[0] === "to")
    return `${valueInWords(first[1])} → ${valueInWords(second[1])}`;
  const parts = entries.map(pairInWords);
  return parts.length === 0 ? t`none` : namesInLine(parts, parts.length);
}

function wordsOf(value: string): string {
  const known = Object.hasOwn(values, value) ? values[value] : undefined;
  return known === undefined ? value : i18n._(known);
}
