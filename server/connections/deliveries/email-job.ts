import { createHash } from "node:crypto";
import { sql } from "kysely";
import { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import { sentenceOf } from "../../../contract/sentences.ts";
import { takeMail } from "../../people/accounts/one-time-links/mail-limits.ts";
import { sendQueuedMail } from "../../people/accounts/one-time-links/mailer.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Executor } from "../../platform/db/database.ts";
import { defineJob, type RunContext } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { unsubscribeHeaders, unsubscribeUrl } from "../../sharing/notifications/unsubscribe.ts";
import { type AttemptResponse, notSent } from "../webhooks/dispatch/attempt.ts";
import { composeMessage, readContent } from "./content.ts";
import { emailOf, queued } from "./email.ts";
import { readerOf } from "./message-reader.ts";
import { type Attempt, beginAttempt, findSendState } from "./queries.ts";

const name = "send_delivery_email";

/** How long an email is worth sending. */
const validMs = 3 * 86_400_000;

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "smtp">;
}

interface Recipient {
  readonly id: string;
  readonly email: string;
  readonly language: string | null;
  readonly timeZone: string | null;
}

/** The participants who are users of the workspace, can see the recording at this moment and have not unsubscribed. */
async function findRecipients(db: Executor, recordingId: string): Promise<readonly Recipient[]> {
  const { rows } = await sql<Recipient>`
    select distinct u.id, u.email, u.email_language as language, u.email_time_zone as "timeZone" from participants p
      join users u on u.workspace_id = p.workspace_id and u.email_key = p.email_key
      join workspaces w on w.id = u.workspace_id
    where p.recording_id = ${recordingId} and u.deactivated_at is null and u.invited_at is null
      and not exists (
        select 1 from notification_settings s
        where s.user_id = u.id and s.kind = 'summary_emailed' and s.channel = 'off')
      and exists (
      select 1 from recording_grants g
      where g.recording_id = p.recording_id and g.principal_id = any(parley_principals(u.id, w.members_id)))
    order by u.email`.execute(db);
  return rows;
}

/** Queues an email for each participant, all with the note that this attempt was made, so that none is queued twice. */
export async function queueEmails(
  { db, jobs, config }: Dependencies,
  attempt: Attempt,
): Promise<AttemptResponse> {
  if (config.smtp === null) return notSent(because("mail_server_missing").detail);
  const recipients = await findRecipients(db.kysely, attempt.recordingId);
  const expiresAtMs = Date.now() + validMs;
  let refused = 0;
  await db.kysely.transaction().execute(async (tx) => {
    for (const { id: userId, email: to } of recipients) {
      if ((await takeMail(tx, { kind: "delivery", workspaceId: null, to })) !== null) {
        refused += 1;
        continue;
      }
      const { hookId, deliveryId, recordingId } = attempt;
      const key = keyOf(attempt, userId);
      await jobs.enqueue(tx, name, { key, hookId, deliveryId, recordingId, userId, expiresAtMs }, key);
    }
    await beginAttempt(tx, attempt);
  });
  jobs.wake();
  const count = recipients.length - refused;
  return queued(
    refused === 0
      ? sentenceOf("delivery_queued_some", { count })
      : sentenceOf("delivery_queued_limited", { count, limited: refused }),
  );
}

function keyOf({ hookId, deliveryId, attempt }: Attempt, userId: string): string {
  const hash = createHash("sha256").update([hookId, deliveryId, attempt, userId].join(" "));
  return hash.digest("hex").slice(0, 40);
}

/**
 * Sends one email, with what the recording has at this moment: nothing that was erased, and only to a participant who can
 * still see it, of a delivery that still sends it.
 */
async function sendEmail(
  { db, config, encryptor, log }: RunContext,
  payload: z.infer<typeof schema>,
): Promise<void> {
  const { key, hookId, deliveryId, recordingId, userId, expiresAtMs, isSent } = payload;
  const { smtp, baseUrl } = config;
  if (smtp === null || isSent || expiresAtMs < Date.now()) return;
  const state = await findSendState(db.pool, hookId, deliveryId);
  if (state === undefined || state.disabled_at !== null || !state.is_present || !state.is_visible) return;
  const user = (await findRecipients(db.kysely, recordingId)).find(({ id }) => id === userId);
  if (user === undefined) return;
  const parts = await readContent(db, baseUrl, { workspaceId: state.workspace_id, recordingId });
  if (parts === undefined) return;
  const { recording } = parts;
  const reader = await readerOf(db.kysely, { workspaceId: state.workspace_id, recording }, user);
  const message = composeMessage(reader, parts, baseUrl, state.template);
  const unsubscribe = unsubscribeUrl(encryptor, baseUrl, { userId, from: "summaries" });
  await sendQueuedMail(
    { smtp, log },
    {
      ...emailOf(message, user.email, unsubscribe),
      messageId: `<${key}@${new URL(baseUrl).hostname}>`,
      headers: unsubscribeHeaders(unsubscribe),
    },
    { set: () => markSent(db.kysely, key, true), remove: () => markSent(db.kysely, key, false) },
  );
}

/** @throws Error when its job was discarded meanwhile. */
async function markSent(db: Executor, key: string, isSent: boolean): Promise<void> {
  const { numAffectedRows } = await sql`
    update jobs set data = data || ${JSON.stringify({ isSent })}::jsonb where name = ${name} and key = ${key}`.execute(
    db,
  );
  if (isSent && numAffectedRows !== 1n) throw new Error("the email was removed meanwhile");
}

const schema = z.object({
  /** The job's key, the same however often it runs, so that a mail server can discard a repetition. */
  key: z.string(),
  hookId: z.uuid(),
  deliveryId: z.string(),
  recordingId: z.uuid(),
  userId: z.uuid(),
  expiresAtMs: z.number(),
  isSent: z.boolean().exactOptional(),
});

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    [name]: z.infer<typeof schema>;
  }
}

export const sendDeliveryEmailKind = defineJob({
  name,
  label: (i18n) => i18n.t("Send delivery by email"),
  schema,
  subject: "mail",
  owner: null,
  concurrency: 4,
  guard: "original",
  isEnabled: ({ smtp }) => smtp !== null,
  discard: { lost: (i18n) => i18n.t("The email is not sent.") },
  handler: sendEmail,
});
