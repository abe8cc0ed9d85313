import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, commandLine, recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { AccountError, readDomain } from "../service.ts";
import { lookUpTxt } from "./dns-proof.ts";
import {
  completeClaim,
  type DomainClaim,
  deleteClaim,
  dnsRecordOf,
  findClaim,
  findClaims,
  findDomainOwner,
  insertClaim,
  maxClaims,
  toClaimKey,
} from "./email-domains.ts";

/**
 * Starts a claim by DNS, or returns the one there is.
 * @throws ProblemError `invalid_input` for an invalid domain; `wrong_state` at the limit of claims.
 */
export async function startClaim(tx: Tx, actor: AuditActor, text: string): Promise<DomainClaim> {
  const domain = readClaimable(text);
  const { workspaceId } = actor;
  const claims = await findClaims(tx, workspaceId);
  const existing = claims.find((claim) => claim.domain === domain);
  if (existing !== undefined) return existing;
  if (claims.length >= maxClaims)
    throw new ProblemError("wrong_state", because("domain_claim_limit", { limit: maxClaims }));
  await insertClaim(tx, workspaceId, domain);
  return knownClaim(tx, workspaceId, domain);
}

/**
 * Looks up the DNS record of a claim and completes it. The lookup holds no transaction.
 * @param servers DNS servers to ask; none: those of the system.
 * @throws ProblemError `not_found`; `wrong_state` when the record is missing or another workspace owns the domain;
 * `unavailable` when no DNS server responds.
 */
export async function verifyClaim(
  db: Database,
  actor: AuditActor,
  text: string,
  servers: readonly string[],
): Promise<DomainClaim> {
  const { workspaceId } = actor;
  const domain = toClaimKey(text);
  const claim = await knownClaim(db.kysely, workspaceId, domain);
  if (claim.claimed_at !== null) return claim;
  const record = dnsRecordOf(claim);
  const proof = await lookUpTxt(record, servers);
  if (proof === "unreachable") throw new ProblemError("unavailable", because("dns_timeout"));
  if (proof === "missing")
    throw new ProblemError(
      "wrong_state",
      because("txt_record_missing", { name: record.name, value: record.value }),
    );
  return db.kysely.transaction().execute(async (tx) => {
    // Someone may have deleted the claim during the lookup.
    await knownClaim(tx, workspaceId, domain);
    if (!(await completeClaim(tx, workspaceId, domain, "dns")))
      throw new ProblemError("wrong_state", because("domain_owned", { domain }));
    await recordAudit(tx, actor, claimed(domain, "dns", workspaceId));
    return knownClaim(tx, workspaceId, domain);
  });
}

/** @throws ProblemError `not_found`. */
export async function releaseClaim(tx: Tx, actor: AuditActor, text: string): Promise<void> {
  const domain = toClaimKey(text);
  if (!(await deleteClaim(tx, actor.workspaceId, domain)))
    throw new ProblemError(
      "not_found",
      `this workspace does not claim ${domain}; see List Email Domain Claims`,
    );
  await recordAudit(tx, actor, {
    action: "email_domain_released",
    subject: { type: "workspace", id: actor.workspaceId },
    details: { domain },
  });
}

/**
 * Claims a domain on the operator's word, without a proof.
 * @returns the domain as claims write it.
 * @throws AccountError when the domain is invalid, or another workspace owns it.
 */
export async function claimByOperator(tx: Tx, workspaceId: string, text: string): Promise<string> {
  const domain = toClaimKey(readDomain(text));
  await insertClaim(tx, workspaceId, domain);
  if (!(await completeClaim(tx, workspaceId, domain, "operator"))) {
    const owner = await findDomainOwner(tx, domain);
    throw new AccountError(
      `${domain} is claimed by the workspace ${owner?.workspace_id} (${owner?.workspace_name}); release it first with: parley domain release --domain ${domain} --workspace ${owner?.workspace_id}`,
    );
  }
  await recordAudit(tx, commandLine(workspaceId), claimed(domain, "operator", workspaceId));
  return domain;
}

/**
 * Claims a domain that the operator named when creating a workspace. If the operator has named it for another workspace
 * before, the workspaces evidently share it, so none of them owns it; a claim by command or by DNS stays.
 * @returns whether the new workspace owns it.
 */
export async function claimAtCreation(tx: Tx, workspaceId: string, text: string): Promise<boolean> {
  const domain = toClaimKey(readDomain(text));
  const sharing = await tx
    .updateTable("email_domain_claims")
    .set({ claimed_at: null })
    .where("domain", "=", domain)
    .where("workspace_id", "!=", workspaceId)
    .where("claimed_by", "=", "workspace_create")
    .returning("workspace_id")
    .execute();
  await insertClaim(tx, workspaceId, domain, "workspace_create");
  if (sharing.length > 0 || !(await completeClaim(tx, workspaceId, domain, "workspace_create"))) return false;
  await recordAudit(tx, commandLine(workspaceId), claimed(domain, "operator", workspaceId));
  return true;
}

function claimed(domain: string, by: "operator" | "dns", workspaceId: string) {
  return {
    action: "email_domain_claimed",
    subject: { type: "workspace", id: workspaceId },
    details: { domain, by },
  } as const;
}

/** A domain with at least one dot: nobody can prove a whole top-level domain. */
function readClaimable(text: string): string {
  try {
    const domain = toClaimKey(readDomain(text));
    if (domain.includes(".")) return domain;
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
  }
  throw invalidInput([{ pointer: "/domain", detail: "is not an email domain such as example.com" }]);
}

async function knownClaim(db: Executor, workspaceId: string, domain: string): Promise<DomainClaim> {
  const claim = await findClaim(db, workspaceId, domain);
  if (claim === undefined)
    throw new ProblemError(
      "not_found",
      `this workspace does not claim ${domain}; see List Email Domain Claims`,
    );
  return claim;
}
