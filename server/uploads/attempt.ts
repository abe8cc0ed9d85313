import type { Database } from "../db/database.ts";
import type { UploadRow } from "./queries.ts";
import { beginAttempt, noteFailedAttempt, type WorkStatus } from "./work-queries.ts";

/**
 * Runs a job's attempt to move an upload on from a status, and keeps count of it: `tendLingering` gives up what many
 * attempts have not moved. Nothing runs when the upload has left the status.
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
    // Only for the log of whoever gives the upload up; the queue writes this error down in full.
    await noteFailedAttempt(db.kysely, uploadId, status, kindOf(error)).catch(() => {});
    throw error;
  }
}

/** The system's or the database's code, or the name of the error. */
function kindOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? error).slice(0, 100);
}
