import { type RawBuilder, sql } from "kysely";
import { type NotificationKind, notificationKinds } from "../../../contract/workspace/notification-kinds.ts";
import type { Tx } from "../../platform/db/database.ts";
import { enqueueJob } from "../../platform/jobs/queue.ts";

/** Notifies the processes that stream notifications; the payload is the id of a user, or `commentsPrefix` and that of a recording. */
export const notificationChannel = "parley_notifications";
export const commentsPrefix = "comments:";

/** Lets open pages read the comments on a recording again, once the transaction commits. */
export async function announceComments(tx: Tx, recordingId: string): Promise<void> {
  await sql`select pg_notify(${notificationChannel}, ${`${commentsPrefix}${recordingId}`})`.execute(tx);
}

/** The job that sends the emails of a user that are due; its data is `{ userId }`, and its key the user's id. */
export const emailJob = { name: "email_notifications", owner: () => null, whileRunning: "ignored" } as const;

/** Users whose emails are sent at once; those of others, when a whole team is notified, within a minute. */
const maxAtOnce = 20;

/** The hour of the daily email, in the time zone of the server. */
const digestHour = 8;

export interface NewNotification {
  readonly kind: NotificationKind;
  /** What happened: nobody is notified of the same key twice. */
  readonly key: string;
  /** A query for the ids of the users to notify. */
  readonly to: RawBuilder<unknown>;
  /** The user who did it, who is not notified; null: Parley did. */
  readonly actorId: string | null;
  readonly recordingId?: string;
  /** The comment, upload or import it is about. */
  readonly subjectId?: string;
  /** What can't be read later; never content of recordings. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Notifies users, in the transaction of the change that they are notified of: either both exist or neither. What each has
 * chosen in their settings decides whether and when the email is due. Invited users find theirs in the app once they have
 * joined; nothing is sent to an email that has not accepted its invitation.
 */
export async function notify(tx: Tx, notification: NewNotification): Promise<void> {
  const { kind, key, to, actorId, recordingId = null, subjectId = null, data = {} } = notification;
  const { rows } = await sql<{ user_id: string; is_due: boolean }>`
    with added as (
      insert into notifications (id, user_id, kind, key, recording_id, subject_id, actor_id, data, email_at)
      select gen_random_uuid(), u.id, ${kind}, ${key}, ${recordingId}::uuid, ${subjectId}::uuid, ${actorId}::uuid,
        ${JSON.stringify(data)}::jsonb,
        case when u.invited_at is not null then null when chosen.channel = 'email' then date_trunc('milliseconds', clock_timestamp()) when chosen.channel = 'daily' then ${nextDigest(new Date())}::timestamptz end
      from users u
        left join notification_settings s on s.user_id = u.id and s.kind = ${kind}
        cross join lateral (select coalesce(s.channel, ${notificationKinds[kind].default}) as channel) chosen
      where u.id in (${to}) and u.id is distinct from ${actorId}::uuid
        and u.deactivated_at is null and chosen.channel <> 'off'
      on conflict (user_id, key) do nothing
      returning user_id, email_at <= clock_timestamp() as is_due
    )
    select user_id, coalesce(is_due, false) as is_due, pg_notify(${notificationChannel}, user_id::text) from added`.execute(
    tx,
  );
  const due = rows.filter(({ is_due }) => is_due);
  for (const { user_id: userId } of due.slice(0, maxAtOnce))
    await enqueueJob(tx, emailJob, { userId }, userId);
}

/** The admins of the operator's workspace, as recipients. */
export const operators = sql`
  select p.id from users p join installation i on i.operator_workspace_id = p.workspace_id where p.role = 'admin'`;

/** A part of a key with which something can be notified of again the next day. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** When the next daily email is due. */
export function nextDigest(now: Date): Date {
  const next = new Date(now);
  next.setHours(digestHour, 0, 0, 0);
  if (next <= now) next.setDate(next.getDate() + 1);
  return next;
}
