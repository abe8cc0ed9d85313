import type { Tx } from "../../../platform/db/database.ts";
import { refusedByRule, ruleRefusal } from "../../access/security-rules.ts";
import type { Proof } from "./sessions.ts";

/**
 * Refuses a sign-in whose session the rules of the workspace would refuse. One that lacks only the second factor begins:
 * its user can set it up, and nothing else once the grace period is over.
 * @throws ProblemError `refused_by_rule`.
 */
export async function refuseByRules(tx: Tx, userId: string, proof: Proof, ip: string): Promise<void> {
  const user = await tx
    .selectFrom("users as u")
    .innerJoin("workspaces as w", "w.id", "u.workspace_id")
    .select(["u.role", "u.created_at", "w.security_rules"])
    .where("u.id", "=", userId)
    .executeTakeFirstOrThrow();
  const now = new Date();
  const hasSecondFactor = proof.secondFactor !== undefined;
  const refusal = ruleRefusal(
    user.security_rules,
    {
      userId,
      role: user.role,
      userSince: user.created_at,
      ip,
      since: now,
      session: { method: proof.method, hasSecondFactor, lastUsedAt: now },
      userHasSecondFactor: hasSecondFactor,
    },
    now,
  );
  if (refusal !== null && refusal !== "second_factor") throw refusedByRule(refusal);
}
