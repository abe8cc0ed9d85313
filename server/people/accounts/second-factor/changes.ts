import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { changeMembership } from "../../access/grants.ts";
import { findRules, isBreakGlass } from "../../access/security-rules.ts";
import { type MailDependencies, tell } from "../one-time-links/account-changes.ts";
import { deleteSecondFactor } from "../sign-in/second-factor.ts";
import { endSessions } from "../sign-in/sessions.ts";
import { nameProviders, unbindSingleSignOn } from "../users/identities.ts";
import { isSignOnAFactor } from "../users/refuse-unproven.ts";

/**
 * Turns a user's second factor off for them, removes their passkeys, and ends their sessions. Where single sign-on counts as
 * the second factor, it is unlinked too: a password alone would otherwise set up no other one. They receive an email about it.
 * @param mail null: no email, as with commands of the operator.
 * @throws ProblemError `wrong_state` if there is nothing to reset, and for the break-glass admin.
 */
export async function resetSecondFactor(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  {
    mail,
    providers,
  }: { readonly mail: MailDependencies | null; readonly providers: readonly SignInProvider[] },
): Promise<void> {
  // Locks the rules too.
  await changeMembership(tx, actor.workspaceId);
  const rules = await findRules(tx, actor.workspaceId);
  if (isBreakGlass(rules, userId))
    throw new ProblemError("wrong_state", because("break_glass_needs_second_factor"));
  // As a sign-in, which locks the account before its second factor.
  const user = await tx
    .selectFrom("users")
    .select(["role", "password_hash"])
    .where("id", "=", userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const unlinked = isSignOnAFactor(rules, { role: user.role, hasPassword: user.password_hash !== null })
    ? await unbindSingleSignOn(tx, actor, userId, { providers, mail: null })
    : [];
  const wasOn = await deleteSecondFactor(tx, userId);
  const removed = await tx.deleteFrom("passkeys").where("user_id", "=", userId).executeTakeFirst();
  const passkeys = Number(removed.numDeletedRows);
  if (!wasOn && passkeys === 0 && unlinked.length === 0)
    throw new ProblemError("wrong_state", because("no_second_factor_to_reset"));
  await endSessions(tx, userId);
  await recordAudit(tx, actor, {
    action: "second_factor_reset",
    subject: { type: "user", id: userId },
    ...(passkeys === 0 ? {} : { details: { passkeys } }),
  });
  await tell(tx, mail, userId, "second_factor_reset", nameProviders(providers, unlinked));
}
