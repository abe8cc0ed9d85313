import { because } from "../../../../contract/causes/causes.ts";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { revokeGrant } from "../../accounts/tokens/oauth-grants.ts";
import type { GrantOwner } from "./management-queries.ts";

/** A grant to change or revoke. */
interface ManagedGrant {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly client_name: string;
  /** The workspace that registered the app; null for an app that registered itself. */
  readonly client_workspace_id: string | null;
}

/** Locks a grant of a user, or of any user of a workspace, against concurrent changes. @throws ProblemError `not_found`. */
export async function lockManagedGrant(tx: Tx, by: GrantOwner, grantId: string): Promise<ManagedGrant> {
  const grant = await tx
    .selectFrom("oauth_grants as g")
    .innerJoin("users as u", "u.id", "g.user_id")
    .innerJoin("oauth_clients as c", "c.id", "g.client_id")
    .select(["g.id", "g.user_id", "g.client_id", "c.name as client_name"])
    .select("c.workspace_id as client_workspace_id")
    .where("g.id", "=", grantId)
    .where((eb) =>
      "userId" in by ? eb("g.user_id", "=", by.userId) : eb("u.workspace_id", "=", by.workspaceId),
    )
    .forUpdate("g")
    .executeTakeFirst();
  if (grant === undefined) throw new ProblemError("not_found", `there is no authorized app ${grantId}`);
  return grant;
}

/**
 * Changes how a self-registered app reads and names things for one user.
 * @throws ProblemError `wrong_state` for an app that an admin registered: its own settings apply to all its users.
 */
export async function updateManagedGrant(
  tx: Tx,
  actor: AuditActor,
  grant: ManagedGrant,
  changes: { datetime_filters?: DatetimeFilters | undefined; compatibility?: Compatibility | undefined },
): Promise<void> {
  if (grant.client_workspace_id !== null)
    throw new ProblemError("wrong_state", because("app_registered_by_admin", { app: grant.client_name }));
  const changed = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (changed.length === 0) return;
  await tx.updateTable("oauth_grants").set(changes).where("id", "=", grant.id).execute();
  await recordAudit(tx, actor, {
    action: "oauth_access_changed",
    subject: { type: "oauth_client", id: grant.client_id },
    details: { grant_id: grant.id, user_id: grant.user_id, changed },
  });
}

/** Revokes an app's access to a user's account. */
export async function revokeManagedGrant(tx: Tx, actor: AuditActor, grant: ManagedGrant): Promise<void> {
  await revokeGrant(tx, grant.id);
  await recordAudit(tx, actor, {
    action: "oauth_access_revoked",
    subject: { type: "oauth_client", id: grant.client_id },
    details: { grant_id: grant.id, user_id: grant.user_id },
  });
}
