import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { isEmoji, maxComments, maxReactions } from "../../../contract/recordings/comments.ts";
import { maxMentions, shortenComment } from "../../../shared/mentions.ts";
import type { Tx } from "../../platform/db/database.ts";
import type { ImportedComment } from "../../platform/db/json-columns.ts";
import { encodeMentions } from "./mentions.ts";

/**
 * Inserts the comments of a recording that was moved here, for its new recording. Nobody is notified of them. One whose author
 * is gone by now stays only while it has replies, without its text.
 */
export async function insertImportedComments(
  tx: Tx,
  {
    id: recordingId,
    workspaceId,
    durationMs,
  }: { readonly id: string; readonly workspaceId: string; readonly durationMs: number },
  comments: readonly ImportedComment[],
): Promise<void> {
  if (comments.length === 0) return;
  const wanted = comments.slice(0, maxComments);
  const users = new Map(
    // The rows of erased users stay, deactivated.
    (
      await tx
        .selectFrom("users")
        .select(["id", "name"])
        .where("workspace_id", "=", workspaceId)
        .where("deactivated_at", "is", null)
        .execute()
    ).map((user) => [user.id, user]),
  );
  const known = (userId: string | null): string | null =>
    userId !== null && users.has(userId) ? userId : null;
  const ids = wanted.map(() => randomUUIDv7());
  const replied = new Set(
    wanted.flatMap(({ parent, user_id: userId }) =>
      parent === null || known(userId) === null ? [] : [parent],
    ),
  );
  const rows = wanted.flatMap((comment, index) => {
    const userId = known(comment.user_id);
    const isReply = comment.parent !== null;
    if (userId === null && (isReply || !replied.has(index))) return [];
    const mentioned = comment.mentioned_ids.slice(0, maxMentions).flatMap((id) => users.get(id) ?? []);
    const text = userId === null ? "" : encodeMentions(shortenComment(comment.text), mentioned);
    return [
      {
        id: ids[index] ?? "",
        recording_id: recordingId,
        parent_id: comment.parent === null ? null : (ids[comment.parent] ?? null),
        user_id: userId,
        text,
        timestamp_ms: isReply || comment.timestamp === null ? null : Math.min(comment.timestamp, durationMs),
        created_at: comment.created_at,
        edited_at: comment.edited_at,
        resolved_at: isReply ? null : comment.resolved_at,
        resolved_by: isReply ? null : known(comment.resolved_by),
        mentions:
          userId === null ? [] : mentioned.filter(({ id }) => text.includes(`@${id}`)).map(({ id }) => id),
        reactions: comment.reactions
          .filter(({ emoji, user_id }) => userId !== null && isEmoji(emoji) && users.has(user_id))
          .slice(0, maxReactions),
      },
    ];
  });
  // Replies come after the comments that they refer to.
  const ordered = rows.toSorted((a, b) => Number(a.parent_id !== null) - Number(b.parent_id !== null));
  await sql`
    insert into comments (id, recording_id, parent_id, user_id, text, timestamp_ms, created_at, edited_at, resolved_at, resolved_by)
    select id, recording_id, parent_id, user_id, text, timestamp_ms, created_at, edited_at, resolved_at, resolved_by
    from jsonb_populate_recordset(null::comments, ${JSON.stringify(ordered)}::jsonb)`.execute(tx);
  const mentions = rows.flatMap(({ id, mentions: all }) =>
    all.map((userId) => ({ comment_id: id, user_id: userId })),
  );
  await sql`
    insert into comment_mentions (comment_id, user_id)
    select comment_id, user_id from jsonb_populate_recordset(null::comment_mentions, ${JSON.stringify(mentions)}::jsonb)
    on conflict do nothing`.execute(tx);
  const reactions = rows.flatMap(({ id, reactions: all }) => all.map((one) => ({ comment_id: id, ...one })));
  await sql`
    insert into comment_reactions (comment_id, emoji, user_id)
    select comment_id, emoji, user_id from jsonb_populate_recordset(null::comment_reactions, ${JSON.stringify(reactions)}::jsonb)
    on conflict do nothing`.execute(tx);
}
