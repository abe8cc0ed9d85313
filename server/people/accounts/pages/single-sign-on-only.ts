import type { Executor } from "../../../platform/db/database.ts";
import { findRules } from "../../access/security-rules.ts";
import { claimKeyOfEmail, findDomainOwner } from "../workspaces/email-domains.ts";

/**
 * Whether a sign-in page should offer single sign-on alone, by what says nothing about accounts: the rule of the server's only
 * workspace, or of the workspace that owns the domain of the email that was entered.
 */
export async function asksForSingleSignOn(db: Executor, email: string): Promise<boolean> {
  const some = await db.selectFrom("workspaces").select("security_rules").limit(2).execute();
  const [only] = some;
  if (some.length === 1 && only !== undefined) return only.security_rules?.single_sign_on_only === true;
  if (!email.includes("@")) return false;
  const owner = await findDomainOwner(db, claimKeyOfEmail(email));
  return owner !== undefined && (await findRules(db, owner.workspace_id))?.single_sign_on_only === true;
}
