import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { changeMembership } from "../../access/grants.ts";
import { findMappingIssuers, revokeMapped } from "./mapped-access.ts";
import { lockAccount } from "./queries.ts";

/** The single sign-on identities of a user, the oldest first. */
export function findIdentities(db: Executor, userId: string) {
  return db
    .selectFrom("identities")
    .select(["issuer", "created_at"])
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("issuer")
    .execute();
}

/**
 * Unlinks a user's single sign-on identities and revokes the teams and role that their groups there gave. Users can't remove their own only way to sign in; an admin who unlinks
 * someone else can give them a link to set a password.
 * @throws ProblemError `not_found`; `wrong_state` for one's own account without a password.
 */
export async function unbindSingleSignOn(tx: Tx, actor: AuditActor, userId: string): Promise<void> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockAccount(tx, actor.workspaceId, userId);
  if (account === undefined)
    throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
  if (account.id === actor.userId && !(await hasPassword(tx, account.id)))
    throw new ProblemError("wrong_state", because("last_sign_in_method"));
  await revokeMapped(tx, actor, account, await findMappingIssuers(tx, account.id));
  const gone = await tx
    .deleteFrom("identities")
    .where("user_id", "=", account.id)
    .returning("issuer")
    .execute();
  if (gone.length > 0)
    await recordAudit(tx, actor, {
      action: "single_sign_on_unbound",
      subject: { type: "user", id: account.id },
    });
}

async function hasPassword(tx: Tx, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("users")
    .select("id")
    .where("id", "=", userId)
    .where("password_hash", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}
