import type { Tx } from "../../../platform/db/database.ts";
import { actorFor, type SignInUser } from "../sign-in/sign-in.ts";
import { type AppliedGroups, applyGroups } from "./apply-groups.ts";
import { type MatchOptions, matchIdentity } from "./match-identity.ts";
import type { ProvenIdentity } from "./single-sign-on.ts";

/**
 * Everything that a sign-in does before its session begins: finds or creates the account, and brings its teams and role in
 * line with the user's groups. A test of a provider does the same and takes it back.
 * @throws SingleSignOnError with a message for the user.
 */
export async function acceptIdentity(
  tx: Tx,
  identity: ProvenIdentity,
  options: MatchOptions,
): Promise<{ user: SignInUser; groups: AppliedGroups }> {
  const user = await matchIdentity(tx, identity, options);
  const actor = { ...actorFor(user), ...options.from, credential: null, credentialId: null };
  const groups = await applyGroups(tx, user, { ...options, identity, actor });
  return { user, groups };
}
