import { because } from "../../../../contract/causes/causes.ts";
import type { Principal, Role } from "../../../platform/auth/principal.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Executor } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { findRules, hasProvenEnough, requiresSecondFactor } from "../../access/security-rules.ts";
import { findProof } from "../sign-in/sessions.ts";
import { findIdentities } from "./identities.ts";

/**
 * Refuses to change the callers' own ways to prove who they are where a second factor is required and their session hasn't
 * proven the one that they have: a password alone would otherwise be enough to add another one, or to remove theirs first.
 * @throws ProblemError `wrong_state`
 */
export async function refuseUnproven(
  db: Executor,
  { workspaceId, userId, role, tokenId }: Principal,
  providers: readonly SignInProvider[],
): Promise<void> {
  const rules = await findRules(db, workspaceId);
  if (!requiresSecondFactor(rules, role)) return;
  const session = await findProof(db, tokenId);
  if (session !== undefined && hasProvenEnough(session)) return;
  const passkey = await db
    .selectFrom("passkeys")
    .select("id")
    .where("user_id", "=", userId)
    .limit(1)
    .executeTakeFirst();
  const identities = await findIdentities(db, userId);
  if (
    passkey !== undefined ||
    identities.some(({ issuer }) => findProviderOf(providers, issuer) !== undefined)
  )
    throw new ProblemError("wrong_state", because("second_factor_unproven"));
}

/**
 * Whether the single sign-on of a user is what `refuseUnproven` asks for, so that a reset of the second factor has to unlink
 * it. Not where passwords sign nobody in: there is nothing to protect from them, and only the provider lets the user in.
 */
export function isSignOnAFactor(
  rules: StoredRules | null,
  { role, hasPassword }: { readonly role: Role; readonly hasPassword: boolean },
): boolean {
  return hasPassword && requiresSecondFactor(rules, role) && rules?.single_sign_on_only !== true;
}
