import { type Selectable, sql } from "kysely";
import { holdMembership, syncGrants } from "../../../people/access/grants.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { prepared } from "../../../platform/db/prepared.ts";
import type { Recordings } from "../../../platform/db/types.ts";
import type { ChangeableRecording } from "../queries.ts";
import { lockFor, type Right } from "../rights.ts";

/**
 * Runs one change of a recording in a transaction: locks the recording, checks the caller's right to do so, applies
 * the change and, if it changed anything, updates the grants and records `recording_updated`. Repeating a change is
 * neither an error nor an event.
 * @param apply makes the change; returns whether anything changed, whether that can't have changed who sees the recording
 *   nor when it started, and what `updateRecording` returns.
 * @param action completes "only … may" in the error for callers who may only see the recording.
 * @throws ProblemError `not_found` when the caller can't see the recording, `forbidden` when they lack the right.
 */
export async function updateRecording<T>(
  db: Database,
  principal: Principal,
  recordingId: string,
  apply: (
    tx: Tx,
    recording: ChangeableRecording,
  ) => Promise<{ changed: boolean; keepsAccess?: boolean; result: T }>,
  right: Right = "change",
  action?: string,
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    // Every transaction locks the membership before recordings, so that none can deadlock with a user being created.
    await holdMembership(tx, principal.workspaceId);
    const recording = await lockFor(tx, principal, recordingId, right, action);
    const { changed, keepsAccess = false, result } = await apply(tx, recording);
    if (changed) {
      await sql`update recordings set updated_at = clock_timestamp() where id = ${recording.id} ${prepared}`.execute(
        tx,
      );
      if (!keepsAccess) await syncGrants(tx, [recording.id]);
      await recordUpdate(tx, recording);
    }
    return result;
  });
}

/** Columns of a recording that don't decide who may see it. */
type PlainColumns = Partial<Pick<Selectable<Recordings>, "title" | "tags">>;

/**
 * As `updateRecording`, for a change of columns that don't decide who may see the recording: with one update of its row,
 * and without waiting for users who are being created.
 * @param change the columns to set; null: nothing changes.
 * @returns whether anything changed.
 * @throws ProblemError as `updateRecording`.
 */
export async function updateColumns(
  db: Database,
  principal: Principal,
  recordingId: string,
  change: (recording: ChangeableRecording) => PlainColumns | null,
): Promise<boolean> {
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change");
    const columns = change(recording);
    if (columns === null) return false;
    await tx
      .updateTable("recordings")
      .set({ ...columns, updated_at: sql`clock_timestamp()` })
      .where("id", "=", recording.id)
      .modifyEnd(prepared)
      .execute();
    await recordUpdate(tx, recording);
    return true;
  });
}

function recordUpdate(tx: Tx, { id, workspace_id }: ChangeableRecording): Promise<void> {
  return recordEvent(tx, { workspaceId: workspace_id, type: "recording_updated", subjectId: id, data: {} });
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
