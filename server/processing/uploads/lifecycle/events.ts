import { recordEvent } from "../../../people/events/record-event.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { UploadRow } from "../queries.ts";

/** Who receives an upload's events: its creator, or the workspace alone if it was created with a workspace token. */
function audienceOf(row: UploadRow): string[] {
  return row.scope === "personal" ? [row.created_by] : [];
}

/** The fields that every view of an upload has, and the data of its events. */
export function uploadFields(row: UploadRow) {
  return {
    id: row.id,
    media_type: row.media_type,
    title: row.title,
    status: row.status,
    auto_promote: row.auto_promote,
    recording_id: row.status === "success" ? row.recording_id : null,
    created_datetime: row.created_at.toISOString(),
    updated_datetime: row.updated_at.toISOString(),
  };
}

/** Reports a new upload. */
export async function recordUploadAdded(tx: Tx, row: UploadRow): Promise<void> {
  await recordEvent(tx, {
    workspaceId: row.workspace_id,
    audience: audienceOf(row),
    type: "upload_added",
    subjectId: row.id,
    data: uploadFields(row),
  });
}

/** Contract, rule 3: "Each status change and each attribute edit sends an upload_updated hook." */
export async function recordUploadUpdated(tx: Tx, row: UploadRow): Promise<void> {
  await recordEvent(tx, {
    workspaceId: row.workspace_id,
    audience: audienceOf(row),
    type: "upload_updated",
    subjectId: row.id,
    data: uploadFields(row),
  });
  if (row.one_step) await recordUploadStatus(tx, row);
}

/** The message of an upload_status event; statuses that pass at once have none. */
const messages: Partial<Record<UploadRow["status"], string>> = {
  awaiting: "Waiting for the file.",
  processing: "The file has arrived and is being checked.",
  promoting: "The recording is being made.",
  success: "The recording is ready.",
};

/** The progress in percent when an upload enters a status; promoting continues from there to 100. */
const progressAt: Partial<Record<UploadRow["status"], number>> = {
  awaiting: 0,
  processing: 10,
  promoting: 20,
  success: 100,
};

/**
 * Reports the progress of an upload created by the older operation. Source: contract.md, Upload Recording: the service
 * "posts progress, the resulting recording_id and errors to the client's upload_status hooks".
 * @param done the completed share of `promoting`, from 0 to 1.
 */
export async function recordUploadStatus(tx: Tx, row: UploadRow, done = 0): Promise<void> {
  const { status } = row;
  const message = status === "failure" ? row.failure_reason : messages[status];
  if (message === undefined || message === null) return;
  const from = progressAt[status] ?? 0;
  await recordEvent(tx, {
    workspaceId: row.workspace_id,
    audience: audienceOf(row),
    type: "upload_status",
    subjectId: row.id,
    data: {
      uuid: row.id,
      status,
      message,
      progress: status === "promoting" ? Math.floor(from + done * (100 - from)) : from,
      recording_id: status === "success" ? row.recording_id : null,
      error: status === "failure" ? message : null,
    },
  });
}
