import type { z } from "zod";
import type { DeletionReceipt } from "../../../../contract/recordings/recording-management.ts";
import { deleteEvents } from "../../../people/events/delete.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import { isBackupRunning } from "../../../platform/db/backup-lock.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { recordingsPrefix, uploadsPrefix } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import {
  deleteJobsOf,
  deleteRecordingRows,
  deleteUploadsOf,
  findAudience,
  isInTrash,
  lockHighlightsOf,
} from "./queries.ts";
import { removeFromStories } from "./remove-from-stories.ts";

/** Counts of what was removed with a recording. */
export type Receipt = z.output<typeof DeletionReceipt>;

interface FileRemoval {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Called when files could not be removed. */
  readonly onError: (error: unknown) => void;
}

/** Counts of the deleted rows, and the uploads whose files are still to be removed. */
export type RemovedRows = Omit<Receipt["removed"], "uploads" | "objects"> & {
  readonly uploadIds: readonly string[];
};

/**
 * Deletes a recording of the actor's workspace, which the caller has locked, and everything that belongs to it: its rows,
 * its past events and its pending deliveries. Records the deletion, unless moving it to the trash did. The caller removes
 * the files afterwards; if the process is killed in between, the orphan sweep removes them.
 */
export async function removeRecording(tx: Tx, actor: AuditActor, recordingId: string): Promise<RemovedRows> {
  const isTrashed = await isInTrash(tx, recordingId);
  const audience = await findAudience(tx, recordingId);
  const highlightIds = await lockHighlightsOf(tx, recordingId);
  await removeFromStories(tx, highlightIds);
  const uploadIds = await deleteUploadsOf(tx, recordingId);
  const events = isTrashed
    ? { events: 0, deliveries: 0 }
    : await deleteEvents(tx, recordingId, [recordingId, ...highlightIds, ...uploadIds]);
  const deleted = await deleteRecordingRows(tx, recordingId);
  await deleteJobsOf(tx, [recordingId, ...uploadIds]);
  if (!isTrashed) await recordDeletion(tx, actor, recordingId, { highlightIds, audience });
  await recordAudit(tx, actor, {
    action: isTrashed ? "recording_purged" : "recording_deleted",
    subject: { type: "recording", id: recordingId },
  });
  return { ...deleted, ...events, uploadIds };
}

/** Records `highlight_deleted` for each highlight and `recording_deleted`, for the users who could see the recording. */
export async function recordDeletion(
  tx: Tx,
  { workspaceId }: Pick<AuditActor, "workspaceId">,
  recordingId: string,
  {
    highlightIds,
    audience,
  }: { readonly highlightIds: readonly string[]; readonly audience: readonly string[] },
): Promise<void> {
  // Before their recording, so that receivers that only store highlights learn of the deletion too.
  for (const id of highlightIds) {
    await recordEvent(tx, {
      workspaceId,
      type: "highlight_deleted",
      subjectId: id,
      recordingId,
      audience,
      data: { id, recording_id: recordingId },
    });
  }
  await recordEvent(tx, {
    workspaceId,
    type: "recording_deleted",
    subjectId: recordingId,
    audience,
    data: { id: recordingId },
  });
}

/**
 * Removes the files of a recording whose rows are deleted.
 * @returns the receipt for rows and files.
 */
export async function removeFiles(
  removal: FileRemoval,
  recordingId: string,
  { uploadIds, ...rows }: RemovedRows,
): Promise<Receipt> {
  const files = await removeObjects(removal, [`${recordingsPrefix}${recordingId}/`], uploadIds);
  return {
    id: recordingId,
    deleted_datetime: new Date().toISOString(),
    removed: { ...rows, uploads: uploadIds.length, objects: files.removed },
    is_complete: files.isComplete,
  };
}

/**
 * Removes all objects below these prefixes and of these uploads. While a backup runs, the orphan sweep removes them after
 * it. Errors of the store are reported but not thrown, because the rows are already gone.
 */
export async function removeObjects(
  { db, store, onError }: FileRemoval,
  prefixes: readonly string[],
  uploadIds: readonly string[],
): Promise<{ removed: number; isComplete: boolean }> {
  if (await isBackupRunning(db.pool)) return { removed: 0, isComplete: false };
  let removed = 0;
  try {
    const uploads = uploadIds.map((id) => `${uploadsPrefix}${id}/`);
    for (const prefix of [...prefixes, ...uploads]) {
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

/** Lists all keys before any is removed, because removing changes the listing. */
async function keysOf(objects: AsyncIterable<{ readonly key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of objects) keys.push(key);
  return keys;
}
