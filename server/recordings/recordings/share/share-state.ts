import type { Executor } from "../../../platform/db/database.ts";
import { prepared } from "../../../platform/db/prepared.ts";

/** The workspace's default share_state for new recordings; null: the server's default. */
export async function findShareStateOfNew(
  db: Executor,
  workspaceId: string,
): Promise<"restricted" | "workspace" | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("new_recording_share_state")
    .where("id", "=", workspaceId)
    .modifyEnd(prepared)
    .executeTakeFirstOrThrow();
  return row.new_recording_share_state as "restricted" | "workspace" | null;
}
