import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { CompatibilityDefaults } from "../../../platform/config/config.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { holdMembership } from "../../access/grants.ts";
import { hashToken } from "../../accounts/tokens/access-tokens.ts";
import { mayCreateCredential } from "../../accounts/tokens/credential-check.ts";
import { clientIdOf, isSelfRegistered } from "../clients/queries.ts";
import { generateSecret } from "../clients/secrets.ts";
import type { AuthorizeRequest } from "./request.ts";

/** A code expires quickly: it passes through the browser's address bar, and the app exchanges it at once. */
export const codeTtlSec = 60;

/** The session that decides. */
interface Caller {
  readonly principal: Principal;
  readonly ip: string;
  readonly acceptsIssuer: (issuer: string) => boolean;
}

/**
 * Grants an app access to a user's account, and creates the code that the app exchanges for tokens.
 * @param defaults how a self-registered app reads and names things until the user chooses otherwise. An app that the user has
 * authorized before keeps the user's choice.
 * @returns null when the app was deleted, the user deactivated or the session ended in the meantime.
 */
export async function grantAccess(
  db: Database,
  actor: AuditActor,
  { principal, ip, acceptsIssuer }: Caller,
  request: AuthorizeRequest,
  defaults: CompatibilityDefaults,
): Promise<string | null> {
  return db.kysely.transaction().execute(async (tx) => {
    // Both are locked, so that neither is deleted or deactivated before the commit.
    const client = await tx
      .selectFrom("oauth_clients")
      .select(["id", "workspace_id"])
      .where("id", "=", request.client.id)
      .where((eb) => eb.or([eb("workspace_id", "=", principal.workspaceId), eb("workspace_id", "is", null)]))
      .forKeyShare()
      .executeTakeFirst();
    if (client === undefined) return null;
    await holdMembership(tx, principal.workspaceId);
    if (isSelfRegistered(client) && !(await allowsSelfRegistered(tx, principal.workspaceId))) return null;
    const user = await tx
      .selectFrom("users")
      .select("id")
      .where("id", "=", principal.userId)
      .where("deactivated_at", "is", null)
      .forShare()
      .executeTakeFirst();
    if (user === undefined || !(await mayCreateCredential(tx, { principal, ip }, acceptsIssuer))) return null;
    const grant = await tx
      .insertInto("oauth_grants")
      .values({
        id: randomUUIDv7(),
        client_id: client.id,
        user_id: user.id,
        ...(isSelfRegistered(client)
          ? { datetime_filters: defaults.datetimeFilters, compatibility: defaults.compatibility }
          : {}),
      })
      .onConflict((conflict) =>
        conflict
          .columns(["client_id", "user_id"])
          .doUpdateSet({ last_used_at: sql`greatest(oauth_grants.last_used_at, clock_timestamp())` }),
      )
      .returning("id")
      .executeTakeFirstOrThrow();
    const code = generateSecret("code");
    await tx
      .insertInto("oauth_codes")
      .values({
        hash: hashToken(code),
        grant_id: grant.id,
        redirect_uri: request.redirectUri,
        code_challenge: request.codeChallenge,
        resource: request.resource,
        expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${codeTtlSec})`,
      })
      .execute();
    await recordAudit(tx, actor, {
      action: "oauth_access_granted",
      subject: { type: "oauth_client", id: client.id },
      details: {
        grant_id: grant.id,
        ...(isSelfRegistered(client) ? { self_registered: clientIdOf(request.client) } : {}),
      },
    });
    return code;
  });
}

/**
 * Whether users of a workspace may authorize apps that registered themselves. In a transaction the setting stays as it is
 * until the end, so that turning it off also revokes what was granted meanwhile.
 */
export async function allowsSelfRegistered(db: Executor, workspaceId: string): Promise<boolean> {
  const { self_registered_apps: isAllowed } = await db
    .selectFrom("workspaces")
    .select("self_registered_apps")
    .where("id", "=", workspaceId)
    .forShare()
    .executeTakeFirstOrThrow();
  return isAllowed;
}

/** Records in the audit log that a user denied an app access. */
export async function refuseAccess(
  db: Database,
  actor: AuditActor,
  request: AuthorizeRequest,
): Promise<void> {
  await db.kysely.transaction().execute((tx) =>
    recordAudit(tx, actor, {
      action: "oauth_access_refused",
      subject: { type: "oauth_client", id: request.client.id },
    }),
  );
}

/** Whether a user has authorized an app before and not revoked it. */
export async function hasGrant(db: Executor, clientId: string, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom("oauth_grants")
    .select("id")
    .where("client_id", "=", clientId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return found !== undefined;
}

export async function findWorkspaceName(db: Executor, workspaceId: string): Promise<string> {
  const { name } = await db
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return name;
}
