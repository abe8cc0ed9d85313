import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import type { AuditActor } from "../../../platform/audit/record.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { ruleRefusal } from "../../access/security-rules.ts";
import { ruledToken, ruledTokenColumns, type TokenRow } from "./queries.ts";

/** A grant with its user, locked against concurrent changes. */
export interface LockedGrant {
  readonly id: string;
  readonly client_id: string;
  readonly user_id: string;
  readonly email_key: string;
  readonly workspace_id: string;
}

/**
 * Why the rules of the workspace refuse tokens to an app, in words; null: they don't.
 * @param since when the user authorized the app.
 */
export async function grantRefusal(
  tx: Tx,
  grant: LockedGrant,
  since: Date,
  ip: string,
): Promise<string | null> {
  const { rows } = await sql<RuledGrant>`
    select u.id as user_id, u.role, ${sql.raw(ruledTokenColumns("now()"))}
    from users u join workspaces w on w.id = u.workspace_id
    where u.id = ${grant.user_id}`.execute(tx);
  const [row] = rows;
  if (row === undefined) return null;
  const refusal = ruleRefusal(row.security_rules, ruledToken({ ...row, since }, ip));
  return refusal && because(`rule_${refusal}`).detail;
}

type RuledGrant = Parameters<typeof ruledToken>[0] & Pick<TokenRow, "security_rules">;

/**
 * Locks a grant until the end of the transaction, so that concurrent code exchanges, refreshes and revocations run one
 * after the other. Every change to a grant or its tokens takes this lock before any other, which prevents deadlocks.
 * @returns undefined when the grant has been revoked or its user deactivated.
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
 * Revokes all tokens of one code. A grant without codes and tokens is deleted too, so that the user is asked for consent
 * again. The caller has locked the grant.
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

/** Revokes an app's access to a user's account: all its tokens and codes for that user end at once. */
export async function revokeGrant(tx: Tx, grantId: string): Promise<void> {
  await tx.deleteFrom("oauth_grants").where("id", "=", grantId).execute();
}

/**
 * Revokes the access of all apps to a user's account when it is deactivated. Deactivate the account first in the same
 * transaction: a concurrent consent then either sees the deactivation or is revoked with the rest.
 * @returns how many apps lost their access.
 */
export async function revokeGrantsOfUser(tx: Tx, userId: string): Promise<number> {
  // Locked in one order everywhere, to avoid deadlocks.
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

/**
 * Revokes the access of all self-registered apps to accounts of a workspace. Turn them off first in the same transaction: a
 * concurrent consent then either sees that or is revoked with the rest.
 */
export async function revokeSelfRegisteredApps(tx: Tx, workspaceId: string): Promise<void> {
  await sql`
    delete from oauth_grants where id in (
      select g.id from oauth_grants g
      join oauth_clients c on c.id = g.client_id and c.workspace_id is null
      join users u on u.id = g.user_id and u.workspace_id = ${workspaceId}
      order by g.id for update of g)`.execute(tx);
}

/** Client details of a request to the token endpoint. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string;
}

/** The user an app acts for, as the audit log names them. */
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

/** Revokes a token family because its code or a refresh token was reused, and records that in the audit log. */
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
