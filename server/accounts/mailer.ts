import { randomUUID } from "node:crypto";
import nodemailer from "nodemailer";
import { z } from "zod";
import type { SmtpSettings } from "../config.ts";
import type { Tx } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";

/** A mail to one person, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** After this its link is dead, and it is not sent any more; ms since 1970. */
  readonly uselessAfter: number;
}

const SealedMail = z.object({
  sealedFor: z.literal("mail"),
  mail: z.object({ to: z.string(), subject: z.string(), text: z.string(), uselessAfter: z.number() }),
});

/** Longer than a slow server needs, shorter than a person waits. */
const patienceMs = 20_000;

/** Puts a mail in with the transaction. It is encrypted, since it may hold a link that signs a person in. */
export async function enqueueMail(
  tx: Tx,
  deps: { readonly jobs: JobQueue; readonly sealer: Sealer },
  mail: Mail,
): Promise<void> {
  const sealed = deps.sealer.seal(JSON.stringify({ sealedFor: "mail", mail }));
  await deps.jobs.enqueue(tx, "send_mail", { sealed: sealed.toString("base64") }, randomUUID());
}

/** Whom a mail in the queue is for; undefined where it can't be read, as after a change of PARLEY_SECRET. */
export function mailRecipient(sealer: Sealer, sealed: string): string | undefined {
  try {
    return SealedMail.parse(JSON.parse(sealer.open(Buffer.from(sealed, "base64")))).mail.to;
  } catch {
    return undefined;
  }
}

/**
 * Hands a mail to the mail server. One that is refused for good (5xx) is given up; any other failure throws, so that it is
 * tried again until its link is dead.
 */
export async function sendMailJob(
  deps: {
    readonly sealer: Sealer;
    readonly smtp: SmtpSettings;
    readonly log: { warn(fields: object, message: string): void };
  },
  data: { readonly sealed: string },
): Promise<void> {
  const { mail } = SealedMail.parse(JSON.parse(deps.sealer.open(Buffer.from(data.sealed, "base64"))));
  if (mail.uselessAfter < Date.now()) return;
  const transport = nodemailer.createTransport(deps.smtp.url, {
    // Nothing a name or address says may make it read files or fetch addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await withPatience(
      transport.sendMail({
        from: deps.smtp.from,
        // As an object, so that it is one address whatever characters are in it.
        to: { name: "", address: mail.to },
        subject: mail.subject,
        text: mail.text,
      }),
    );
  } catch (error) {
    const { responseCode, message } = error as { responseCode?: number; message: string };
    if (responseCode === undefined || responseCode < 500)
      throw new Error(`mail could not be sent: ${message}`);
    deps.log.warn({ status: responseCode }, "the mail server refused a mail for good");
  } finally {
    transport.close();
  }
}

async function withPatience(sending: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(Object.assign(new Error("too late"), { code: "ETIMEDOUT" })),
    patienceMs,
  );
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}
