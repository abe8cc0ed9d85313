import { recordEvent } from "../../../people/events/record-event.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { canSeeRecording, lockRecording } from "../queries.ts";
import { recordingNotFound } from "../rights.ts";

/** The caller's private notes; null when there are none. */
export async function readNotes(
  db: Database,
  principal: Principal,
  recordingId: string,
): Promise<string | null> {
  refuseWorkspaceToken(principal);
  if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
  const row = await db.kysely
    .selectFrom("private_notes")
    .select("text")
    .where("recording_id", "=", recordingId)
    .where("user_id", "=", principal.userId)
    .executeTakeFirst();
  return row?.text ?? null;
}

/** Saves the caller's private notes on a recording they can see. */
export function writeNotes(
  db: Database,
  principal: Principal,
  recordingId: string,
  text: string,
): Promise<{ success: true }> {
  return change(db, principal, recordingId, async (tx) => {
    const rows = await tx
      .insertInto("private_notes")
      .values({ recording_id: recordingId, user_id: principal.userId, text })
      .onConflict((conflict) =>
        conflict
          .columns(["recording_id", "user_id"])
          .doUpdateSet({ text })
          .where("private_notes.text", "<>", text),
      )
      .returning("user_id")
      .execute();
    return rows.length > 0;
  });
}

/** Removes the caller's own notes; nothing happens where there are none. */
export function deleteNotes(
  db: Database,
  principal: Principal,
  recordingId: string,
): Promise<{ success: true }> {
  return change(db, principal, recordingId, async (tx) => {
    const rows = await tx
      .deleteFrom("private_notes")
      .where("recording_id", "=", recordingId)
      .where("user_id", "=", principal.userId)
      .returning("user_id")
      .execute();
    return rows.length > 0;
  });
}

async function change(
  db: Database,
  principal: Principal,
  recordingId: string,
  apply: (tx: Tx) => Promise<boolean>,
): Promise<{ success: true }> {
  refuseWorkspaceToken(principal);
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw recordingNotFound(recordingId);
    if (!(await apply(tx))) return;
    // Each hook shows the notes of its own owner, so others learn that something changed and never what.
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
  });
  return { success: true };
}

/** Contract: private_notes are "personal only", because a workspace token belongs to no user. */
function refuseWorkspaceToken(principal: Principal): void {
  if (principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "private notes belong to a user and this is a workspace token; use a personal token",
    );
}
