import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { sql } from "kysely";
import type { SendMailOptions, Transporter } from "nodemailer";
import { z } from "zod";
import { foldCase } from "../../../../shared/fold-case.ts";
import type { SmtpSettings } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import type { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type MailKind, takeMail } from "./mail-limits.ts";

/** An email to one recipient. */
export interface Mail
  extends Pick<OutgoingMail, "to" | "subject" | "text" | "html" | "messageId" | "language"> {
  /** When its link expires, in ms since 1970; the email is not sent after that. */
  readonly expiresAtMs: number;
  /**
   * The recording whose content it has: it is sent only if the recipient can see the recording at that moment, and never twice,
   * also after kill -9.
   */
  readonly recordingId?: string;
}

const EncryptedMail = z.object({
  encryptedFor: z.literal("mail"),
  mail: z.object({
    to: z.string(),
    subject: z.string(),
    text: z.string(),
    html: z.string().exactOptional(),
    messageId: z.string().exactOptional(),
    language: z.string().exactOptional(),
    expiresAtMs: z.number(),
    recordingId: z.uuid().exactOptional(),
  }),
});

/** Longer than a slow mail server needs, shorter than a user waits. */
const timeoutMs = 20_000;

/** How long until the server accepts the connection and greets, so that its silence is known from a slow delivery. */
const greetingMs = 15_000;

/**
 * Queues an email in the transaction. It is encrypted because it may contain a link that signs the user in.
 * @param of what the email counts as; `workspaceId` null: the installation itself sends it.
 * @returns null, or the error to refuse the request with, if too many such emails were sent today; then it is not queued.
 */
export async function enqueueMail(
  tx: Tx,
  deps: { readonly jobs: JobQueue; readonly encryptor: Encryptor },
  mail: Mail,
  of: { readonly kind: MailKind; readonly workspaceId: string | null },
): Promise<ProblemError | null> {
  const refused = await takeMail(tx, { ...of, to: mail.to });
  if (refused !== null) return refused;
  const encrypted = deps.encryptor.encrypt(JSON.stringify({ encryptedFor: "mail", mail }));
  const id = randomUUID();
  const data = { encrypted: encrypted.toString("base64"), id, queuedAtMs: Date.now() };
  await deps.jobs.enqueue(tx, "send_mail", data, id);
  return null;
}

/**
 * Whether a queued email is to this email address or contains it; false when it can't be decrypted, as after a change of
 * PARLEY_SECRET.
 */
export function isMailAbout(encryptor: Encryptor, encrypted: string, email: string): boolean {
  try {
    const { mail } = EncryptedMail.parse(JSON.parse(encryptor.decrypt(Buffer.from(encrypted, "base64"))));
    const wanted = foldCase(email);
    return foldCase(mail.to) === wanted || containsEmail(foldCase(mail.text), wanted);
  } catch {
    return false;
  }
}

/** Whether a text contains an email, and not only a longer one that the email is part of. */
function containsEmail(text: string, email: string): boolean {
  for (let at = text.indexOf(email); at !== -1; at = text.indexOf(email, at + 1)) {
    const isEnd = !/^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u.test(
      text.slice(at + email.length, at + email.length + 3),
    );
    const isStart = !/[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]$/u.test(text.slice(Math.max(0, at - 2), at));
    if (isStart && isEnd) return true;
  }
  return false;
}

/**
 * Sends an email. A permanent refusal (5xx) is logged and not retried; any other failure throws, so that the job is
 * retried until the link expires.
 */
async function sendMailJob(
  deps: {
    readonly db: Database;
    readonly encryptor: Encryptor;
    readonly smtp: SmtpSettings;
    readonly log: { warn(fields: object, message: string): void };
  },
  data: z.infer<typeof payload>,
): Promise<void> {
  const { mail } = EncryptedMail.parse(
    JSON.parse(deps.encryptor.decrypt(Buffer.from(data.encrypted, "base64"))),
  );
  if (mail.expiresAtMs < Date.now() || data.isSent) return;
  const { kysely } = deps.db;
  const { recordingId } = mail;
  if (recordingId !== undefined && !(await maySee(kysely, recordingId, mail.to, data))) return;
  let isMarked = false;
  try {
    await sendMail(deps.smtp, mail, async () => {
      if (recordingId === undefined) return;
      await markSent(kysely, data, true);
      isMarked = true;
    });
  } catch (error) {
    if (isMarked) await markSent(kysely, data, false);
    const { responseCode, message } = error as { responseCode?: number; message: string };
    if (responseCode === undefined || responseCode < 500)
      throw new Error(`email could not be sent: ${withoutRecipient(message, mail.to)}`);
    deps.log.warn(
      { status: responseCode },
      "the mail server refused an email permanently; it is not retried",
    );
  }
}

/** Whether a recipient may be sent what a recording had when the email was queued: they see it, and nobody was erased since. */
async function maySee(
  db: Executor,
  recordingId: string,
  to: string,
  { queuedAtMs = 0 }: z.infer<typeof payload>,
): Promise<boolean> {
  const queuedAt = new Date(queuedAtMs);
  const { rows } = await sql`
    select 1 from recordings r
      join users u on u.workspace_id = r.workspace_id and u.email_key = parley_lower(${to})
      join workspaces w on w.id = u.workspace_id
    where r.id = ${recordingId} and u.deactivated_at is null
      and not exists (select 1 from trashed_recordings t where t.recording_id = r.id)
      and not exists (select 1 from erasures x where x.workspace_id = r.workspace_id and x.created_at >= ${queuedAt})
      and exists (select 1 from recording_grants g
        where g.recording_id = r.id and g.principal_id = any(parley_principals(u.id, w.members_id)))`.execute(
    db,
  );
  return rows.length > 0;
}

/** Notes that an email is sent, before the line that ends it. @throws Error when its job was removed meanwhile. */
async function markSent(db: Executor, { id }: z.infer<typeof payload>, isSent: boolean): Promise<void> {
  const { numAffectedRows } = await sql`
    update jobs set data = data || ${JSON.stringify({ isSent })}::jsonb where name = 'send_mail' and key = ${id}`.execute(
    db,
  );
  if (isSent && numAffectedRows !== 1n) throw new Error("the email was removed meanwhile");
}

/** Servers repeat the recipient in their refusals, which admins of the installation read. */
function withoutRecipient(message: string, to: string): string {
  return message.replaceAll(to, "[recipient]").replaceAll(to.toLowerCase(), "[recipient]");
}

/** An email as it is sent. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for programs that show HTML. */
  readonly html?: string;
  /** The tag of the language that Parley's own words in it are in. */
  readonly language?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The same for each attempt, so that mail servers can discard repetitions; default: a new one. */
  readonly messageId?: string;
}

/**
 * Sends an email now.
 * @param beforeEnd called when the mail server has the text, and before the line that ends it. If it throws, or the process
 * dies before, the mail server discards the email.
 * @throws nodemailer's error, with the server's `responseCode` if it refused.
 */
export async function sendMail(
  smtp: SmtpSettings,
  mail: OutgoingMail,
  beforeEnd: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { message, envelope } = await compose(smtp, mail);
  async function* body(): AsyncGenerator<string> {
    yield message;
    await beforeEnd();
  }
  await withTransport(smtp, (transport) => transport.sendMail({ envelope, raw: Readable.from(body()) }));
}

async function compose(
  smtp: SmtpSettings,
  { to, subject, text, html, headers, messageId, language }: OutgoingMail,
): Promise<{ message: string; envelope: NonNullable<SendMailOptions["envelope"]> }> {
  const { default: nodemailer } = await import("nodemailer");
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  // nodemailer would encode lines of more than 76 characters as quoted-printable, whose soft line breaks cut links in two
  // for programs that show or scan messages undecoded.
  const isPlain = html === undefined && isSevenBit(text);
  const { message, envelope } = await composer.sendMail({
    from: smtp.from,
    // As an object, so that special characters can't turn it into several recipients.
    to: { name: "", address: to },
    subject,
    text: isPlain ? "." : text,
    ...(html === undefined ? {} : { html }),
    ...(html === undefined && !isPlain ? { textEncoding: "base64" as const } : {}),
    headers: { ...headers, ...(language === undefined ? {} : { "Content-Language": language }) },
    ...(messageId === undefined ? {} : { messageId }),
  });
  // `buffer` makes it one.
  const whole = message.toString();
  if (!isPlain) return { message: whole, envelope };
  const head = whole.split("\r\n\r\n", 1)[0];
  return { message: `${head}\r\n\r\n${text.replace(/\r?\n/g, "\r\n")}`, envelope };
}

/** Whether a text can be sent as it is. Source: RFC 5321, section 4.5.3.1.6. */
function isSevenBit(text: string): boolean {
  return Buffer.byteLength(text) === text.length && text.split("\n").every((line) => line.length <= 998);
}

/** Connects and signs in to the mail server without sending anything. @throws nodemailer's error. */
export async function checkMailServer(smtp: SmtpSettings): Promise<void> {
  await withTransport(smtp, (transport) => transport.verify());
}

async function withTransport(
  smtp: SmtpSettings,
  work: (transport: Transporter) => Promise<unknown>,
): Promise<void> {
  const { default: nodemailer } = await import("nodemailer");
  const limits = { connectionTimeout: greetingMs, greetingTimeout: greetingMs };
  const transport = nodemailer.createTransport(
    { url: smtp.url, ...limits },
    {
      // A user's name or email must not make nodemailer read files or fetch URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
  );
  try {
    await withTimeout(work(transport));
  } finally {
    transport.close();
  }
}

async function withTimeout(sending: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(Object.assign(new Error("the mail server did not respond in time"), { code: "ETIMEDOUT" })),
    timeoutMs,
  );
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Mail as JSON, encrypted: it may contain a sign-in link. */
const payload = z.object({
  encrypted: z.string(),
  /** The job's key. Absent in jobs of earlier versions, as the next. */
  id: z.string().exactOptional(),
  queuedAtMs: z.number().exactOptional(),
  isSent: z.boolean().exactOptional(),
});

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    send_mail: z.infer<typeof payload>;
  }
}

export const sendMailKind = defineJob({
  name: "send_mail",
  label: "Send email",
  schema: payload,
  subject: "mail",
  owner: null,
  concurrency: 4,
  guard: "original",
  isEnabled: ({ smtp }) => smtp !== null,
  discard: { lost: "The email is not sent." },
  async handler({ db, encryptor, config: { smtp }, log }, data) {
    if (smtp !== null) await sendMailJob({ db, encryptor, smtp, log }, data);
  },
});
