import { fillSentence, type ValuesOf } from "../shared/fill-sentence.ts";
import { transcriptSentences } from "../shared/transcripts/sentences.ts";
import { calendarSentences } from "./failures/calendars.ts";
import { checkSentences } from "./failures/checks.ts";
import { deliverySentences } from "./failures/deliveries.ts";
import { importSentences } from "./failures/imports.ts";
import { networkSentences } from "./failures/network.ts";

/**
 * Sentences that responses have in English: about the installation, its models, and what failed. The web app reads them with the same
 * table, and shows its own text for each in the language of the reader.
 */
export const sentences = {
  database_responds: "PostgreSQL {version} responds in {ms} ms.",
  database_wrote: "PostgreSQL {version} wrote a transaction in {ms} ms.",
  database_read_only: "The database accepts no changes: its transactions are read-only.",
  database_read_only_remedy:
    "Connect to the primary server with PARLEY_DATABASE_URL, and check default_transaction_read_only.",
  database_remedy:
    "Check that PostgreSQL is running, accepts changes and has free disk space, and that PARLEY_DATABASE_URL is right.",
  folder_responds: "Files are stored in the folder {folder}, which responds.",
  bucket_responds: "Files are stored in the bucket {bucket}, which responds.",
  folder_written: "An object was written, read and deleted in the folder {folder}.",
  bucket_written: "An object was written, read and deleted in the bucket {bucket}.",
  store_lacks_remedy:
    "Use another store; docs/operations/storage.md lists those that were tried, and what others lack.",
  folder_remedy:
    "Check that the volume of PARLEY_DATA_DIR is mounted, has free space and inodes, and that Parley's system user may write to the folder.",
  bucket_remedy:
    "Check PARLEY_S3_BUCKET, PARLEY_S3_ENDPOINT and PARLEY_S3_REGION, the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and that they allow reading, writing and deleting.",
  one_worker: "One worker runs background jobs.",
  workers: "{count} workers run background jobs.",
  no_worker: "No worker is running, so uploads are not processed, and no webhooks and emails are sent.",
  no_worker_remedy:
    "Start a process with `parley serve` and PARLEY_ROLE=worker (or all). If one is running, read its log.",
  backups_off: "No backups are scheduled.",
  backups_off_remedy: "Set PARLEY_BACKUP_TO in Settings → Server settings to back up every day.",
  backups_none_yet: "There is no backup yet.",
  backups_ok: "The last backup is from {time} UTC.",
  backups_overdue: "The last backup is from {time} UTC: none has succeeded for two days.",
  backups_never: "There is no backup yet: none has succeeded for two days.",
  backups_remedy:
    "Read the error and the log of the workers, check that PARLEY_BACKUP_TO is reachable and has free space, and run `parley backup`.",
  backups_missing_remedy:
    "Run `parley files verify` and restore these files from an earlier backup or copy, or delete their recordings permanently. Then run `parley backup`.",
  checklist_mail: "Invitations and notices can't be sent; their links are shown to you instead.",
  checklist_backups: "No backups are scheduled yet. Choose a folder or a bucket for them.",
  checklist_backups_first:
    "Backups are scheduled. The first starts within a few minutes, and is verified afterwards.",
  checklist_backups_unverified: "No backup has been verified yet. The next scheduled one is.",
  checklist_speech:
    "New recordings aren't transcribed yet. Download a speech model, or connect a speech server.",
  checklist_language_model:
    "Optional: writes summaries, action items and titles. Download a model, or connect a server.",
  checklist_sign_in_off: "Optional: users sign in with a password. Connect a provider for single sign-on.",
  checklist_sign_in: "Users can sign in through {hosts}.",
  checklist_one_admin: "You are the only admin. A second one can help when you can't sign in.",
  checklist_admins: "{count} admins manage this server.",
  mail_off:
    "No mail server is set up: invitations and password resets are links that admins hand over. Set PARLEY_SMTP_URL and PARLEY_SMTP_FROM in Settings → Server settings to send them.",
  mail_ok: "Emails are sent through {host}. None is waiting after a failure.",
  mail_waiting_remedy: "Test the mail server. Emails are retried until their links expire.",
  mail_connected: "The mail server at {host} accepted a connection.",
  mail_sent: "The mail server at {host} accepted an email to {email}. Check that it arrives.",
  mail_password_remedy: "Check the user name and password in PARLEY_SMTP_URL.",
  mail_recipient_remedy:
    "It may accept other recipients only from users who sign in: check the user name and password in PARLEY_SMTP_URL.",
  mail_certificate_remedy:
    "Use the host name that its certificate is for in PARLEY_SMTP_URL, and a certificate of an authority that this server trusts; NODE_EXTRA_CA_CERTS can name a file with your own.",
  mail_starttls_remedy:
    "Use smtp:// instead of smtps:// in PARLEY_SMTP_URL: the connection is then encrypted by STARTTLS if the server offers it.",
  mail_port_remedy:
    "If this port expects TLS from the start (usually port 465), use smtps:// in PARLEY_SMTP_URL; otherwise check the port.",
  mail_remedy:
    "Check host and port in PARLEY_SMTP_URL, smtps:// for TLS from the start (usually port 465), and that no firewall blocks the connection.",
  speech_off:
    "No speech model is set up, so recordings uploaded without a transcript have none. Download a model in Settings → Transcription, run `parley models install`, or set PARLEY_TRANSCRIPTION_URL in Settings → Server settings.",
  language_model_off:
    "No language model is set up, so summaries, action items and sections stay empty. Download one in Settings → Language model, run `parley models install qwen3-4b`, or set PARLEY_LLM_URL in Settings → Server settings.",
  language_model_unknown:
    "The model that PARLEY_LLM_MODEL names is not installed. Install it, or change the setting in Settings → Server settings.",
  model_ok: "The model {model} is set up. No recording is waiting after a failure.",
  speech_retry_remedy: "Test the speech model, and then retry the failed jobs.",
  speech_wait_remedy: "Test the speech model. The recordings are retried when it works.",
  language_retry_remedy: "Test the language model, and then retry the failed jobs.",
  language_wait_remedy: "Test the language model. The recordings are retried when it works.",
  engine_busy: "A built-in engine is at work on this machine, so it was not tried.",
  engine_busy_language: "A built-in engine is at work on this machine, so the language model was not tried.",
  engine_heard_nothing:
    "The built-in engine transcribed a spoken sentence, but recognized no words in it; check its model and language if recordings stay empty too.",
  server_heard_nothing:
    "The model {model} transcribed a spoken sentence, but recognized no words in it; check its model and language if recordings stay empty too.",
  engine_heard: "The built-in engine transcribed a spoken sentence as “{text}”.",
  server_heard: "The model {model} transcribed a spoken sentence as “{text}”.",
  engine_busy_remedy: "It may be transcribing a recording: try again later.",
  engine_remedy: "Run `parley models verify`, and read the log.",
  language_busy_remedy: "Another engine may be at work: try again later. Otherwise install a smaller model.",
  built_in_responded: "The built-in model {model} responded.",
  model_responded: "The model {model} at {host} responded.",
  model_setting_remedy: "Correct the setting or the model server.",
  backup_test_off: "No backups are scheduled: set PARLEY_BACKUP_TO.",
  backup_written: "A file was written, read and deleted in {destination}.",
  backup_written_plain:
    "A file was written, read and deleted in {destination}. Backups there will not be encrypted: set PARLEY_BACKUP_PASSPHRASE if others can read them.",
  backup_relative:
    "Backups go to the folder {folder} of this server. For a bucket, enter s3://{destination}.",
  backup_bucket_remedy:
    "Check the bucket's name, PARLEY_BACKUP_S3_ENDPOINT and PARLEY_BACKUP_S3_KEY, and that the key may list, read, write and delete.",
  backup_folder_remedy: "Choose a folder that Parley's system user may write to, on a disk that is mounted.",
  sign_in_off:
    "No provider is set up: add one, or set PARLEY_OIDC_ISSUER, PARLEY_OIDC_CLIENT_ID and PARLEY_OIDC_CLIENT_SECRET.",
  sign_in_remedy:
    "Correct these settings or the client at the provider, and check that this server can reach it.",
  proxy_off: "Requests go out directly. Set PARLEY_PROXY if they can't.",
  proxy_ok: "{host} responded by the proxy {proxy}.",
  proxy_remedy:
    "Check host, port, user name and password of the proxy, and that it allows connections to that server.",
  run_none: "The language model has not processed this recording.",
  run_queued: "Queued for the language model.",
  run_running: "The language model is processing this recording.",
  run_summary: "Writing the summary.",
  run_part: "Reading the meeting.",
  run_condensed: "Shortening notes.",
  run_section: "Writing sections.",
  run_chapters: "Finding chapters.",
  run_percent: "{percent}% done.",
  run_section_failed: "The section “{title}” could not be generated.",
  run_chapters_failed: "The chapters could not be generated.",
  run_part_chapters_failed: "The chapters of part {part} of {parts} could not be generated.",
  run_unproven_point: "1 point without proof was left out.",
  run_unproven_points: "{count} points without proof were left out.",
  run_unproven_item: "1 action item without proof was left out.",
  run_unproven_items: "{count} action items without proof were left out.",
  run_unproven_assignee: "1 assignee without proof was left out.",
  run_unproven_assignees: "{count} assignees without proof were left out.",
  run_unproven_chapter: "1 chapter without proof was left out.",
  run_unproven_chapters: "{count} chapters without proof were left out.",
  run_summary_kept: "The new summary has no proven point, so the earlier summary was kept.",
  run_items_kept: "No new action item is proven, so the earlier ones were kept.",
  run_section_kept: "The section “{title}” has no proven entry, so the earlier one was kept.",
  run_chapters_kept: "No new chapter is proven, so the earlier ones were kept.",
  run_points_beyond: "{count} points of the summary beyond the limit of {limit} were left out.",
  run_notes_beyond:
    "{count} notes about the meeting were left out because there were too many for one request.",
  run_section_beyond: "{count} entries of the section “{title}” beyond the limit of {limit} were left out.",
  run_columns_beyond: "{count} columns of the section “{title}” beyond the limit of {limit} were left out.",
  run_items_beyond: "{count} action items beyond the limit of {limit} were left out.",
  run_switched_off:
    "The language model is switched off for this workspace. The run continues once it is switched on.",
  run_stopped: "An admin stopped the run.",
  transcription_stopped: "An admin stopped the transcription.",
  waits_for_speech: "Waiting for the speech engine, which is at work on this machine.",
  waits_for_language: "Waiting for the language engine, which is at work on this machine.",
  waits_for_other: "Waiting for the other engine, which is at work on this machine.",
  ask_stopped: "The answer was stopped.",
  ask_interrupted: "The answer was interrupted.",
  ask_thread_deleted: "The thread was deleted.",
  ask_access_lost: "You no longer have access to a recording that this answer reads. Ask again.",
  ask_tokens_spent: "The workspace's tokens for today are used up. Ask again after {time}.",
  ask_switched_off: "The language model is switched off for this workspace.",
  ask_failed: "Something went wrong on the server. Ask again.",
  ...networkSentences,
  ...deliverySentences,
  ...calendarSentences,
  ...importSentences,
  ...checkSentences,
  ...transcriptSentences,
} as const;

export type SentenceCode = keyof typeof sentences;

/** What a sentence names. */
export type SentenceValues<Code extends SentenceCode> = ValuesOf<(typeof sentences)[Code]>;

/** A sentence with its values. */
export function sentenceOf<Code extends SentenceCode>(
  code: Code,
  values: ValuesOf<(typeof sentences)[Code], string | number>,
): string {
  return fillSentence<string>(sentences[code], values);
}

/** A sentence that was recognized. */
export interface ReadSentence {
  readonly code: SentenceCode;
  readonly values: Readonly<Record<string, string>>;
}

/** Whether there is a value for each name of a sentence. */
export function hasValues<Code extends SentenceCode>(
  code: Code,
  values: ReadSentence["values"],
): values is ReadSentence["values"] & SentenceValues<Code> {
  return [...sentences[code].matchAll(/\{(\w+)\}/g)].every(([, name = ""]) => Object.hasOwn(values, name));
}

const codes = Object.keys(sentences) as SentenceCode[];
const codeOf: ReadonlyMap<string, SentenceCode> = new Map(codes.map((code) => [sentences[code], code]));
/** With values, each split into texts and names: `["The model ", "model", " responded."]`. */
const patterns = codes.flatMap((code) => {
  const parts = sentences[code].split(/[{}]/);
  return parts.length === 1 ? [] : [{ code, parts }];
});

/** Longer texts are not of the table, but may be another server's: reading all of one takes time that grows with its square. */
const maxLength = 1000;

/** Recognizes a sentence of the table; null: it is none of them. */
export function readSentence(text: string): ReadSentence | null {
  if (text.length > maxLength) return null;
  const code = codeOf.get(text);
  if (code !== undefined) return { code, values: {} };
  const found = patterns.flatMap(({ code: each, parts }) => {
    const values = readValues(text, parts);
    return values === null ? [] : [{ code: each, values, fixed: fixedLength(parts) }];
  });
  // The sentence that leaves the least to values: `…, which responds.` before `….`.
  const [best] = found.sort((one, other) => other.fixed - one.fixed);
  return best === undefined ? null : { code: best.code, values: best.values };
}

/** Values that are numbers. What has other words in their places is another text. */
export const numberNames: ReadonlySet<string> = new Set(
  "number count limit limited bytes size free needed seconds hours values keys more ms percent part parts".split(
    " ",
  ),
);

const fixedLength = (parts: readonly string[]): number =>
  parts.reduce((sum, part, index) => (index % 2 === 0 ? sum + part.length : sum), 0);

function readValues(text: string, parts: readonly string[]): Record<string, string> | null {
  const [head = ""] = parts;
  if (!text.startsWith(head)) return null;
  const values: Record<string, string> = {};
  let at = head.length;
  for (let index = 1; index < parts.length; index += 2) {
    const [name = "", after = ""] = parts.slice(index, index + 2);
    const isLast = index + 2 >= parts.length;
    const end = isLast ? text.length - after.length : text.indexOf(after, at);
    if (end <= at || !text.startsWith(after, end)) return null;
    const value = text.slice(at, end);
    if (name === "host" && /\s/.test(value)) return null;
    if (numberNames.has(name) && !/^\d+(?:\.\d+)?$/.test(value)) return null;
    values[name] = value;
    at = end + after.length;
  }
  return values;
}

/** Divides a text that begins or ends with a sentence of the table, such as a remedy after a reason. */
export function splitSentence(text: string): readonly [before: string, after: string] | null {
  if (text.length > maxLength) return null;
  for (const known of codeOf.keys()) {
    if (text.endsWith(` ${known}`)) return [text.slice(0, -known.length - 1), known];
    if (text.startsWith(`${known} `)) return [known, text.slice(known.length + 1)];
  }
  // Sentences with values; what libraries report is in parentheses after the words of the table.
  for (const { index } of text.matchAll(/ (?=\(|[A-Z0-9])/g)) {
    const [before, after] = [text.slice(0, index), text.slice(index + 1)];
    const isDetail = after.startsWith("(") && /\)\.?$/.test(after);
    if ((isDetail || before.endsWith(".")) && (readAnyCase(before) ?? readAnyCase(after)) !== null)
      return [before, after];
  }
  return null;
}

/** Recognizes a sentence of the table, also where it was given a capital and a period. */
export function readAnyCase(text: string): ReadSentence | null {
  const plain = `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  return readSentence(text) ?? readSentence(plain) ?? readSentence(plain.replace(/\.$/, ""));
}
