import type { Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { audienceOf } from "./present.ts";
import type { UploadRow } from "./queries.ts";

/** What an upload_status event says in words; statuses that last no time are not told. */
const messages: Partial<Record<UploadRow["status"], string>> = {
  awaiting: "Waiting for the file.",
  processing: "The file has arrived and is being checked.",
  promoting: "The recording is being made.",
  success: "The recording is ready.",
};

/** How far an upload is when it enters a status, in percent; promoting goes on from there to 100. */
const progressAt: Partial<Record<UploadRow["status"], number>> = {
  awaiting: 0,
  processing: 10,
  promoting: 20,
  success: 100,
};

/**
 * Reports the progress of an upload of the older operation. Source: contract.md, Upload Recording: the service
 * "posts progress, the resulting recording_id and errors to the client's upload_status hooks".
 * @param done what part of `promoting` is done, from 0 to 1.
 */
export async function recordUploadStatus(tx: Tx, row: UploadRow, done = 0): Promise<void> {
  const { status } = row;
  const message = status === "failure" ? row.failure_reason : messages[status];
  if (message === undefined || message === null) return;
  const from = progressAt[status] ?? 0;
  await record(tx, {
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
