import { fileCause } from "../../../../contract/causes/files.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { nextStatus } from "./state.ts";
import { stateOf, transition } from "./transition.ts";

/**
 * Fails an upload whose job an admin has discarded, in the transaction that removes the job: without it, the sweep of
 * uploads without jobs would add the job again.
 * @returns the failed upload, whose file is to be removed; null when it has ended already.
 */
export async function failDiscardedUpload(
  tx: Tx,
  jobs: JobQueue,
  uploadId: string,
): Promise<UploadRow | null> {
  const row = await lockUploadById(tx, uploadId);
  if (row === undefined || nextStatus(stateOf(row), "job_discarded") === null) return null;
  return transition(tx, jobs, row, "job_discarded", {
    failureReason:
      "The server could not process this upload, and an admin stopped further attempts. The file may not be the cause: send it again.",
    failureCauses: [fileCause("stopped_by_admin", {})],
  });
}
