import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { changeMembership } from "../../access/grants.ts";
import { type MailDependencies, tell } from "../one-time-links/account-changes.ts";
import { findMappingIssuers, revokeMapped } from "./mapped-access.ts";
import { lockAccount } from "./queries.ts";
import { refuseLastWay } from "./ways-to-sign-in.ts";

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

/** The names of issuers as emails show them. */
export function nameProviders(providers: readonly SignInProvider[], issuers: readonly string[]): string[] {
  return issuers.map((issuer) => findProviderOf(providers, issuer)?.name ?? issuer);
}

/**
 * Unlinks a user from providers of single sign-on, revokes the teams and role that their groups there gave, and ends the
 * sessions that they began, except the one of the request. Users can't remove their own last way to sign in; an admin who
 * unlinks someone else can give them a link to set a password. The user receives an email about it.
 * @param given what is unlinked: one issuer, or all; `mail` null: no email.
 * @returns the issuers that were unlinked.
 * @throws ProblemError `not_found`; `wrong_state` for the last way to sign in to one's own account.
 */
export async function unbindSingleSignOn(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  given: {
    readonly issuer?: string | undefined;
    readonly providers: readonly SignInProvider[];
    readonly mail: MailDependencies | null;
  },
): Promise<readonly string[]> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockAccount(tx, actor.workspaceId, userId);
  if (account === undefined)
    throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
  const linked = (await findIdentities(tx, account.id)).map(({ issuer }) => issuer);
  const issuers = given.issuer === undefined ? linked : linked.filter((issuer) => issuer === given.issuer);
  if (account.id === actor.userId)
    await refuseLastWay(tx, account, { issuers: [...issuers] }, given.providers);
  const mapping = await findMappingIssuers(tx, account.id);
  await revokeMapped(
    tx,
    actor,
    account,
    given.issuer === undefined ? mapping : mapping.filter((issuer) => issuers.includes(issuer)),
  );
  if (issuers.length === 0) return [];
  await tx
    .deleteFrom("identities")
    .where("user_id", "=", account.id)
    .where("issuer", "in", issuers)
    .execute();
  const ended = await tx
    .deleteFrom("sessions")
    .where("user_id", "=", account.id)
    .where("sign_in_issuer", "in", issuers)
    .$if(actor.credential === "session" && actor.credentialId !== null, (query) =>
      query.where("id", "!=", actor.credentialId ?? ""),
    )
    .executeTakeFirst();
  await recordAudit(tx, actor, {
    action: "single_sign_on_unbound",
    subject: { type: "user", id: account.id },
    details: { issuers, ended_sessions: Number(ended.numDeletedRows) },
  });
  await tell(tx, given.mail, account.id, "single_sign_on_unbound", nameProviders(given.providers, issuers));
  return issuers;
}
