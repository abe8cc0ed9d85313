import { sql } from "kysely";
import { redactDeliveries } from "../../people/events/delete.ts";
import { announceComments } from "../../people/events/notify.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Tx } from "../../platform/db/database.ts";
import { deleteComments } from "./queries.ts";

/** What takes the place of an erased user's name in the comments of others. */
export const erasedMention = "@a deleted user";

/** SQL: the recordings with comments of a user, reactions or mentions, except those under legal hold, which stay as they are. */
export const recordingsCommentedBy = (userId: string) => sql`
  select c.recording_id from comments c
  where c.id in (
      select id from comments where user_id = ${userId} or resolved_by = ${userId}
      union all select comment_id from comment_mentions where user_id = ${userId}
      union all select comment_id from comment_reactions where user_id = ${userId})
    and not exists (select 1 from legal_holds h where h.recording_id = c.recording_id)`;

/**
 * Erases a user from comments: deletes theirs and their reactions, and replaces their name where others mention them. The
 * caller has locked the recordings.
 */
export async function eraseFromComments(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  const { rows } = await sql<{ recording_id: string }>`
    select distinct recording_id from (${recordingsCommentedBy(userId)}) found`.execute(tx);
  const recordingIds = rows.map((row) => row.recording_id);
  if (recordingIds.length === 0) return;
  const inThem = sql`comment_id in (select id from comments where recording_id = any(${recordingIds}::uuid[]))`;
  const { rows: own } = await sql<{ id: string; recording_id: string }>`
    select id, recording_id from comments
    where user_id = ${userId} and recording_id = any(${recordingIds}::uuid[])`.execute(tx);
  await deleteComments(
    tx,
    own.map(({ id }) => id),
  );
  await sql`
    update comments set text = replace(text, ${`@${userId}`}, ${erasedMention})
    where id in (select comment_id from comment_mentions where user_id = ${userId} and ${inThem})`.execute(
    tx,
  );
  await sql`delete from comment_mentions where user_id = ${userId} and ${inThem}`.execute(tx);
  await sql`delete from comment_reactions where user_id = ${userId} and ${inThem}`.execute(tx);
  await sql`
    update comments set resolved_by = null
    where resolved_by = ${userId} and recording_id = any(${recordingIds}::uuid[])`.execute(tx);
  for (const recordingId of recordingIds) await announceComments(tx, recordingId);
  // Payloads rendered before contain the user's words and name.
  await redactDeliveries(tx, recordingIds, []);
  for (const { id, recording_id: recordingId } of own)
    await recordEvent(tx, {
      workspaceId,
      type: "comment_deleted",
      subjectId: id,
      recordingId,
      data: { id, recording_id: recordingId },
    });
}
