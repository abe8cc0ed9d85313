import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import * as contract from "../../../contract/recordings/comments.ts";
import { announceComments, notify } from "../../people/events/notify.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { type Requester, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { type ChangeableRecording, lockRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import { encodeMentions, findMentioned } from "./mentions.ts";
import {
  deleteComments,
  findRecordingOfComment,
  findStored,
  type StoredComment,
  setMentions,
} from "./queries.ts";

/** Creates a comment or a reply. Every user who can see the recording may. @returns the id. */
export async function createComment(
  db: Database,
  { principal, actor }: Requester,
  recordingId: string,
  input: z.output<(typeof contract.createComment)["body"]>,
): Promise<string> {
  requireUser(principal);
  const id = randomUUIDv7();
  await db.kysely.transaction().execute(async (tx) => {
    // The lock keeps the count right and the recording from being deleted.
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw recordingNotFound(recordingId);
    const parentId = await findThread(tx, recordingId, input);
    await checkRoom(tx, recordingId, input.timestamp);
    const mentioned = await findMentioned(tx, recording, input.mentions ?? []);
    await tx
      .insertInto("comments")
      .values({
        id,
        recording_id: recordingId,
        parent_id: parentId,
        user_id: principal.userId,
        text: encodeMentions(input.text, mentioned),
        timestamp_ms: input.timestamp ?? null,
      })
      .execute();
    const mentionedIds = mentioned.map((user) => user.id);
    await setMentions(tx, id, mentionedIds);
    await notifyMentioned(tx, principal, recordingId, id, mentionedIds);
    if (parentId !== null)
      await notify(tx, {
        kind: "replied",
        key: `replied:${id}`,
        to: sql`
          select c.user_id from comments c join users p on p.id = c.user_id join workspaces w on w.id = p.workspace_id
          where (c.id = ${parentId} or c.parent_id = ${parentId}) and c.user_id <> all(${mentionedIds}::uuid[])
            and exists (select 1 from recording_grants g where g.recording_id = ${recordingId}
              and g.principal_id = any(parley_principals(p.id, w.members_id)))`,
        actorId: principal.userId,
        recordingId,
        subjectId: id,
      });
    await report(tx, "comment_added", recording, id);
    await recordAudit(tx, actor, { action: "comment_created", ...subjectOf(id, recordingId) });
  });
  return id;
}

function notifyMentioned(
  tx: Tx,
  { userId }: Principal,
  recordingId: string,
  commentId: string,
  userIds: readonly string[],
): Promise<void> {
  return notify(tx, {
    kind: "mentioned",
    key: `mentioned:${commentId}`,
    to: sql`select unnest(${userIds}::uuid[])`,
    actorId: userId,
    recordingId,
    subjectId: commentId,
  });
}

/** Changes the text of the caller's comment. */
export async function updateComment(
  db: Database,
  { principal, actor }: Requester,
  commentId: string,
  input: z.output<(typeof contract.updateComment)["body"]>,
): Promise<void> {
  await change(db, principal, commentId, async (tx, comment, recording) => {
    if (principal.scope === "workspace" || comment.user_id !== principal.userId)
      throw new ProblemError("forbidden", because("comment_author_only"));
    const before = await tx
      .selectFrom("comment_mentions")
      .select("user_id")
      .where("comment_id", "=", commentId)
      .execute();
    const known = new Set(before.map((row) => row.user_id));
    const wanted = input.mentions?.map((userId) => userId.toLowerCase()) ?? [...known];
    const mentioned = await findMentioned(tx, recording, wanted, known);
    const text = encodeMentions(input.text, mentioned);
    const isSame =
      text === comment.text && mentioned.length === known.size && wanted.every((id) => known.has(id));
    if (isSame) return;
    await sql`update comments set text = ${text}, edited_at = clock_timestamp() where id = ${commentId}`.execute(
      tx,
    );
    const mentionedIds = mentioned.map((user) => user.id);
    await setMentions(tx, commentId, mentionedIds);
    await notifyMentioned(
      tx,
      principal,
      recording.id,
      commentId,
      mentionedIds.filter((id) => !known.has(id)),
    );
    await report(tx, "comment_updated", recording, commentId);
    await recordAudit(tx, actor, { action: "comment_changed", ...subjectOf(commentId, recording.id) });
  });
}

/** Deletes a comment; its replies stay. Its author may, and admins and workspace tokens. */
export async function deleteComment(
  db: Database,
  { principal, actor }: Requester,
  commentId: string,
): Promise<{ success: true }> {
  await change(db, principal, commentId, async (tx, comment, recording) => {
    const isAuthor = principal.scope === "personal" && comment.user_id === principal.userId;
    if (!isAuthor && principal.role !== "admin" && principal.scope !== "workspace")
      throw new ProblemError("forbidden", because("comment_author_or_admin_only"));
    await deleteComments(tx, [commentId]);
    await report(tx, "comment_deleted", recording, commentId);
    await recordAudit(tx, actor, { action: "comment_deleted", ...subjectOf(commentId, recording.id) });
  });
  return { success: true };
}

/** Resolves the thread of a comment, or opens it again. @returns the id of its first comment. */
export async function resolveComment(
  db: Database,
  principal: Principal,
  commentId: string,
  resolved: boolean,
): Promise<string> {
  requireUser(principal);
  return change(
    db,
    principal,
    commentId,
    async (tx, { id, parent_id }, recording) => {
      const rootId = parent_id ?? id;
      const { numAffectedRows } = await sql`
        update comments set resolved_at = case when ${resolved} then clock_timestamp() end,
          resolved_by = case when ${resolved} then ${principal.userId}::uuid end
        where id = ${rootId} and (resolved_at is not null) <> ${resolved}`.execute(tx);
      if (numAffectedRows) await report(tx, "comment_updated", recording, rootId);
      return rootId;
    },
    { orItsThread: true },
  );
}

/** Adds or removes the caller's reaction. */
export async function react(
  db: Database,
  principal: Principal,
  { comment_id: commentId, emoji }: { readonly comment_id: string; readonly emoji: string },
  wanted: boolean,
): Promise<void> {
  requireUser(principal);
  if (!contract.isEmoji(emoji)) throw invalidInput([{ pointer: "/emoji", detail: "must be one emoji" }]);
  await change(db, principal, commentId, async (tx, _comment, recording) => {
    const { userId } = principal;
    const { numAffectedRows } = wanted
      ? await sql`
          insert into comment_reactions (comment_id, emoji, user_id)
          values (${commentId}, ${emoji}, ${userId}) on conflict do nothing`.execute(tx)
      : await sql`
          delete from comment_reactions
          where comment_id = ${commentId} and emoji = ${emoji} and user_id = ${userId}`.execute(tx);
    if (!numAffectedRows) return;
    if (wanted) await checkReactions(tx, commentId);
    await report(tx, "comment_updated", recording, commentId);
  });
}

/** A comment belongs to a user, and a workspace token to none. */
function requireUser(principal: Principal): void {
  if (principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "comments and reactions belong to a user and this is a workspace token; use a personal token",
    );
}

/**
 * Locks the recording of a comment for a change of the comment.
 * @param orItsThread whether the comment may be deleted, if its thread exists.
 */
async function change<T>(
  db: Database,
  principal: Principal,
  commentId: string,
  apply: (tx: Tx, comment: StoredComment, recording: ChangeableRecording) => Promise<T>,
  { orItsThread = false } = {},
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    const recordingId = await findRecordingOfComment(tx, principal.workspaceId, commentId);
    if (recordingId === undefined) throw commentNotFound(commentId);
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw commentNotFound(commentId);
    const comment = await findStored(tx, recordingId, commentId);
    if (comment === undefined || (comment.user_id === null && !orItsThread)) throw commentNotFound(commentId);
    return apply(tx, comment, recording);
  });
}

/** The first comment of the thread to reply to; null for a new thread. */
async function findThread(
  tx: Tx,
  recordingId: string,
  input: Pick<z.output<(typeof contract.createComment)["body"]>, "parent_id" | "timestamp">,
): Promise<string | null> {
  if (input.parent_id === undefined) return null;
  const parent = await findStored(tx, recordingId, input.parent_id);
  if (parent === undefined)
    throw invalidInput([{ pointer: "/parent_id", detail: "is not a comment on this recording" }]);
  if (input.timestamp !== undefined)
    throw invalidInput([
      { pointer: "/timestamp", detail: "must be left out: a reply has its thread's moment" },
    ]);
  return parent.parent_id ?? parent.id;
}

/** @throws ProblemError when the recording has no such moment, or has as many comments as it may. */
async function checkRoom(tx: Tx, recordingId: string, timestamp: number | undefined): Promise<void> {
  const { rows } = await sql<{ duration_ms: number; comments: number }>`
    select r.duration_ms, (select count(*)::integer from comments c where c.recording_id = r.id) as comments
    from recordings r where r.id = ${recordingId}`.execute(tx);
  const { duration_ms = 0, comments = 0 } = rows[0] ?? {};
  if (timestamp !== undefined && timestamp > duration_ms)
    throw invalidInput([{ pointer: "/timestamp", ...because("after_recording_end", { ms: duration_ms }) }]);
  if (comments >= contract.maxComments)
    throw new ProblemError("wrong_state", because("comment_limit", { limit: contract.maxComments }));
}

async function checkReactions(tx: Tx, commentId: string): Promise<void> {
  const { rows } = await sql`select 1 from comment_reactions where comment_id = ${commentId}`.execute(tx);
  if (rows.length > contract.maxReactions)
    throw new ProblemError("wrong_state", because("reaction_limit", { limit: contract.maxReactions }));
}

/** Does not reveal whether the comment exists. */
export function commentNotFound(commentId: string): ProblemError {
  return new ProblemError("not_found", `there is no comment ${commentId} that this token can see`);
}

function subjectOf(commentId: string, recordingId: string) {
  return { subject: { type: "comment", id: commentId }, details: { recording_id: recordingId } };
}

async function report(
  tx: Tx,
  type: "comment_added" | "comment_updated" | "comment_deleted",
  recording: Pick<ChangeableRecording, "id" | "workspace_id">,
  commentId: string,
): Promise<void> {
  await recordEvent(tx, {
    workspaceId: recording.workspace_id,
    type,
    subjectId: commentId,
    recordingId: recording.id,
    data: { id: commentId, recording_id: recording.id },
  });
  await announceComments(tx, recording.id);
}
