import { sql } from "kysely";
import type pg from "pg";
import type { Cause } from "../../../contract/causes/causes.ts";
import {
  audienceOf,
  maxUnread,
  type NotificationChannel,
  type NotificationKind,
  type NotificationSettings,
  notificationKindNames,
  notificationKinds,
} from "../../../contract/workspace/notification-kinds.ts";
import type { NotificationState } from "../../../contract/workspace/notifications.ts";
import { notificationChannel } from "../../people/events/notify.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";

const kindsOf = (audience: ReturnType<typeof audienceOf>): string =>
  notificationKindNames
    .filter((kind) => audienceOf(kind) === audience)
    .map((kind) => `'${kind}'`)
    .join(", ");

const isAboutComment = "n.kind in ('mentioned', 'replied')";

const itemsOf = `select i.text, i.timestamp_ms from action_items i
  where i.recording_id = n.recording_id and i.assignee_key = u.email_key
    and n.data -> 'item_ids' ? i.id::text`;

/**
 * SQL: whether user `u` of workspace `w` may see notification `n` now: they see its recording, its comment exists, its action
 * items are still theirs, and they still have the role.
 */
const isVisible = `(
  (n.recording_id is null or exists (select 1 from recording_grants g
    where g.recording_id = n.recording_id and g.principal_id = any(parley_principals(u.id, w.members_id))))
  and (not ${isAboutComment} or exists (select 1 from comments c where c.id = n.subject_id and c.user_id is not null))
  and (n.kind <> 'action_item_assigned' or exists (${itemsOf}))
  and (n.kind not in (${kindsOf("admins")}, ${kindsOf("operators")}) or u.role = 'admin')
  and (n.kind not in (${kindsOf("operators")}) or exists (
    select 1 from installation where operator_workspace_id = u.workspace_id)))`;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A notification with what its texts are written from. */
export interface NotificationRow {
  readonly id: string;
  readonly kind: NotificationKind;
  readonly recording_id: string | null;
  readonly recording_title: string | null;
  readonly subject_id: string | null;
  readonly data: {
    readonly is_team?: boolean;
    readonly transcript?: string | null;
    readonly summary?: string | null;
    /** What happened to the server; left out in older ones, which have their title in English alone. */
    readonly problem?: string;
    /** The label of the jobs that fail, in English. */
    readonly job?: string;
    /** Their kind, how many failed how often, and the last error; left out in older ones. */
    readonly failing?: {
      readonly kind: string;
      readonly count: number;
      readonly attempts: number;
      readonly error: string;
    };
    readonly title?: string;
    readonly text?: string;
  };
  readonly actor: (Named & { readonly email: string }) | null;
  readonly created_at: Date;
  readonly read_at: Date | null;
  /** The comment, and whom it mentions. */
  readonly comment: string | null;
  readonly comment_ms: number | null;
  readonly mentions: readonly Named[];
  readonly upload_title: string | null;
  readonly failure_reason: string | null;
  readonly failure_causes: readonly Cause[] | null;
  readonly import_state: string | null;
  readonly import_error: string | null;
  readonly items: readonly { readonly text: string; readonly timestamp_ms: number }[];
}

async function read(
  pool: pg.Pool,
  name: string,
  conditions: string,
  values: readonly unknown[],
): Promise<NotificationRow[]> {
  const { rows } = await pool.query<NotificationRow>({
    name,
    text: `select n.id, n.kind, n.recording_id, r.title as recording_title, n.subject_id, n.data, n.created_at, n.read_at,
        case when a.id is not null then json_build_object('id', a.id, 'name', a.name, 'email', a.email) end as actor,
        left(c.text, 1000) as comment, coalesce(c.timestamp_ms, root.timestamp_ms) as comment_ms,
        coalesce((select json_agg(json_build_object('id', m.id, 'name', m.name))
          from comment_mentions cm join users m on m.id = cm.user_id where cm.comment_id = c.id), '[]') as mentions,
        up.title as upload_title, up.failure_reason, up.failure_causes, run.state as import_state, run.error as import_error,
        case when n.kind = 'action_item_assigned' then coalesce((select json_agg(i order by i.timestamp_ms, i.text)
          from (${itemsOf}) i), '[]') else '[]' end as items
      from notifications n
      join users u on u.id = n.user_id
      join workspaces w on w.id = u.workspace_id
      left join recordings r on r.id = n.recording_id
      left join users a on a.id = n.actor_id
      left join comments c on c.id = n.subject_id and ${isAboutComment}
      left join comments root on root.id = c.parent_id
      left join uploads up on up.id = n.subject_id and n.kind = 'upload_failed'
      left join import_runs run on run.id = n.subject_id and n.kind = 'import_ended'
      where n.user_id = $1 and ${isVisible} and ${conditions}`,
    values: [...values],
  });
  return rows;
}

/** A page of what a user may see now, newest first. */
export function findPage(
  pool: pg.Pool,
  userId: string,
  { isUnread, after, limit }: PageQuery<Position> & { readonly isUnread: boolean },
): Promise<NotificationRow[]> {
  return read(
    pool,
    `find_notifications_${isUnread}_${after !== null}`,
    `${isUnread ? "n.read_at is null" : "true"}
       and ${after === null ? "$3::timestamptz is null and $4::uuid is null" : "(n.created_at, n.id) < ($3::timestamptz, $4::uuid)"}
     order by n.created_at desc, n.id desc limit $2`,
    [userId, limit, after?.at ?? null, after?.id ?? null],
  );
}

/** Those of these notifications that a user may see now and has not read, oldest first. */
export function findUnread(
  pool: pg.Pool,
  userId: string,
  ids: readonly string[],
): Promise<NotificationRow[]> {
  return read(
    pool,
    "find_unread_notifications",
    "n.read_at is null and n.id = any($2::uuid[]) order by n.created_at, n.id",
    [userId, ids],
  );
}

/** For each user the number of their unread notifications and the newest one; nothing for users that don't exist. */
export async function readStates(
  pool: pg.Pool,
  userIds: readonly string[],
): Promise<Map<string, NotificationState>> {
  const { rows } = await pool.query<{
    user_id: string;
    unread: number;
    id: string | null;
    kind: NotificationKind;
    recording_id: string | null;
    created_at: Date;
  }>({
    name: "notification_states",
    text: `select u.id as user_id, unread.count as unread, newest.*
      from users u
      join workspaces w on w.id = u.workspace_id
      cross join lateral (select count(*)::integer as count from (
        select 1 from notifications n where n.user_id = u.id and n.read_at is null and ${isVisible}
        limit ${maxUnread}) counted) unread
      left join lateral (
        select n.id, n.kind, n.recording_id, n.created_at from notifications n
        where n.user_id = u.id and ${isVisible}
        order by n.created_at desc, n.id desc limit 1) newest on true
      where u.id = any($1::uuid[])`,
    values: [userIds],
  });
  return new Map(
    rows.map(({ user_id, unread, id, kind, recording_id, created_at }) => [
      user_id,
      {
        unread,
        newest: id === null ? null : { id, kind, recording_id, created_datetime: created_at.toISOString() },
      },
    ]),
  );
}

/** Which of these users can see a recording. */
export async function findViewers(
  pool: pg.Pool,
  recordingId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: "viewers_of_recording",
    text: `select u.id from users u join workspaces w on w.id = u.workspace_id
      where u.id = any($2::uuid[]) and exists (select 1 from recording_grants g
        where g.recording_id = $1 and g.principal_id = any(parley_principals(u.id, w.members_id)))`,
    values: [recordingId, userIds],
  });
  return rows.map(({ id }) => id);
}

/** Marks a user's notifications as read, those named or all, and tells the user's other windows. */
export async function markRead(
  db: Executor,
  userId: string,
  {
    ids,
    recording_id: recordingId,
  }: {
    readonly ids?: readonly string[] | undefined;
    readonly recording_id?: string | undefined;
  },
): Promise<void> {
  await sql`
    with changed as (
      update notifications set read_at = clock_timestamp()
      where user_id = ${userId} and read_at is null
        ${ids === undefined ? sql`` : sql`and id = any(${ids}::uuid[])`}
        ${recordingId === undefined ? sql`` : sql`and recording_id = ${recordingId}`}
      returning user_id)
    select pg_notify(${notificationChannel}, user_id::text) from (select distinct user_id from changed) one`.execute(
    db,
  );
}

/** How a user is notified of each kind. */
export async function readSettings(db: Executor, userId: string): Promise<NotificationSettings> {
  const rows = await db
    .selectFrom("notification_settings")
    .select(["kind", "channel"])
    .where("user_id", "=", userId)
    .execute();
  const chosen = new Map(rows.map(({ kind, channel }) => [kind, channel]));
  const kinds = Object.fromEntries(
    notificationKindNames.map((kind) => [kind, chosen.get(kind) ?? notificationKinds[kind].default]),
  ) as Record<NotificationKind, NotificationChannel>;
  return { ...kinds, summary_emailed: chosen.get("summary_emailed") === "off" ? "off" : "email" };
}

/** Saves what a user has chosen. Emails that are still to be sent of kinds without email are not sent. */
export async function saveSettings(
  tx: Tx,
  userId: string,
  chosen: readonly {
    readonly kind: keyof NotificationSettings;
    readonly channel: NotificationChannel;
  }[],
): Promise<void> {
  if (chosen.length === 0) return;
  await tx
    .insertInto("notification_settings")
    .values(chosen.map((one) => ({ user_id: userId, ...one })))
    .onConflict((conflict) =>
      conflict.columns(["user_id", "kind"]).doUpdateSet((eb) => ({ channel: eb.ref("excluded.channel") })),
    )
    .execute();
  const unmailed = chosen.filter(({ channel }) => channel === "app" || channel === "off");
  await sql`
    update notifications set email_at = null
    where user_id = ${userId} and email_at is not null and kind = any(${unmailed.map(({ kind }) => kind)}::text[])`.execute(
    tx,
  );
}
