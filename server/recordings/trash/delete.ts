import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import type { deleteRecording as operation } from "../../../contract/recordings/recording-management.ts";
import { syncGrants } from "../../people/access/grants.ts";
import { deleteEvents } from "../../people/events/delete.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { suspendLinks } from "../public-link-records/suspend.ts";
import {
  type Receipt,
  type RemovedRows,
  recordDeletion,
  removeFiles,
  removeObjects,
  removeRecording,
} from "../recordings/delete/delete.ts";
import { deleteUploadsOf, findAudience, isHeld, lockHighlightsOf } from "../recordings/delete/queries.ts";
import { removeFromStories } from "../recordings/delete/remove-from-stories.ts";
import { lockFor } from "../recordings/rights.ts";
import { findImports } from "./imports.ts";
import { findTrashDays, insertTrashed } from "./queries.ts";

/** What deleting needs. */
export interface DeletionDeps {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Called when files could not be removed; the orphan sweep removes them. */
  readonly onError: (error: unknown) => void;
}

type Deletion = z.output<typeof operation.response>;

/**
 * Deletes a recording: moves it to the trash, or removes it permanently if the workspace has none. Both end all access and
 * record the same events.
 */
export async function deleteRecording(
  deps: DeletionDeps,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<Deletion> {
  const deleted = await deps.db.kysely.transaction().execute(async (tx) => {
    await lockFor(tx, principal, recordingId, "delete");
    await refuseHeld(tx, recordingId);
    const days = await findTrashDays(tx, actor.workspaceId);
    return days === 0
      ? { purgeAt: null, removed: await removeRecording(tx, actor, recordingId) }
      : moveToTrash(tx, actor, recordingId, days);
  });
  if (deleted.purgeAt === null)
    return { ...(await removeFiles(deps, recordingId, deleted.removed)), purge_datetime: null };
  const { uploadIds, ...rows } = deleted.removed;
  const { removed: objects } = await removeObjects(deps, [], uploadIds);
  return {
    id: recordingId,
    deleted_datetime: new Date().toISOString(),
    removed: { ...rows, uploads: uploadIds.length, objects },
    is_complete: false,
    purge_datetime: deleted.purgeAt.toISOString(),
  };
}

/** Deletes a recording permanently at once, whether or not the workspace has a trash. */
export async function deletePermanently(
  deps: DeletionDeps,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<Receipt> {
  const removed = await deps.db.kysely.transaction().execute(async (tx) => {
    await lockFor(tx, principal, recordingId, "delete");
    await refuseHeld(tx, recordingId);
    return removeRecording(tx, actor, recordingId);
  });
  return removeFiles(deps, recordingId, removed);
}

/** @throws ProblemError `wrong_state` for a recording on legal hold, which the caller has locked. */
export async function refuseHeld(tx: Tx, recordingId: string): Promise<void> {
  if (await isHeld(tx, recordingId)) throw new ProblemError("wrong_state", because("legal_hold"));
}

/**
 * Ends all access to a recording, which the caller has locked, by removing what gives it: grants, public links and
 * positions in stories. No read needs to know about the trash. Its upload and events are deleted, as readers expect.
 */
async function moveToTrash(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  days: number,
): Promise<{ readonly purgeAt: Date; readonly removed: RemovedRows }> {
  const audience = await findAudience(tx, recordingId);
  const highlightIds = await lockHighlightsOf(tx, recordingId);
  const positions = await removeFromStories(tx, highlightIds);
  const links = await suspendLinks(tx, recordingId);
  const imports = await findImports(tx, recordingId);
  const uploadIds = await deleteUploadsOf(tx, recordingId);
  const events = await deleteEvents(tx, recordingId, [recordingId, ...highlightIds, ...uploadIds]);
  await tx.deleteFrom("pending_announcements").where("recording_id", "=", recordingId).execute();
  await recordDeletion(tx, actor, recordingId, { highlightIds, audience });
  await recordAudit(tx, actor, {
    action: "recording_deleted",
    subject: { type: "recording", id: recordingId },
  });
  const purgeAt = await insertTrashed(tx, {
    workspaceId: actor.workspaceId,
    recordingId,
    trashedBy: actor.credential === "workspace_access_token" ? null : actor.userId,
    principals: audience,
    removed: { links, positions, imports },
    days,
  });
  await syncGrants(tx, [recordingId]);
  return { purgeAt, removed: { ...noRows, ...events, uploadIds } };
}

const noRows: Omit<Receipt["removed"], "uploads" | "objects" | "events" | "deliveries"> = {
  recordings: 0,
  participants: 0,
  transcript_segments: 0,
  highlights: 0,
  private_notes: 0,
  transcript_edits: 0,
};
