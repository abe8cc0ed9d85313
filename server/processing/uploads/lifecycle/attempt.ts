import type { Database } from "../../../platform/db/database.ts";
import type { UploadRow } from "../queries.ts";
import { beginAttempt, noteFailedAttempt, type WorkStatus } from "./work-queries.ts";

/**
 * Runs a job's attempt to move an upload out of a status, and counts it: `failStuckUploads` fails uploads that many
 * attempts have not moved. Does nothing when the upload has left the status.
 */
export async function attempt(
  db: Database,
  uploadId: string,
  status: WorkStatus,
  work: (upload: UploadRow) => Promise<void>,
): Promise<void> {
  const upload = await beginAttempt(db.kysely, uploadId, status);
  if (upload === undefined) return;
  try {
    await work(upload);
  } catch (error) {
    // Only for the log entry when the upload is failed; the queue logs this error in full.
    await noteFailedAttempt(db.kysely, uploadId, status, kindOf(error)).catch(() => {});
    throw error;
  }
}

/** The error code of the system or the database, or the error's name. */
function kindOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? error).slice(0, 100);
}
