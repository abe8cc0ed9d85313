import { sql } from "kysely";
import { holdMembership, syncGrants } from "../../../people/access/grants.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { record } from "../../../platform/events/record.ts";
import type { ChangeableRecording } from "../queries.ts";
import { lockForChange } from "../rights.ts";

/**
 * Runs one change of a recording in a transaction: locks the recording, checks the caller's right to change it, applies
 * the change and, if it changed anything, updates the grants and records `recording_updated`. Repeating a change is
 * neither an error nor an event.
 * @param apply makes the change; returns whether anything changed, and what `updateRecording` returns.
 * @param action completes "only … may" in the error for callers who may only see the recording.
 * @throws ProblemError `not_found` when the caller can't see the recording, `forbidden` when they may not change it.
 */
export async function updateRecording<T>(
  db: Database,
  principal: Principal,
  recordingId: string,
  apply: (tx: Tx, recording: ChangeableRecording) => Promise<{ changed: boolean; result: T }>,
  action?: string,
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    // Every transaction locks the membership before recordings, so that none can deadlock with a user being created.
    await holdMembership(tx, principal.workspaceId);
    const recording = await lockForChange(tx, principal, recordingId, action);
    const { changed, result } = await apply(tx, recording);
    if (changed) {
      await sql`update recordings set updated_at = clock_timestamp() where id = ${recording.id}`.execute(tx);
      await syncGrants(tx, [recording.id]);
      await record(tx, {
        workspaceId: recording.workspace_id,
        type: "recording_updated",
        subjectId: recording.id,
        data: {},
      });
    }
    return result;
  });
}

/** The outcome of a change that only says whether it changed anything. */
export function changedIf(changed: boolean): { changed: boolean; result: boolean } {
  return { changed, result: changed };
}

/** The response of operations that succeed whether or not anything changed. */
export async function success(change: Promise<unknown>): Promise<{ success: true }> {
  await change;
  return { success: true };
}
