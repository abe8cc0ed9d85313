import { sql } from "kysely";
import type { AuditActor } from "../audit/record.ts";
import { recordAudit } from "../audit/record.ts";
import type { Tx } from "../db/database.ts";

/** A grant with the person it belongs to, held against every other change of it. */
export interface LockedGrant {
  readonly id: string;
  readonly client_id: string;
  readonly user_id: string;
  readonly email_key: string;
  readonly workspace_id: string;
}

/**
 * Holds a grant until the end of the transaction: of a code, a refresh token and a revocation at the same moment, one
 * comes first. Every change below a grant takes this lock before any other, so none waits in a circle.
 * @returns undefined when it has been revoked, or the person may not sign in any more.
 */
export async function lockGrant(tx: Tx, id: string): Promise<LockedGrant | undefined> {
  return tx
    .selectFrom("oauth_grants as g")
    .innerJoin("users as u", "u.id", "g.user_id")
    .select(["g.id", "g.client_id", "g.user_id", "u.email_key", "u.workspace_id"])
    .where("g.id", "=", id)
    .where("u.deactivated_at", "is", null)
    .forUpdate("g")
    .executeTakeFirst();
}

/**
 * Revokes all tokens that came of one code. A grant of which nothing is left goes as well: the person is asked anew.
 * The caller holds the grant.
 */
export async function endFamily(tx: Tx, grantId: string, familyId: string): Promise<void> {
  await tx.deleteFrom("oauth_families").where("id", "=", familyId).execute();
  await sql`
    delete from oauth_grants g where g.id = ${grantId}
      and not exists (select 1 from oauth_families f where f.grant_id = g.id)
      and not exists (select 1 from oauth_codes c
                      where c.grant_id = g.id and c.used_at is null and c.expires_at > clock_timestamp())`.execute(
    tx,
  );
}

/** Takes back what a person let an app do: all its tokens and codes for that person end at once. */
export async function revokeGrant(tx: Tx, grantId: string): Promise<void> {
  await tx.deleteFrom("oauth_grants").where("id", "=", grantId).execute();
}

/**
 * Takes back all that a person let apps do, for when the account is deactivated. Deactivate it first in the same
 * transaction: a consent given at the same moment then either sees that or is taken back with the rest.
 * @returns how many apps lost their access.
 */
export async function revokeGrantsOfUser(tx: Tx, userId: string): Promise<number> {
  // Several, so in one order for everybody.
  await tx
    .selectFrom("oauth_grants")
    .select("id")
    .where("user_id", "=", userId)
    .orderBy("id")
    .forUpdate()
    .execute();
  const result = await tx.deleteFrom("oauth_grants").where("user_id", "=", userId).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Where a request to the token endpoint comes from. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string;
}

/** The person an app acts for, as the audit log names them. */
export function actorOfGrant(grant: LockedGrant, tokenId: string | null, origin: Origin): AuditActor {
  return {
    workspaceId: grant.workspace_id,
    userId: grant.user_id,
    userEmail: grant.email_key,
    credential: "oauth",
    credentialId: tokenId,
    ...origin,
  };
}

/** Revokes a family because something of it was used twice, and writes that down. */
export async function endReusedFamily(
  tx: Tx,
  grant: LockedGrant,
  familyId: string,
  what: "code" | "refresh_token",
  origin: Origin,
): Promise<void> {
  await endFamily(tx, grant.id, familyId);
  await recordAudit(tx, actorOfGrant(grant, null, origin), {
    action: "oauth_reuse_detected",
    subject: { type: "oauth_client", id: grant.client_id },
    details: { reused: what, grant_id: grant.id, family_id: familyId },
  });
}
