import { sql } from "kysely";
import { changeMembership } from "../access/grants.ts";
import type { Role } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Tx } from "../db/database.ts";
import { findTeam } from "../directory/queries.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { type EndedAccess, endAccess, revokeTokens } from "./end-access.ts";
import { enqueueMail } from "./mailer.ts";
import { invitationMail, passwordResetMail } from "./mails.ts";
import { invitationTtlMs, makeLink, resetByAdminTtlMs } from "./one-time-links.ts";
import { findWorkspaceName, hasOtherAdmin, type LockedAccount, lockAccount } from "./people-queries.ts";
import { AccountError, createUser } from "./service.ts";

/** What making a link needs. `mail` is null where SMTP is not set up. */
export interface LinkDependencies {
  readonly baseUrl: string;
  readonly mail: { readonly jobs: JobQueue; readonly sealer: Sealer } | null;
}

/** A one-time link as its maker gets it. */
export interface MadeLink {
  readonly url: string;
  readonly expiresAt: Date;
  readonly mailed: boolean;
}

/** Makes an account and the link by which the person takes it. */
export async function inviteUser(
  tx: Tx,
  actor: AuditActor,
  deps: LinkDependencies,
  input: { email: string; name: string; role: Role; teamIds: readonly string[]; inviter: string },
): Promise<{ id: string; link: MadeLink }> {
  const { workspaceId } = actor;
  const { id } = await createUser(tx, { workspaceId, ...input }).catch((error: unknown) => {
    if (error instanceof AccountError) throw invalidInput([{ pointer: "/email", detail: error.message }]);
    throw error;
  });
  await tx.updateTable("users").set({ invited_at: sql`now()` }).where("id", "=", id).execute();
  for (const [index, teamId] of input.teamIds.entries()) {
    if (!(await findTeam(tx, workspaceId, teamId)))
      throw invalidInput([{ pointer: `/team_ids/${index}`, detail: "is no team of this workspace" }]);
    await tx
      .insertInto("team_members")
      .values({ team_id: teamId, user_id: id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  await recordAudit(tx, actor, {
    action: "user_invited",
    subject: { type: "user", id },
    details: { email: input.email, role: input.role },
  });
  const account = await lockKnown(tx, workspaceId, id);
  return { id, link: await makeInvitation(tx, deps, account, input.inviter) };
}

/** Makes a new link for an invitation that waits. @throws ProblemError `not_found`, `wrong_state`. */
export async function renewInvitation(
  tx: Tx,
  actor: AuditActor,
  deps: LinkDependencies,
  userId: string,
  inviter: string,
): Promise<MadeLink> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at !== null || account.invited_at === null)
    throw new ProblemError("wrong_state", "no invitation of this user waits to be accepted");
  await recordAudit(tx, actor, { action: "user_invited", subject: { type: "user", id: userId } });
  return makeInvitation(tx, deps, account, inviter);
}

async function makeInvitation(
  tx: Tx,
  { baseUrl, mail }: LinkDependencies,
  account: LockedAccount,
  inviter: string,
): Promise<MadeLink> {
  const link = await makeLink(tx, {
    userId: account.id,
    purpose: "invitation",
    ttlMs: invitationTtlMs,
    baseUrl,
  });
  if (mail !== null) {
    const workspace_name = await findWorkspaceName(tx, account.workspace_id);
    await enqueueMail(tx, mail, invitationMail({ ...account, workspace_name }, inviter, link));
  }
  return { ...link, mailed: mail !== null };
}

/** Makes a link by which a person chooses a new password. @throws ProblemError `not_found`, `wrong_state`. */
export async function makeResetLink(
  tx: Tx,
  actor: AuditActor,
  { baseUrl, mail }: LinkDependencies,
  userId: string,
): Promise<MadeLink> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at !== null) throw new ProblemError("wrong_state", "this user is deactivated");
  if (account.invited_at !== null)
    throw new ProblemError(
      "wrong_state",
      "this user has not accepted the invitation yet; renew that instead",
    );
  const link = await makeLink(tx, {
    userId,
    purpose: "password_reset",
    ttlMs: resetByAdminTtlMs,
    baseUrl,
  });
  if (mail !== null) await enqueueMail(tx, mail, passwordResetMail(account, link));
  await recordAudit(tx, actor, {
    action: "password_reset_link_made",
    subject: { type: "user", id: userId },
  });
  return { ...link, mailed: mail !== null };
}

/**
 * Changes name or role. An admin who becomes something else takes the workspace tokens they issued along.
 * @returns how many tokens were revoked.
 * @throws ProblemError `not_found`; `wrong_state` for the last admin.
 */
export async function changeUser(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  change: { readonly name?: string | undefined; readonly role?: Role | undefined },
): Promise<number> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockKnown(tx, actor.workspaceId, userId);
  const isDemotion = account.role === "admin" && change.role !== undefined && change.role !== "admin";
  if (isDemotion) await keepAnAdmin(tx, account);
  const details = {
    ...(change.name === undefined || change.name === account.name ? {} : { name: change.name }),
    ...(change.role === undefined || change.role === account.role ? {} : { role: change.role }),
  };
  if (Object.keys(details).length === 0) return 0;
  await tx.updateTable("users").set(details).where("id", "=", userId).execute();
  const revoked = isDemotion ? await revokeTokens(tx, userId, "workspace_access_token") : 0;
  await recordAudit(tx, actor, {
    action: "user_changed",
    subject: { type: "user", id: userId },
    details: { ...details, ...(isDemotion ? { revoked_tokens: revoked } : {}) },
  });
  return revoked;
}

/** Ends a person's access; their recordings stay. Once more does nothing. @throws ProblemError as `changeUser`. */
export async function deactivateUser(tx: Tx, actor: AuditActor, userId: string): Promise<EndedAccess> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at === null) {
    if (account.role === "admin") await keepAnAdmin(tx, account);
    await tx.updateTable("users").set({ deactivated_at: sql`now()` }).where("id", "=", userId).execute();
  }
  const ended = await endAccess(tx, userId);
  if (account.deactivated_at === null)
    await recordAudit(tx, actor, {
      action: "user_deactivated",
      subject: { type: "user", id: userId },
      details: { ...ended },
    });
  return ended;
}

/** Lets a person in again. Once more does nothing. @throws ProblemError `not_found`. */
export async function reactivateUser(tx: Tx, actor: AuditActor, userId: string): Promise<void> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at === null) return;
  await tx.updateTable("users").set({ deactivated_at: null }).where("id", "=", userId).execute();
  await recordAudit(tx, actor, { action: "user_reactivated", subject: { type: "user", id: userId } });
}

/** A workspace whose last admin is gone can't be looked after by anybody. The membership is locked. */
export async function keepAnAdmin(tx: Tx, account: LockedAccount): Promise<void> {
  if (!(await hasOtherAdmin(tx, account.workspace_id, account.id)))
    throw new ProblemError(
      "wrong_state",
      "this is the last active admin of the workspace; make somebody else an admin first",
    );
}

async function lockKnown(tx: Tx, workspaceId: string, userId: string): Promise<LockedAccount> {
  const account = await lockAccount(tx, workspaceId, userId);
  if (account === undefined)
    throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
  return account;
}
