import { holdMembership } from "../../people/access/grants.ts";
import { commandLine } from "../../platform/audit/record.ts";
import type { Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Receipt, removeFiles, removeRecording } from "../recordings/delete/delete.ts";
import { type DeletionDeps, refuseHeld } from "./delete.ts";
import { lockAnyTrashed } from "./queries.ts";
import { restore } from "./restore.ts";

/** Restores a recording of any workspace, for the operator. */
export async function restoreAny(db: DeletionDeps["db"], recordingId: string): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom("trashed_recordings")
      .select("workspace_id")
      .where("recording_id", "=", recordingId)
      .executeTakeFirst();
    // Before the recording, as every change that computes grants does.
    if (row !== undefined) await holdMembership(tx, row.workspace_id);
    const { workspace_id, removed } = await lockTrashed(tx, recordingId);
    await restore(tx, commandLine(workspace_id), recordingId, removed);
  });
}

/** Permanently deletes a recording in the trash of any workspace, for the operator. */
export async function purgeAny(deps: DeletionDeps, recordingId: string): Promise<Receipt> {
  const removed = await deps.db.kysely.transaction().execute(async (tx) => {
    const { workspace_id } = await lockTrashed(tx, recordingId);
    await refuseHeld(tx, recordingId);
    return removeRecording(tx, commandLine(workspace_id), recordingId);
  });
  return removeFiles(deps, recordingId, removed);
}

async function lockTrashed(tx: Tx, recordingId: string) {
  const trashed = await lockAnyTrashed(tx, recordingId);
  if (trashed === undefined)
    throw new ProblemError(
      "not_found",
      `there is no recording ${recordingId} in the trash; see parley trash list`,
    );
  return trashed;
}
