import { issuerKey } from "../../../platform/config/shared-issuers.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { findRules } from "../../access/security-rules.ts";
import { findMappingIssuers } from "./mapped-access.ts";

/**
 * Whether users may connect an issuer themselves: not where the workspace allows single sign-on only, nor while their groups
 * at another one give teams or a role. They could otherwise keep by the new one what the first one takes away.
 */
export async function mayConnect(
  db: Executor,
  user: { readonly id: string; readonly workspace_id: string },
  issuer: string,
  providers: readonly SignInProvider[],
): Promise<boolean> {
  const rules = await findRules(db, user.workspace_id);
  if (rules?.single_sign_on_only === true) return false;
  const mapping = await findMappingIssuers(db, user.id);
  return mapping.every(
    (one) => issuerKey(one) === issuerKey(issuer) || findProviderOf(providers, one) === undefined,
  );
}
