import type { Executor } from "../db/database.ts";

/** Who sees new recordings of a workspace by its own setting; null: it leaves that to the server's. */
export async function findShareStateOfNew(
  db: Executor,
  workspaceId: string,
): Promise<"restricted" | "workspace" | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("new_recording_share_state")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return row.new_recording_share_state as "restricted" | "workspace" | null;
}
