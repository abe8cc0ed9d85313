import type { z } from "zod";
import type { DeletionReceipt } from "../../contract/recording-management.ts";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { record } from "../events/record.ts";
import { recordingsPrefix, uploadsPrefix } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { removeFromStories } from "../stories/remove-highlights.ts";
import {
  deleteJobsOf,
  deleteRecordingRows,
  deleteUploadsOf,
  findAudience,
  forgetEvents,
  lockHighlightsOf,
} from "./delete-queries.ts";
import { lockForChange } from "./rights.ts";

/** What was removed of a recording. */
export type Receipt = z.output<typeof DeletionReceipt>;

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Told when files could not be removed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Removes a recording and everything that belongs to it: one transaction takes the rows, what was recorded of it
 * before and what would still be sent, and leaves `highlight_deleted` for each highlight and `recording_deleted` for those
 * who could see it; then the files go.
 * Killed in between, the sweep of orphans (uploads/orphans.ts) removes those.
 */
export async function deleteRecording(
  { db, store, onError }: Dependencies,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<Receipt> {
  const { uploadIds, ...rows } = await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockForChange(tx, principal, recordingId, "delete it");
    const audience = await findAudience(tx, recordingId);
    const highlightIds = await lockHighlightsOf(tx, recordingId);
    await removeFromStories(tx, highlightIds);
    const uploadIds = await deleteUploadsOf(tx, recordingId);
    const forgotten = await forgetEvents(tx, recordingId, [recordingId, ...highlightIds, ...uploadIds]);
    const deleted = await deleteRecordingRows(tx, recordingId);
    await deleteJobsOf(tx, [recordingId, ...uploadIds]);
    const workspaceId = recording.workspace_id;
    // Before their recording: whoever keeps copies of highlights alone has to hear of it too.
    for (const id of highlightIds) {
      await record(tx, {
        workspaceId,
        type: "highlight_deleted",
        subjectId: id,
        recordingId,
        audience,
        data: { id, recording_id: recordingId },
      });
    }
    await record(tx, {
      workspaceId,
      type: "recording_deleted",
      subjectId: recordingId,
      audience,
      data: { id: recordingId },
    });
    await recordAudit(tx, actor, {
      action: "recording_deleted",
      subject: { type: "recording", id: recordingId },
    });
    return { ...deleted, ...forgotten, uploadIds };
  });
  const files = await removeObjects(store, recordingId, uploadIds, onError);
  return {
    id: recordingId,
    deleted_datetime: new Date().toISOString(),
    removed: { ...rows, uploads: uploadIds.length, objects: files.removed },
    is_complete: files.isComplete,
  };
}

/** Removes what lies below the ids. The recording is gone by then, so a store that fails is no reason to fail. */
async function removeObjects(
  store: ObjectStore,
  recordingId: string,
  uploadIds: readonly string[],
  onError: (error: unknown) => void,
): Promise<{ removed: number; isComplete: boolean }> {
  let removed = 0;
  try {
    const uploads = uploadIds.map((id) => `${uploadsPrefix}${id}/`);
    for (const prefix of [`${recordingsPrefix}${recordingId}/`, ...uploads]) {
      for (const key of await keysOf(store.list(prefix))) {
        await store.delete(key);
        removed += 1;
      }
    }
    for (const prefix of uploads)
      for (const key of await keysOf(store.listAppends(prefix))) await store.dropAppend(key);
    return { removed, isComplete: true };
  } catch (error) {
    onError(error);
    return { removed, isComplete: false };
  }
}

/** All of them first, since what is listed is removed. */
async function keysOf(objects: AsyncIterable<{ readonly key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of objects) keys.push(key);
  return keys;
}
