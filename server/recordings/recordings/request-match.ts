import type { Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";

/**
 * Requests that the meeting of a recording is found, in the transaction that creates the recording or changes its start. Where
 * nobody has a calendar there is nothing to find.
 * @param changedBy the user who changed the start, whose calendars alone may decide then.
 */
export async function requestMeetingMatch(
  tx: Tx,
  jobs: JobQueue,
  { id: recordingId, workspaceId }: { readonly id: string; readonly workspaceId: string },
  changedBy?: string,
): Promise<void> {
  const calendar = await tx
    .selectFrom("calendars")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .limit(1)
    .modifyEnd(prepared)
    .executeTakeFirst();
  if (calendar === undefined) return;
  await jobs.enqueue(
    tx,
    "match_meeting",
    { recordingId, ...(changedBy === undefined ? {} : { changedBy }) },
    recordingId,
  );
}
