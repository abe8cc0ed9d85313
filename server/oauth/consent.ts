import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { Principal } from "../access/principal.ts";
import { hashToken } from "../accounts/access-tokens.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database, Executor } from "../db/database.ts";
import type { AuthorizeRequest } from "./authorize-request.ts";
import { generateSecret } from "./secrets.ts";

/** How long a code is good: it goes through the browser's address bar, and the app exchanges it at once. */
export const codeTtlSec = 60;

/**
 * Lets an app in for a person, and makes the code that the app exchanges for tokens.
 * @returns null when the app or the person went away meanwhile.
 */
export async function grantAccess(
  db: Database,
  actor: AuditActor,
  principal: Principal,
  request: AuthorizeRequest,
): Promise<string | null> {
  return db.kysely.transaction().execute(async (tx) => {
    // Both are held, so that neither is deleted or deactivated while this goes on.
    const client = await tx
      .selectFrom("oauth_clients")
      .select("id")
      .where("id", "=", request.client.id)
      .where("workspace_id", "=", principal.workspaceId)
      .forKeyShare()
      .executeTakeFirst();
    const user = await tx
      .selectFrom("users")
      .select("id")
      .where("id", "=", principal.userId)
      .where("deactivated_at", "is", null)
      .forShare()
      .executeTakeFirst();
    if (client === undefined || user === undefined) return null;
    const grant = await tx
      .insertInto("oauth_grants")
      .values({ id: randomUUIDv7(), client_id: client.id, user_id: user.id })
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
        expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${codeTtlSec})`,
      })
      .execute();
    await recordAudit(tx, actor, {
      action: "oauth_access_granted",
      subject: { type: "oauth_client", id: client.id },
      details: { grant_id: grant.id },
    });
    return code;
  });
}

/** Writes down that a person did not let an app in. */
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

/** Whether a person has let an app in before and not taken it back. */
export async function hasGrant(db: Executor, clientId: string, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom("oauth_grants")
    .select("id")
    .where("client_id", "=", clientId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return found !== undefined;
}

/** The name of a workspace, for people to read. */
export async function findWorkspaceName(db: Executor, workspaceId: string): Promise<string> {
  const { name } = await db
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return name;
}
