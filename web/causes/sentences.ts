import { plural, t } from "@lingui/core/macro";
import {
  hasValues,
  type ReadSentence,
  readAnyCase,
  type SentenceCode,
  type SentenceValues,
  splitSentence,
} from "../../contract/sentences.ts";
import { calendarTexts } from "./failures/calendars.ts";
import { checkTexts } from "./failures/checks.ts";
import { deliveryTexts } from "./failures/deliveries.ts";
import { importTexts } from "./failures/imports.ts";
import { networkTexts } from "./failures/network.ts";
import { transcriptTexts } from "./failures/transcripts.ts";
import { whenText } from "./values.ts";

/** The app's text for each sentence of the server. Code is in backticks. */
const texts: { readonly [Code in SentenceCode]: (values: SentenceValues<Code>) => string } = {
  database_responds: ({ version, ms }) => t`PostgreSQL ${version} responds in ${ms} ms.`,
  database_wrote: ({ version, ms }) => t`PostgreSQL ${version} wrote a transaction in ${ms} ms.`,
  database_read_only: () => t`The database accepts no changes: its transactions are read-only.`,
  database_read_only_remedy: () =>
    t`Connect to the primary server with PARLEY_DATABASE_URL, and check default_transaction_read_only.`,
  database_remedy: () =>
    t`Check that PostgreSQL is running, accepts changes and has free disk space, and that PARLEY_DATABASE_URL is right.`,
  folder_responds: ({ folder }) => t`Files are stored in the folder ${folder}, which responds.`,
  bucket_responds: ({ bucket }) => t`Files are stored in the bucket ${bucket}, which responds.`,
  folder_written: ({ folder }) => t`An object was written, read and deleted in the folder ${folder}.`,
  bucket_written: ({ bucket }) => t`An object was written, read and deleted in the bucket ${bucket}.`,
  store_lacks_remedy: () =>
    t`Use another store; docs/operations/storage.md lists those that were tried, and what others lack.`,
  folder_remedy: () =>
    t`Check that the volume of PARLEY_DATA_DIR is mounted, has free space and inodes, and that Parley's system user may write to the folder.`,
  bucket_remedy: () =>
    t`Check PARLEY_S3_BUCKET, PARLEY_S3_ENDPOINT and PARLEY_S3_REGION, the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and that they allow reading, writing and deleting.`,
  checklist_mail: () => t`Invitations and notices can't be sent; their links are shown to you instead.`,
  checklist_backups: () => t`No backups are scheduled yet. Choose a folder or a bucket for them.`,
  checklist_backups_first: () =>
    t`Backups are scheduled. The first starts within a few minutes, and is verified afterwards.`,
  checklist_backups_unverified: () => t`No backup has been verified yet. The next scheduled one is.`,
  checklist_speech: () =>
    t`New recordings aren't transcribed yet. Download a speech model, or connect a speech server.`,
  checklist_language_model: () =>
    t`Optional: writes summaries, action items and titles. Download a model, or connect a server.`,
  checklist_sign_in_off: () =>
    t`Optional: users sign in with a password. Connect a provider for single sign-on.`,
  checklist_sign_in: ({ hosts }) => t`Users can sign in through ${hosts}.`,
  checklist_one_admin: () => t`You are the only admin. A second one can help when you can't sign in.`,
  checklist_admins: ({ count }) =>
    plural(Number(count), { one: "# admin manages this server.", other: "# admins manage this server." }),
  one_worker: () => t`One worker runs background jobs.`,
  workers: ({ count }) =>
    plural(Number(count), {
      one: "One worker runs background jobs.",
      other: "# workers run background jobs.",
    }),
  no_worker: () =>
    t`No worker is running, so uploads are not processed, and no webhooks and emails are sent.`,
  no_worker_remedy: () =>
    t`Start a process with \`parley serve\` and PARLEY_ROLE=worker (or all). If one is running, read its log.`,
  backups_off: () => t`No backups are scheduled.`,
  backups_off_remedy: () => t`Set PARLEY_BACKUP_TO in Settings → Server settings to back up every day.`,
  backups_none_yet: () => t`There is no backup yet.`,
  backups_ok: (values) => {
    const time = whenText(`${values.time.replace(" ", "T")}Z`);
    return t`The last backup is from ${time}.`;
  },
  backups_overdue: (values) => {
    const time = whenText(`${values.time.replace(" ", "T")}Z`);
    return t`The last backup is from ${time}: none has succeeded for two days.`;
  },
  backups_never: () => t`There is no backup yet: none has succeeded for two days.`,
  backups_remedy: () =>
    t`Read the error and the log of the workers, check that PARLEY_BACKUP_TO is reachable and has free space, and run \`parley backup\`.`,
  backups_missing_remedy: () =>
    t`Run \`parley files verify\` and restore these files from an earlier backup or copy, or delete their recordings permanently. Then run \`parley backup\`.`,
  mail_off: () =>
    t`No mail server is set up: invitations and password resets are links that admins hand over. Set PARLEY_SMTP_URL and PARLEY_SMTP_FROM in Settings → Server settings to send them.`,
  mail_ok: ({ host }) => t`Emails are sent through ${host}. None is waiting after a failure.`,
  mail_waiting_remedy: () => t`Test the mail server. Emails are retried until their links expire.`,
  mail_connected: ({ host }) => t`The mail server at ${host} accepted a connection.`,
  mail_sent: ({ host, email }) =>
    t`The mail server at ${host} accepted an email to ${email}. Check that it arrives.`,
  mail_password_remedy: () => t`Check the user name and password in PARLEY_SMTP_URL.`,
  mail_recipient_remedy: () =>
    t`It may accept other recipients only from users who sign in: check the user name and password in PARLEY_SMTP_URL.`,
  mail_certificate_remedy: () =>
    t`Use the host name that its certificate is for in PARLEY_SMTP_URL, and a certificate of an authority that this server trusts; NODE_EXTRA_CA_CERTS can name a file with your own.`,
  mail_starttls_remedy: () =>
    t`Use smtp:// instead of smtps:// in PARLEY_SMTP_URL: the connection is then encrypted by STARTTLS if the server offers it.`,
  mail_port_remedy: () =>
    t`If this port expects TLS from the start (usually port 465), use smtps:// in PARLEY_SMTP_URL; otherwise check the port.`,
  mail_remedy: () =>
    t`Check host and port in PARLEY_SMTP_URL, smtps:// for TLS from the start (usually port 465), and that no firewall blocks the connection.`,
  speech_off: () =>
    t`No speech model is set up, so recordings uploaded without a transcript have none. Download a model in Settings → Transcription, run \`parley models install\`, or set PARLEY_TRANSCRIPTION_URL in Settings → Server settings.`,
  language_model_off: () =>
    t`No language model is set up, so summaries, action items and sections stay empty. Download one in Settings → Language model, run \`parley models install qwen3-4b\`, or set PARLEY_LLM_URL in Settings → Server settings.`,
  language_model_unknown: () =>
    t`The model that PARLEY_LLM_MODEL names is not installed. Install it, or change the setting in Settings → Server settings.`,
  model_ok: ({ model }) => t`The model ${model} is set up. No recording is waiting after a failure.`,
  speech_retry_remedy: () => t`Test the speech model, and then retry the failed jobs.`,
  speech_wait_remedy: () => t`Test the speech model. The recordings are retried when it works.`,
  language_retry_remedy: () => t`Test the language model, and then retry the failed jobs.`,
  language_wait_remedy: () => t`Test the language model. The recordings are retried when it works.`,
  engine_busy: () => t`A built-in engine is at work on this machine, so it was not tried.`,
  engine_busy_language: () =>
    t`A built-in engine is at work on this machine, so the language model was not tried.`,
  engine_heard_nothing: () =>
    t`The built-in engine transcribed a spoken sentence, but recognized no words in it; check its model and language if recordings stay empty too.`,
  server_heard_nothing: ({ model }) =>
    t`The model ${model} transcribed a spoken sentence, but recognized no words in it; check its model and language if recordings stay empty too.`,
  engine_heard: ({ text }) => t`The built-in engine transcribed a spoken sentence as “${text}”.`,
  server_heard: ({ model, text }) => t`The model ${model} transcribed a spoken sentence as “${text}”.`,
  engine_busy_remedy: () => t`It may be transcribing a recording: try again later.`,
  engine_remedy: () => t`Run \`parley models verify\`, and read the log.`,
  language_busy_remedy: () =>
    t`Another engine may be at work: try again later. Otherwise install a smaller model.`,
  built_in_responded: ({ model }) => t`The built-in model ${model} responded.`,
  model_responded: ({ model, host }) => t`The model ${model} at ${host} responded.`,
  model_setting_remedy: () => t`Correct the setting or the model server.`,
  backup_test_off: () => t`No backups are scheduled: set PARLEY_BACKUP_TO.`,
  backup_written: ({ destination }) => t`A file was written, read and deleted in ${destination}.`,
  backup_written_plain: ({ destination }) =>
    t`A file was written, read and deleted in ${destination}. Backups there will not be encrypted: set PARLEY_BACKUP_PASSPHRASE if others can read them.`,
  backup_relative: ({ folder, destination }) =>
    t`Backups go to the folder ${folder} of this server. For a bucket, enter s3://${destination}.`,
  backup_bucket_remedy: () =>
    t`Check the bucket's name, PARLEY_BACKUP_S3_ENDPOINT and PARLEY_BACKUP_S3_KEY, and that the key may list, read, write and delete.`,
  backup_folder_remedy: () =>
    t`Choose a folder that Parley's system user may write to, on a disk that is mounted.`,
  sign_in_off: () =>
    t`No provider is set up: add one, or set PARLEY_OIDC_ISSUER, PARLEY_OIDC_CLIENT_ID and PARLEY_OIDC_CLIENT_SECRET.`,
  sign_in_remedy: () =>
    t`Correct these settings or the client at the provider, and check that this server can reach it.`,
  proxy_off: () => t`Requests go out directly. Set PARLEY_PROXY if they can't.`,
  proxy_ok: ({ host, proxy }) => t`${host} responded by the proxy ${proxy}.`,
  proxy_remedy: () =>
    t`Check host, port, user name and password of the proxy, and that it allows connections to that server.`,
  run_none: () => t`The language model has not processed this recording.`,
  run_queued: () => t`Queued for the language model.`,
  run_running: () => t`The language model is processing this recording.`,
  run_summary: () => t`Writing the summary.`,
  run_part: () => t`Reading the meeting.`,
  run_condensed: () => t`Shortening notes.`,
  run_section: () => t`Writing sections.`,
  run_chapters: () => t`Finding chapters.`,
  run_percent: ({ percent }) => t`${percent}% done.`,
  run_section_failed: ({ title }) => t`The section “${title}” could not be generated.`,
  run_chapters_failed: () => t`The chapters could not be generated.`,
  run_part_chapters_failed: ({ part, parts }) =>
    t`The chapters of part ${part} of ${parts} could not be generated.`,
  run_unproven_point: () =>
    plural(1, {
      one: "# point without proof was left out.",
      other: "# points without proof were left out.",
    }),
  run_unproven_points: ({ count }) =>
    plural(Number(count), {
      one: "# point without proof was left out.",
      other: "# points without proof were left out.",
    }),
  run_unproven_item: () =>
    plural(1, {
      one: "# action item without proof was left out.",
      other: "# action items without proof were left out.",
    }),
  run_unproven_items: ({ count }) =>
    plural(Number(count), {
      one: "# action item without proof was left out.",
      other: "# action items without proof were left out.",
    }),
  run_unproven_assignee: () =>
    plural(1, {
      one: "# assignee without proof was left out.",
      other: "# assignees without proof were left out.",
    }),
  run_unproven_assignees: ({ count }) =>
    plural(Number(count), {
      one: "# assignee without proof was left out.",
      other: "# assignees without proof were left out.",
    }),
  run_unproven_chapter: () =>
    plural(1, {
      one: "# chapter without proof was left out.",
      other: "# chapters without proof were left out.",
    }),
  run_unproven_chapters: ({ count }) =>
    plural(Number(count), {
      one: "# chapter without proof was left out.",
      other: "# chapters without proof were left out.",
    }),
  run_summary_kept: () => t`The new summary has no proven point, so the earlier summary was kept.`,
  run_items_kept: () => t`No new action item is proven, so the earlier ones were kept.`,
  run_section_kept: ({ title }) =>
    t`The section “${title}” has no proven entry, so the earlier one was kept.`,
  run_chapters_kept: () => t`No new chapter is proven, so the earlier ones were kept.`,
  run_points_beyond: ({ count, limit }) =>
    plural(Number(count), {
      one: `# point of the summary beyond the limit of ${limit} was left out.`,
      other: `# points of the summary beyond the limit of ${limit} were left out.`,
    }),
  run_notes_beyond: ({ count }) =>
    plural(Number(count), {
      one: "# note about the meeting was left out because there were too many for one request.",
      other: "# notes about the meeting were left out because there were too many for one request.",
    }),
  run_section_beyond: ({ count, title, limit }) =>
    plural(Number(count), {
      one: `# entry of the section “${title}” beyond the limit of ${limit} was left out.`,
      other: `# entries of the section “${title}” beyond the limit of ${limit} were left out.`,
    }),
  run_columns_beyond: ({ count, title, limit }) =>
    plural(Number(count), {
      one: `# column of the section “${title}” beyond the limit of ${limit} was left out.`,
      other: `# columns of the section “${title}” beyond the limit of ${limit} were left out.`,
    }),
  run_items_beyond: ({ count, limit }) =>
    plural(Number(count), {
      one: `# action item beyond the limit of ${limit} was left out.`,
      other: `# action items beyond the limit of ${limit} were left out.`,
    }),
  run_switched_off: () =>
    t`The language model is switched off for this workspace. The run continues once it is switched on.`,
  run_stopped: () => t`An admin stopped the run.`,
  transcription_stopped: () => t`An admin stopped the transcription.`,
  waits_for_speech: () => t`Waiting for the speech engine, which is at work on this machine.`,
  waits_for_language: () => t`Waiting for the language engine, which is at work on this machine.`,
  waits_for_other: () => t`Waiting for the other engine, which is at work on this machine.`,
  ask_stopped: () => t`The answer was stopped.`,
  ask_interrupted: () => t`The answer was interrupted.`,
  ask_thread_deleted: () => t`The thread was deleted.`,
  ask_access_lost: () => t`You no longer have access to a recording that this answer reads. Ask again.`,
  ask_tokens_spent: (values) => {
    const time = whenText(values.time);
    return t`The workspace's tokens for today are used up. Ask again after ${time}.`;
  },
  ask_switched_off: () => t`The language model is switched off for this workspace.`,
  ask_failed: () => t`Something went wrong on the server. Ask again.`,
  ...networkTexts,
  ...deliveryTexts,
  ...calendarTexts,
  ...importTexts,
  ...checkTexts,
  ...transcriptTexts,
};

/** The app's text for a sentence of the server. */
function sentenceText({ code, values }: ReadSentence): string {
  if (!hasValues(code, values)) throw new RangeError(`${code} was read without its values`);
  return texts[code](values);
}

/** Stands for a value that is a text itself, until that is shown. */
const placeholder = "\uFFFC";

/**
 * The app's text for a sentence of the server, around the reason that it quotes; null: the server's table has no such sentence.
 * The reason is a sentence as well, or the words of another program.
 */
export function partsOf(
  text: string,
): { readonly before: string; readonly reason: string | null; readonly after: string } | null {
  const read = readAnyCase(text);
  if (read === null) return ofFile(text);
  const { reason, reasons } = read.values;
  if (reasons !== undefined) {
    const values = { ...read.values, reasons: reasons.split(nextReason).map(textOf).join("; ") };
    return { before: sentenceText({ ...read, values }), reason: null, after: "" };
  }
  if (reason === undefined) return { before: sentenceText(read), reason: null, after: "" };
  const [before = "", after = ""] = sentenceText({
    ...read,
    values: { ...read.values, reason: placeholder },
  }).split(placeholder);
  return { before, reason, after };
}

/** Between the reasons of a list, which may have semicolons. */
const nextReason = /; (?=line \d|entry \d|“)/;

/** A sentence about a file, after its name. */
function ofFile(text: string): ReturnType<typeof partsOf> {
  const [, name = "", reason] = /^([^:]{1,255}\.\w{2,5}): (.+)$/s.exec(text) ?? [];
  const known = reason === undefined ? null : plainText(reason);
  return known === null ? null : { before: t`${name}: ${known}`, reason: null, after: "" };
}

/** The app's text for sentences of the server; the server's where the table does not have them all. */
export function textOf(text: string): string {
  return plainText(text) ?? text;
}

/** The app's text for sentences of the server, where no element can be shown; null: the table does not have them all. */
export function plainText(text: string): string | null {
  const parts = partsOf(text);
  if (parts === null) {
    const texts = splitSentence(text)?.map(plainText) ?? [null];
    return texts.includes(null) ? null : texts.join(" ");
  }
  const { before, reason, after } = parts;
  return reason === null ? before : `${before}${plainText(reason) ?? reason}${after}`;
}
