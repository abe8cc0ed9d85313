import { because } from "../../../../contract/causes/causes.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { findRules, isBreakGlass } from "../../access/security-rules.ts";

/** What a user is about to remove. */
export type RemovedWay = { readonly issuers: readonly string[] } | { readonly passkeyId: string };

/** Whether a user can still sign in without something, by the rules of the workspace and the providers of the settings. */
export async function canSignInWithout(
  db: Executor,
  user: { readonly id: string; readonly workspace_id: string },
  removed: RemovedWay,
  providers: readonly SignInProvider[],
): Promise<boolean> {
  const issuers = "issuers" in removed ? removed.issuers : [];
  const passkeyId = "passkeyId" in removed ? removed.passkeyId : null;
  const identities = await db
    .selectFrom("identities")
    .select("issuer")
    .where("user_id", "=", user.id)
    .execute();
  const isLeft = ({ issuer }: { issuer: string }) =>
    !issuers.includes(issuer) && findProviderOf(providers, issuer) !== undefined;
  if (identities.some(isLeft)) return true;
  const rules = await findRules(db, user.workspace_id);
  if (rules?.single_sign_on_only === true && !isBreakGlass(rules, user.id)) return false;
  const own = await db
    .selectFrom("users as u")
    .select((of) => [
      "u.password_hash",
      of
        .exists(
          of
            .selectFrom("passkeys as p")
            .select("p.id")
            .whereRef("p.user_id", "=", "u.id")
            .$if(passkeyId !== null, (query) => query.where("p.id", "!=", passkeyId ?? "")),
        )
        .as("has_passkey"),
    ])
    .where("u.id", "=", user.id)
    .executeTakeFirstOrThrow();
  return own.password_hash !== null || own.has_passkey === true;
}

/** @throws ProblemError `wrong_state` when users would remove their own last way to sign in. */
export async function refuseLastWay(...[db, user, removed, providers]: Parameters<typeof canSignInWithout>) {
  if (!(await canSignInWithout(db, user, removed, providers)))
    throw new ProblemError("wrong_state", because("last_sign_in_method"));
}
