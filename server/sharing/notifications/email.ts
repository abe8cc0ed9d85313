import { createHash } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import { takeMail } from "../../people/accounts/one-time-links/mail-limits.ts";
import { sendQueuedMail } from "../../people/accounts/one-time-links/mailer.ts";
import { emailJob, nextDigest } from "../../people/events/notify.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { defineJob, defineRecurringJob } from "../../platform/jobs/define.ts";
import { hasNoJob, type JobQueue } from "../../platform/jobs/queue.ts";
import { i18nFor } from "../../platform/language/i18n.ts";
import { findUnread } from "./queries.ts";
import { renderEmail } from "./render-email.ts";
import { unsubscribeHeaders, unsubscribeUrl } from "./unsubscribe.ts";

/** Notifications in one email; more are sent in the next one. */
const maxInEmail = 50;

/** An email that could not be sent for a day is not sent; the app has its notifications. */
const expiresAfter = "1 day";

/** Users whose emails one run of the sweep enqueues. */
const batch = 1000;

interface Dependencies {
  readonly db: Database;
  readonly jobs: Pick<JobQueue, "kinds">;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
  readonly log: Pick<FastifyBaseLogger, "warn">;
}

/**
 * Sends what is due to a user, as one email for up to `maxInEmail` notifications. The job's key is the user, so only one
 * runs at a time; a process that has lost the job to another fails at `markSent`, and the mail server discards its email.
 */
export async function emailNotifications(deps: Dependencies, userId: string): Promise<void> {
  for (;;) {
    const user = await findRecipient(deps, userId);
    const due = await takeDue(deps.db, userId, user === undefined);
    if (due.length === 0 || user === undefined) return;
    await emailBatch(deps, user, due);
  }
}

interface Recipient {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly email_language: string | null;
}

/** The user, if they can be sent email. */
async function findRecipient({ db, config }: Dependencies, userId: string): Promise<Recipient | undefined> {
  if (config.smtp === null) return undefined;
  return db.kysely
    .selectFrom("users")
    .select(["id", "email", "name", "email_language"])
    .where("id", "=", userId)
    .where("deactivated_at", "is", null)
    .where("invited_at", "is", null)
    .executeTakeFirst();
}

/** The notifications that are due; those that have expired, or all, are never sent. */
async function takeDue({ kysely }: Database, userId: string, isNoneSent: boolean): Promise<string[]> {
  await sql`
    update notifications set email_at = null
    where user_id = ${userId} and email_at < now() - case when ${isNoneSent} then interval '0' else interval '${sql.raw(expiresAfter)}' end`.execute(
    kysely,
  );
  const { rows } = await sql<{ id: string }>`
    select id from notifications where user_id = ${userId} and email_at <= now()
    order by created_at, id limit ${maxInEmail}`.execute(kysely);
  return rows.map(({ id }) => id);
}

async function emailBatch(deps: Dependencies, user: Recipient, due: readonly string[]): Promise<void> {
  const { db, jobs, config, encryptor, log } = deps;
  const { kysely } = db;
  // Read now: what the user can no longer see, or has seen in the app, is not sent.
  const rows = await findUnread(db.pool, user.id, due);
  const ids = rows.map(({ id }) => id);
  await setDue(
    kysely,
    due.filter((id) => !ids.includes(id)),
    null,
  );
  if (ids.length === 0 || config.smtp === null) return;
  const refused = await kysely
    .transaction()
    .execute((tx) => takeMail(tx, { kind: "notification", workspaceId: null, to: user.email }));
  // The daily email has what is too much for one day.
  if (refused !== null) return setDue(kysely, ids, nextDigest(new Date()));
  const { smtp } = config;
  const unsubscribe = unsubscribeUrl(encryptor, config.baseUrl, {
    userId: user.id,
    from: "notifications",
  });
  const i18n = await i18nFor(user.email_language);
  const isSent = await sendQueuedMail(
    { smtp, log },
    {
      to: user.email,
      ...renderEmail(i18n, user, rows, { baseUrl: config.baseUrl, kinds: jobs.kinds, unsubscribe }),
      messageId: `<${createHash("sha256").update(ids.join()).digest("hex").slice(0, 40)}@${new URL(config.baseUrl).hostname}>`,
      headers: unsubscribeHeaders(unsubscribe),
    },
    {
      set: () => kysely.transaction().execute((tx) => markSent(tx, ids)),
      remove: () => setDue(kysely, ids, new Date()),
    },
  );
  if (!isSent) await setDue(kysely, ids, null);
}

/** @throws Error when one of them is not due any more: another process sends it, or its recording was deleted. */
async function markSent(tx: Tx, ids: readonly string[]): Promise<void> {
  const { numAffectedRows } = await sql`
    update notifications set email_at = null where id = any(${ids}::uuid[]) and email_at is not null`.execute(
    tx,
  );
  if (numAffectedRows !== BigInt(ids.length)) throw new Error("the notifications have changed meanwhile");
}

async function setDue(db: Database["kysely"], ids: readonly string[], at: Date | null): Promise<void> {
  await sql`update notifications set email_at = ${at}::timestamptz where id = any(${ids}::uuid[])`.execute(
    db,
  );
}

/** Enqueues the emails that are due by time, and those of large teams. */
async function enqueueDueEmails({
  db,
  jobs,
}: {
  readonly db: Database;
  readonly jobs: JobQueue;
}): Promise<void> {
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from notifications
    where email_at <= now() and ${hasNoJob(emailJob.name, sql`notifications.user_id`)} limit ${batch}`.execute(
    db.kysely,
  );
  await db.kysely.transaction().execute(async (tx) => {
    for (const { user_id: userId } of rows) await jobs.enqueue(tx, emailJob.name, { userId }, userId);
  });
  if (rows.length > 0) jobs.wake();
}

const payload = z.object({ userId: z.string() });

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    email_notifications: z.infer<typeof payload>;
  }
}

export const emailNotificationsKind = defineJob({
  ...emailJob,
  label: (i18n) => i18n.t("Email notifications"),
  schema: payload,
  subject: "mail",
  owner: null,
  concurrency: 4,
  guard: "original",
  discard: {
    lost: (i18n) =>
      i18n.t("The emails are sent within a minute, unless a day has passed. The app has the notifications."),
  },
  handler: (deps, { userId }) => emailNotifications(deps, userId),
});

export const enqueueDueEmailsKind = defineRecurringJob({
  name: "enqueue_due_emails",
  label: (i18n) => i18n.t("Enqueue due emails"),
  every: "sweep",
  guard: "original",
  handler: enqueueDueEmails,
});
