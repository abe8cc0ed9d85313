import { randomBytes } from "node:crypto";
import { domainToASCII } from "node:url";
import type { Executor, Tx } from "../../../platform/db/database.ts";

/** How a domain came to belong to its workspace. */
export type ClaimedBy = "workspace_create" | "operator" | "dns";

export interface DomainClaim {
  readonly workspace_id: string;
  readonly domain: string;
  readonly token: string;
  readonly claimed_by: ClaimedBy | null;
  readonly claimed_at: Date | null;
}

/** More than a company has; bounds what a workspace can store. */
export const maxClaims = 100;

/**
 * A domain in the one form in which claims are compared: ASCII, lower case, without a trailing dot, so that two spellings
 * of one mailbox cannot belong to two workspaces.
 */
export function toClaimKey(domain: string): string {
  const bare = domain.trim().replace(/\.$/, "");
  return domainToASCII(bare) || bare.toLowerCase();
}

/** The domain of an email, as claims write it. */
export function claimKeyOfEmail(email: string): string {
  return toClaimKey(email.slice(email.lastIndexOf("@") + 1));
}

/** The DNS record that proves control of a claimed domain. */
export function dnsRecordOf(claim: Pick<DomainClaim, "domain" | "token">) {
  return {
    type: "TXT" as const,
    name: `_parley-verification.${claim.domain}`,
    value: `parley-verification=${claim.token}`,
  };
}

/** The workspace that owns a domain; undefined when no workspace has claimed it. */
export async function findDomainOwner(
  db: Executor,
  domain: string,
): Promise<{ workspace_id: string; workspace_name: string } | undefined> {
  return db
    .selectFrom("email_domain_claims as c")
    .innerJoin("workspaces as w", "w.id", "c.workspace_id")
    .select(["c.workspace_id", "w.name as workspace_name"])
    .where("c.domain", "=", domain)
    .where("c.claimed_at", "is not", null)
    .executeTakeFirst();
}

/** Whether another workspace owns the domain of an account's email. */
export async function isOutsideItsDomain(
  tx: Tx,
  account: { readonly workspace_id: string; readonly email_key: string },
): Promise<boolean> {
  const owner = await findDomainOwner(tx, claimKeyOfEmail(account.email_key));
  return owner !== undefined && owner.workspace_id !== account.workspace_id;
}

/** Claims by domain: those of one workspace, or completed claims of all. */
export async function findClaims(db: Executor, workspaceId?: string): Promise<DomainClaim[]> {
  const rows = await db
    .selectFrom("email_domain_claims")
    .select(["workspace_id", "domain", "token", "claimed_by", "claimed_at"])
    .$if(workspaceId !== undefined, (query) => query.where("workspace_id", "=", workspaceId ?? ""))
    .$if(workspaceId === undefined, (query) => query.where("claimed_at", "is not", null))
    .orderBy("domain")
    .execute();
  return rows as DomainClaim[];
}

export async function findClaim(
  db: Executor,
  workspaceId: string,
  domain: string,
): Promise<DomainClaim | undefined> {
  const row = await db
    .selectFrom("email_domain_claims")
    .select(["workspace_id", "domain", "token", "claimed_by", "claimed_at"])
    .where("workspace_id", "=", workspaceId)
    .where("domain", "=", domain)
    .executeTakeFirst();
  return row as DomainClaim | undefined;
}

/** Inserts a pending claim, unless the workspace has one for the domain. @returns whether it was inserted. */
export async function insertClaim(
  tx: Tx,
  workspaceId: string,
  domain: string,
  by: "workspace_create" | null = null,
): Promise<boolean> {
  const inserted = await tx
    .insertInto("email_domain_claims")
    .values({ workspace_id: workspaceId, domain, token: randomBytes(16).toString("hex"), claimed_by: by })
    .onConflict((conflict) => conflict.doNothing())
    .returning("domain")
    .executeTakeFirst();
  return inserted !== undefined;
}

/**
 * Makes the domain the workspace's own, if no other workspace owns it. Of two that try at once, the unique index lets one
 * succeed.
 * @returns false when another workspace owns it.
 */
export async function completeClaim(
  tx: Tx,
  workspaceId: string,
  domain: string,
  by: ClaimedBy,
): Promise<boolean> {
  const owner = await tx
    .selectFrom("email_domain_claims")
    .select("workspace_id")
    .where("domain", "=", domain)
    .where("claimed_at", "is not", null)
    .forUpdate()
    .executeTakeFirst();
  if (owner !== undefined) return owner.workspace_id === workspaceId;
  await tx
    .updateTable("email_domain_claims")
    .set({ claimed_by: by, claimed_at: new Date() })
    .where("workspace_id", "=", workspaceId)
    .where("domain", "=", domain)
    .execute();
  return true;
}

/** @returns whether there was such a claim. */
export async function deleteClaim(tx: Tx, workspaceId: string, domain: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom("email_domain_claims")
    .where("workspace_id", "=", workspaceId)
    .where("domain", "=", domain)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

/** Accounts with an email in the domain that other workspaces have, for the operator to know about. */
export function findAccountsElsewhere(db: Executor, workspaceId: string, domain: string) {
  return db
    .selectFrom("users as u")
    .innerJoin("workspaces as w", "w.id", "u.workspace_id")
    .select(["u.email", "u.email_proven_at", "w.name as workspace_name"])
    .where("u.workspace_id", "!=", workspaceId)
    .where("u.email_key", "like", `%@${domain.replace(/[\\%_]/g, "\\$&")}`)
    .orderBy("u.email_key")
    .limit(1000)
    .execute();
}
