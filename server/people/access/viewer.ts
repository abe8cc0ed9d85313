import type pg from "pg";
import type { Principal } from "../../platform/auth/principal.ts";
import { coalesce } from "../../platform/coalesce.ts";
import { addressRefusal } from "./security-rules.ts";

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

/** A viewer and a recording. */
export interface View {
  readonly viewerId: string;
  readonly recordingId: string;
  /** Where the file is requested from; left out: from the server itself. */
  readonly ip?: string;
}

/**
 * For each view, whether the viewer sees the recording now; a deactivated user sees none, and no one from an IP address that
 * the viewer's workspace doesn't allow.
 */
export async function viewersSee(pool: pg.Pool, views: readonly View[]): Promise<boolean[]> {
  const { rows } = await pool.query<{ sees: boolean; allowed_addresses: string[] | null }>({
    name: "viewers_see",
    text: `select exists (
        select 1 from recording_grants g
        where g.recording_id = v.recording_id and g.principal_id = any(
          array(select w.id from workspaces w where w.id = v.viewer_id) || (
            select parley_principals(u.id, w.members_id)
            from users u join workspaces w on w.id = u.workspace_id
            where u.id = v.viewer_id and u.deactivated_at is null))) as sees,
        (select w.security_rules -> 'allowed_addresses' from workspaces w where w.security_rules is not null
          and w.id in (v.viewer_id, (select u.workspace_id from users u where u.id = v.viewer_id))) as allowed_addresses
      from unnest($1::uuid[], $2::uuid[]) with ordinality v (viewer_id, recording_id, position)
      order by v.position`,
    values: [views.map(({ viewerId }) => viewerId), views.map(({ recordingId }) => recordingId)],
  });
  return rows.map(({ sees, allowed_addresses }, index) => {
    const rules = allowed_addresses === null ? null : { allowed_addresses };
    return sees && addressRefusal(rules, views[index]?.ip ?? null) === null;
  });
}

/** @returns a check of a view that shares its statement with concurrent ones. */
export function createViewCheck(pool: pg.Pool): (view: View) => Promise<boolean> {
  return coalesce((views: readonly View[]) => viewersSee(pool, views), { concurrency: 1, maxItems: 1000 });
}
