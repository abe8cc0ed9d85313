import type { RuleRefusal } from "../../../../contract/accounts/security.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { ruleRefusal } from "../../access/security-rules.ts";
import type { Proof } from "./sessions.ts";

/** A sign-in that the rules of the workspace refuse, though the user proved who they are. */
export class RefusedSignIn extends ProblemError {
  readonly userId: string;
  readonly method: Proof["method"];
  readonly rule: RuleRefusal;

  constructor(userId: string, method: Proof["method"], rule: RuleRefusal) {
    super("refused_by_rule", because(`rule_${rule}`));
    this.userId = userId;
    this.method = method;
    this.rule = rule;
  }
}

/**
 * Refuses a sign-in whose session the rules of the workspace would refuse. One that lacks only the second factor begins:
 * its user can set it up, and nothing else once the grace period is over.
 * @throws RefusedSignIn
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
  if (refusal !== null && refusal !== "second_factor") throw new RefusedSignIn(userId, proof.method, refusal);
}

/**
 * Runs the transaction of a sign-in. One that the rules refuse is undone, and recorded in the audit log of the workspace.
 * @param useUp what stays used although the sign-in was refused, such as the code that proved it.
 */
export async function recordRefusal<T>(
  db: Database,
  from: { readonly ip: string; readonly userAgent: string },
  run: () => Promise<T>,
  useUp: (tx: Tx) => Promise<unknown> = () => Promise.resolve(),
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof RefusedSignIn)) throw error;
    await db.kysely.transaction().execute(async (tx) => {
      await useUp(tx);
      const user = await tx
        .selectFrom("users")
        .select(["id", "workspace_id", "email_key"])
        .where("id", "=", error.userId)
        .executeTakeFirst();
      // An account that single sign-on would have created is not there any more.
      if (user === undefined) return;
      await recordAudit(
        tx,
        {
          ...{ workspaceId: user.workspace_id, userId: user.id, userEmail: user.email_key },
          ...{ credential: null, credentialId: null, ip: from.ip, userAgent: from.userAgent },
        },
        { action: "sign_in_failed", details: { method: error.method, refused_by: error.rule } },
      );
    });
    throw error;
  }
}
