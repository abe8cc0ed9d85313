import { because } from "../../../contract/causes/causes.ts";
import { holdMembership, syncGrants } from "../../people/access/grants.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { resumeLinks } from "../public-link-records/suspend.ts";
import { announceRecording } from "../recordings/announce.ts";
import { lockHighlightsOf } from "../recordings/delete/queries.ts";
import { returnToStories } from "../recordings/delete/remove-from-stories.ts";
import { hasRight, rightMissing } from "../recordings/rights.ts";
import { restoreImports } from "./imports.ts";
import { deleteTrashed, lockTrashed, type TrashedRow } from "./queries.ts";

/**
 * Restores a recording for everyone who may see it now, with its links and its places in stories. To hooks it is a new
 * recording with the id of the old one. The sweep renders the clips of its links again.
 */
export async function restoreRecording(
  db: Database,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<{ success: true }> {
  await db.kysely.transaction().execute(async (tx) => {
    // Before the recording, as every change that computes grants does.
    await holdMembership(tx, principal.workspaceId);
    const { removed } = await lockForRestoring(tx, principal, recordingId, "restore it");
    await restore(tx, actor, recordingId, removed);
  });
  return { success: true };
}

/** Restores a recording in the trash, which the caller has locked. */
export async function restore(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  removed: TrashedRow["removed"],
): Promise<void> {
  const { workspaceId } = actor;
  const highlightIds = await lockHighlightsOf(tx, recordingId);
  await deleteTrashed(tx, recordingId);
  await syncGrants(tx, [recordingId]);
  await resumeLinks(tx, { id: recordingId, workspaceId }, removed.links);
  await announceRecording(tx, { id: recordingId, workspaceId });
  for (const id of highlightIds)
    await recordEvent(tx, {
      workspaceId,
      type: "highlight_added",
      subjectId: id,
      recordingId,
      data: { id, recording_id: recordingId },
    });
  await returnToStories(tx, removed.positions);
  await restoreImports(tx, recordingId, removed.imports ?? []);
  await recordAudit(tx, actor, {
    action: "recording_restored",
    subject: { type: "recording", id: recordingId },
  });
}

/**
 * Locks a recording in the trash for a principal who could have deleted it.
 * @param action completes "only … may" in the error.
 */
export async function lockForRestoring(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  action: string,
): Promise<TrashedRow> {
  const trashed = await lockTrashed(tx, principal, recordingId);
  if (trashed?.is_visible !== true)
    throw new ProblemError("not_found", because("not_in_trash", { id: recordingId }));
  if (!hasRight(principal, "delete", trashed)) throw rightMissing("delete", action);
  return trashed;
}
