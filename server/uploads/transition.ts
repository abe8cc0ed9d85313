import type { Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFields } from "./present.ts";
import { compareAndSetStatus, type UploadRow } from "./queries.ts";
import { automaticEvent, nextStatus, type UploadEvent, type UploadState } from "./state.ts";

/** Contract, rule 3: "Each status change and each attribute edit sends an upload_updated hook." */
export async function recordUploadUpdated(tx: Tx, row: UploadRow): Promise<void> {
  await record(tx, {
    workspaceId: row.workspace_id,
    type: "upload_updated",
    subjectId: row.id,
    data: uploadFields(row),
  });
}

/**
 * Lets an event happen to an upload, and whatever follows by itself. The only writer of `status`: each step is a
 * compare-and-set with its outbox row and follow-up job in the caller's transaction.
 * @returns the row after the last step.
 * @throws Error when the event may not happen in this state; callers check first what a client may ask for.
 */
export async function transition(
  tx: Tx,
  jobs: JobQueue,
  row: UploadRow,
  event: UploadEvent,
  also: { recordingId?: string; failureReason?: string } = {},
): Promise<UploadRow> {
  const to = nextStatus(stateOf(row), event);
  if (to === null) throw new Error(`upload ${row.id} in ${row.status} can't take ${event}`);
  const changed = await compareAndSetStatus(tx, row.id, row.status, to, also);
  if (changed === undefined) throw new Error(`upload ${row.id} left ${row.status} before ${event}`);
  await recordUploadUpdated(tx, changed);
  if (changed.status === "promoting") await jobs.enqueue(tx, "promote_upload", { uploadId: row.id }, row.id);
  return advance(tx, jobs, changed);
}

/** Lets happen what happens by itself. */
export async function advance(tx: Tx, jobs: JobQueue, row: UploadRow): Promise<UploadRow> {
  const event = automaticEvent(stateOf(row));
  return event === null ? row : transition(tx, jobs, row, event);
}

/** What of a row decides where it may go. */
export function stateOf(row: UploadRow): UploadState {
  return { status: row.status, mediaType: row.media_type, autoPromote: row.auto_promote };
}
