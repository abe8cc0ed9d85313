import { sql } from "kysely";
import type { Comment } from "../../../contract/recordings/comments.ts";
import type { Tx } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import { decodeMentions } from "./mentions.ts";

/** A comment, or one of a list, with its position. */
export interface ListedComment {
  readonly id: string;
  readonly at: Date;
  readonly length: number;
}

/** A page of ids of a recording's comments, oldest first; a reply follows the comment it replies to. */
export async function listCommentIds(
  source: Queryable,
  recordingId: string,
  { after, limit }: PageQuery<Position>,
): Promise<ListedComment[]> {
  const { rows } = await source.query<ListedComment>(
    `select id, created_at as at, length(text) as length from comments
     where recording_id = $1 and (created_at, id) > ($2::timestamptz, $3::uuid)
     order by created_at, id limit $4`,
    [recordingId, after?.at ?? new Date(0), after?.id ?? "00000000-0000-0000-0000-000000000000", limit],
  );
  return rows;
}

interface CommentRow extends Omit<Comment, "created_datetime" | "edited_datetime" | "resolved_datetime"> {
  readonly created_at: Date;
  readonly edited_at: Date | null;
  readonly resolved_at: Date | null;
}

const user = (alias: string): string =>
  `json_build_object('id', ${alias}.id, 'name', ${alias}.name, 'email', ${alias}.email)`;

/** Comments as the API shows them, by id. The caller has checked who may see them. */
export async function findComments(source: Queryable, ids: readonly string[]): Promise<Map<string, Comment>> {
  const { rows } = await source.query<CommentRow>({
    name: "find_comments",
    text: `select c.id, c.recording_id, c.parent_id, c.text, c.timestamp_ms as timestamp,
        c.created_at, c.edited_at, c.resolved_at,
        case when a.id is not null then ${user("a")} end as author,
        case when b.id is not null then ${user("b")} end as resolved_by,
        coalesce((select json_agg(${user("u")} order by u.name, u.id)
          from comment_mentions m join users u on u.id = m.user_id where m.comment_id = c.id), '[]') as mentions,
        coalesce((select json_agg(json_build_object('emoji', e.emoji, 'user_ids', e.ids) order by e.first, e.emoji)
          from (select emoji, json_agg(user_id order by created_at, user_id) as ids, min(created_at) as first
            from comment_reactions where comment_id = c.id group by emoji) e), '[]') as reactions
      from comments c
      left join users a on a.id = c.user_id
      left join users b on b.id = c.resolved_by
      where c.id = any($1::uuid[])`,
    values: [ids],
  });
  return new Map(rows.map((row) => [row.id, present(row)]));
}

function present({ created_at, edited_at, resolved_at, ...row }: CommentRow): Comment {
  return {
    ...row,
    text: decodeMentions(row.text, row.mentions),
    created_datetime: created_at.toISOString(),
    edited_datetime: edited_at?.toISOString() ?? null,
    resolved_datetime: resolved_at?.toISOString() ?? null,
  };
}

/** The recording of a comment of the workspace. */
export async function findRecordingOfComment(
  tx: Tx,
  workspaceId: string,
  commentId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ recording_id: string }>`
    select c.recording_id from comments c join recordings r on r.id = c.recording_id
    where c.id = ${commentId} and r.workspace_id = ${workspaceId}`.execute(tx);
  return rows[0]?.recording_id;
}

/** A comment that a change works on, locked by the lock on its recording. */
export interface StoredComment {
  readonly id: string;
  readonly parent_id: string | null;
  readonly user_id: string | null;
  readonly text: string;
}

export async function findStored(
  tx: Tx,
  recordingId: string,
  commentId: string,
): Promise<StoredComment | undefined> {
  return tx
    .selectFrom("comments")
    .select(["id", "parent_id", "user_id", "text"])
    .where("id", "=", commentId)
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
}

/** Replaces whom a comment mentions. */
export async function setMentions(tx: Tx, commentId: string, userIds: readonly string[]): Promise<void> {
  await sql`delete from comment_mentions where comment_id = ${commentId} and user_id <> all(${userIds}::uuid[])`.execute(
    tx,
  );
  await sql`
    insert into comment_mentions (comment_id, user_id) select ${commentId}, unnest(${userIds}::uuid[])
    on conflict do nothing`.execute(tx);
}

/** Deletes comments of locked recordings. One with replies stays, without author and text, as long as there are any. */
export async function deleteComments(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`delete from comment_mentions where comment_id = any(${ids}::uuid[])`.execute(tx);
  await sql`delete from comment_reactions where comment_id = any(${ids}::uuid[])`.execute(tx);
  const { rows } = await sql<{ root: string }>`
    update comments set user_id = null, text = '' where id = any(${ids}::uuid[])
    returning coalesce(parent_id, id) as root`.execute(tx);
  const roots = rows.map(({ root }) => root);
  await sql`delete from comments where parent_id = any(${roots}::uuid[]) and user_id is null`.execute(tx);
  await sql`
    delete from comments c where c.id = any(${roots}::uuid[]) and c.user_id is null
      and not exists (select 1 from comments reply where reply.parent_id = c.id)`.execute(tx);
}
