import type { z } from "zod";
import type { DeletionReceipt } from "../../../contract/recording-management.ts";
import { type AuditActor, recordAudit } from "../../audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { isBackupRunning } from "../../platform/db/backup-lock.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { record } from "../../platform/events/record.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { recordingsPrefix, uploadsPrefix } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { lockForChange } from "../rights.ts";
import {
  deleteJobsOf,
  deleteRecordingRows,
  deleteUploadsOf,
  findAudience,
  isHeld,
  lockHighlightsOf,
} from "./queries.ts";
import { removeFromStories } from "./remove-from-stories.ts";

/** Counts of what was removed with a recording. */
export type Receipt = z.output<typeof DeletionReceipt>;

/**
 * Deletes the events of a recording and suppresses their webhook deliveries; `subjectIds` are the recording, its highlights
 * and its uploads. Passed in, because webhooks import recordings.
 */
export type DeleteEvents = (
  tx: Tx,
  recordingId: string,
  subjectIds: readonly string[],
) => Promise<{ readonly events: number; readonly deliveries: number }>;

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly deleteEvents: DeleteEvents;
  /** Called when files could not be removed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Deletes a recording and everything that belongs to it. One transaction deletes its rows, its past events and its
 * pending deliveries, and records `highlight_deleted` for each highlight and `recording_deleted` for the users who could
 * see it. The files are removed afterwards; if the process is killed in between, the orphan sweep removes them.
 */
export async function deleteRecording(
  { db, store, deleteEvents, onError }: Dependencies,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<Receipt> {
  const removed = await db.kysely.transaction().execute(async (tx) => {
    await lockForChange(tx, principal, recordingId, "delete it");
    if (await isHeld(tx, recordingId))
      throw new ProblemError(
        "wrong_state",
        "the recording is under legal hold; ask an admin to release the hold first",
      );
    return removeRecording(tx, actor, recordingId, deleteEvents);
  });
  return removeFiles({ db, store, onError }, recordingId, removed);
}

/** Counts of the deleted rows, and the uploads whose files are still to be removed. */
export type RemovedRows = Omit<Receipt["removed"], "uploads" | "objects"> & {
  readonly uploadIds: readonly string[];
};

/** Deletes the rows of a recording of the actor's workspace, which the caller has locked, and records the events. */
export async function removeRecording(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  deleteEvents: DeleteEvents,
): Promise<RemovedRows> {
  const { workspaceId } = actor;
  const audience = await findAudience(tx, recordingId);
  const highlightIds = await lockHighlightsOf(tx, recordingId);
  await removeFromStories(tx, highlightIds);
  const uploadIds = await deleteUploadsOf(tx, recordingId);
  const events = await deleteEvents(tx, recordingId, [recordingId, ...highlightIds, ...uploadIds]);
  const deleted = await deleteRecordingRows(tx, recordingId);
  await deleteJobsOf(tx, [recordingId, ...uploadIds]);
  // Before their recording, so that receivers that only store highlights learn of the deletion too.
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
  return { ...deleted, ...events, uploadIds };
}

/**
 * Removes the files of a recording whose rows are deleted. While a backup runs, the orphan sweep removes them after it.
 * @returns the receipt for rows and files.
 */
export async function removeFiles(
  { db, store, onError }: Pick<Dependencies, "db" | "store" | "onError">,
  recordingId: string,
  { uploadIds, ...rows }: RemovedRows,
): Promise<Receipt> {
  const files = (await isBackupRunning(db.pool))
    ? { removed: 0, isComplete: false }
    : await removeObjects(store, recordingId, uploadIds, onError);
  return {
    id: recordingId,
    deleted_datetime: new Date().toISOString(),
    removed: { ...rows, uploads: uploadIds.length, objects: files.removed },
    is_complete: files.isComplete,
  };
}

/** Removes all objects of these ids. Errors of the store are reported but not thrown, because the rows are already gone. */
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

/** Lists all keys before any is removed, because removing changes the listing. */
async function keysOf(objects: AsyncIterable<{ readonly key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of objects) keys.push(key);
  return keys;
}
