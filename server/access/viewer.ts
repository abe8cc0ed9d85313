import type pg from "pg";
import type { Principal } from "../platform/auth/principal.ts";

/**
 * The viewer a file URL is issued to: a user, or the workspace for its tokens. The URL contains it, and each request checks
 * that this viewer still sees the recording.
 */
export function viewerOf({
  scope,
  userId,
  workspaceId,
}: Pick<Principal, "scope" | "userId" | "workspaceId">) {
  return scope === "workspace" ? workspaceId : userId;
}

/** Whether a viewer sees a recording now; a deactivated user sees none. */
export async function viewerSees(pool: pg.Pool, viewerId: string, recordingId: string): Promise<boolean> {
  const { rows } = await pool.query({
    name: "viewer_sees",
    text: `select 1 from recording_grants g
      where g.recording_id = $2 and g.principal_id = any(
        array(select w.id from workspaces w where w.id = $1) || (
          select parley_principals(u.id, w.members_id)
          from users u join workspaces w on w.id = u.workspace_id
          where u.id = $1 and u.deactivated_at is null))
      limit 1`,
    values: [viewerId, recordingId],
  });
  return rows.length > 0;
}
