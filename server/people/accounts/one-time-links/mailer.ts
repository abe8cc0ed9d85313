import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { SendMailOptions, Transporter } from "nodemailer";
import { z } from "zod";
import { foldCase } from "../../../../shared/fold-case.ts";
import type { SmtpSettings } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type MailKind, takeMail } from "./mail-limits.ts";

/** An email to one recipient. */
export interface Mail
  extends Pick<OutgoingMail, "to" | "subject" | "text" | "html" | "messageId" | "language"> {
  /** When its link expires, in ms since 1970; the email is not sent after that. */
  readonly expiresAtMs: number;
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
  }),
});

const timeLimits = {
  /** Longer than a slow mail server needs, shorter than a user waits. */
  sendMs: 20_000,
  /** How long a mail server may take to accept a whole email, as those that scan it do. Source: RFC 5321, section 4.5.3.2.6. */
  acceptMs: 600_000,
};

/** How long until the server accepts the connection and greets, so that its silence is known from a slow delivery. */
const greetingMs = 15_000;

/** The whole email was sent, and the mail server has not said whether it accepted it. */
export class UnconfirmedMailError extends Error {}

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
  await deps.jobs.enqueue(tx, "send_mail", { encrypted: encrypted.toString("base64") }, randomUUID());
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

/** Sends a queued email; one that fails is sent again until its link expires. */
async function sendMailJob(
  deps: { readonly encryptor: Encryptor } & SendDependencies,
  data: z.infer<typeof payload>,
): Promise<void> {
  const { mail } = EncryptedMail.parse(
    JSON.parse(deps.encryptor.decrypt(Buffer.from(data.encrypted, "base64"))),
  );
  if (mail.expiresAtMs >= Date.now()) await sendQueuedMail(deps, mail, null);
}

interface SendDependencies {
  readonly smtp: SmtpSettings;
  readonly log: { warn(fields: object, message: string): void };
}

/** How a job notes that its email is sent. */
export interface SentMark {
  /** If it throws, the email is not sent. */
  set(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Sends an email of a job.
 * @param mark set when the mail server has the text, before the line that ends it, so that no kill lets the next run send the
 * email again. It stays unless the mail server refuses the email. Null: the email may arrive twice.
 * @returns false when the mail server has refused it permanently (5xx), which is logged and not to be retried.
 * @throws Error when the job has to be retried.
 */
export async function sendQueuedMail(
  { smtp, log }: SendDependencies,
  mail: OutgoingMail,
  mark: SentMark | null,
): Promise<boolean> {
  let isMarked = false;
  try {
    await sendMail(smtp, mail, {
      isPatient: true,
      async beforeEnd() {
        await mark?.set();
        isMarked = mark !== null;
      },
    });
    return true;
  } catch (error) {
    if (isMarked && error instanceof UnconfirmedMailError) {
      log.warn({}, "the mail server has not confirmed an email; it is not sent again");
      return true;
    }
    if (isMarked) await mark?.remove();
    const { responseCode, message } = error as { responseCode?: number; message: string };
    if (responseCode === undefined || responseCode < 500)
      throw new Error(`email could not be sent: ${withoutRecipient(message, mail.to)}`);
    log.warn({ status: responseCode }, "the mail server refused an email permanently; it is not retried");
    return false;
  }
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

interface SendOptions {
  /** Called when the mail server has the text, and before the line that ends it. If it throws, the mail server discards it. */
  beforeEnd?(): Promise<void>;
  /** Whether nobody waits, so that the mail server may take as long as RFC 5321 allows to accept the email. */
  readonly isPatient?: boolean;
  readonly limits?: typeof timeLimits;
}

/**
 * Sends an email now.
 * @throws nodemailer's error, with the server's `responseCode` if it refused; UnconfirmedMailError: the whole email was sent,
 * and may be accepted.
 */
export async function sendMail(
  smtp: SmtpSettings,
  mail: OutgoingMail,
  { beforeEnd, isPatient = false, limits = timeLimits }: SendOptions = {},
): Promise<void> {
  const { message, envelope } = await compose(smtp, mail);
  // Closes the connection, so that nothing is sent or accepted after the error.
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(slowError()), limits.sendMs);
  let ending: Promise<void> | undefined;
  let isEnded = false;
  async function* body(): AsyncGenerator<string> {
    yield message;
    abort.signal.throwIfAborted();
    if (isPatient) clearTimeout(timer);
    ending = beforeEnd?.();
    await ending;
    abort.signal.throwIfAborted();
    isEnded = true;
    if (isPatient) timer = setTimeout(() => abort.abort(slowError()), limits.acceptMs);
  }
  try {
    await withTransport(smtp, (transport) => {
      transport.use("stream", ({ message: email }, done) => {
        // Read only when the mail server wants the text: nodemailer reads a stream passed as `raw` before.
        email.createReadStream = () => Readable.from(body());
        done();
      });
      return transport.sendMail({ envelope, raw: message, signal: abort.signal });
    });
  } catch (error) {
    const reason: Error = abort.signal.aborted ? abort.signal.reason : error;
    // Nothing is sent from here on, and the caller knows whether it was marked.
    abort.abort(reason);
    await ending?.catch(() => undefined);
    const isUnconfirmed = isEnded && (error as { responseCode?: number }).responseCode === undefined;
    throw isUnconfirmed ? new UnconfirmedMailError(reason.message, { cause: reason }) : reason;
  } finally {
    clearTimeout(timer);
  }
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
  await withTransport(smtp, (transport) => withTimeout(transport.verify()));
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
    await work(transport);
  } finally {
    transport.close();
  }
}

async function withTimeout(work: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(slowError()), timeLimits.sendMs);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function slowError(): Error {
  return Object.assign(new Error("the mail server did not respond in time"), { code: "ETIMEDOUT" });
}

/** Mail as JSON, encrypted: it may contain a sign-in link. */
const payload = z.object({ encrypted: z.string() });

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    send_mail: z.infer<typeof payload>;
  }
}

export const sendMailKind = defineJob({
  name: "send_mail",
  label: (i18n) => i18n.t("Send email"),
  schema: payload,
  subject: "mail",
  owner: null,
  concurrency: 4,
  guard: "original",
  isEnabled: ({ smtp }) => smtp !== null,
  discard: { lost: (i18n) => i18n.t("The email is not sent.") },
  async handler({ encryptor, config: { smtp }, log }, data) {
    if (smtp !== null) await sendMailJob({ encryptor, smtp, log }, data);
  },
});
