import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { i18nFor } from "../../../platform/language/i18n.ts";
import { changeMembership } from "../../access/grants.ts";
import { findTeam } from "../../directory/queries.ts";
import { countEnabledHooks } from "../../events/hooks.ts";
import { enqueueMail } from "../one-time-links/mailer.ts";
import { invitationMail, passwordResetMail } from "../one-time-links/mails.ts";
import { createLink, invitationTtlMs, resetByAdminTtlMs } from "../one-time-links/one-time-links.ts";
import { AccountError, createUser, EmailUnavailableError } from "../service.ts";
import { isOutsideItsDomain } from "../workspaces/email-domains.ts";
import { type EndedAccess, endAccess, revokeTokens, summarizeAccess } from "./end-access.ts";
import {
  findAdminNeed,
  findTimeZone,
  findWorkspaceName,
  type LockedAccount,
  lockAccount,
} from "./queries.ts";

/** What creating a link needs. `mail` is null when SMTP is not set up. */
export interface LinkDependencies {
  readonly baseUrl: string;
  readonly mail: { readonly jobs: JobQueue; readonly encryptor: Encryptor } | null;
}

/** A one-time link as the admin who created it sees it. */
export interface CreatedLink {
  readonly url: string;
  readonly expiresAt: Date;
  readonly mailed: boolean;
}

/** Whom the email of an invitation names, and in whose language it is: the account has none yet. */
export interface Inviter {
  readonly name: string;
  /** Null: English. */
  readonly language: string | null;
}

/** Creates an account and its invitation link. */
export async function inviteUser(
  tx: Tx,
  actor: AuditActor,
  deps: LinkDependencies,
  input: {
    email: string;
    name: string;
    role: Role;
    teamIds: readonly string[];
    inviter: Inviter;
  },
): Promise<{ id: string; link: CreatedLink }> {
  const { workspaceId } = actor;
  const { id } = await createUser(tx, { workspaceId, ...input }).catch((error: unknown) => {
    // The operator may learn about all workspaces, an admin only about their own.
    const detail =
      error instanceof EmailUnavailableError && actor.credential !== "cli"
        ? error.publicMessage
        : error instanceof AccountError && error.message;
    throw detail ? invalidInput([{ pointer: "/email", detail }]) : error;
  });
  await tx.updateTable("users").set({ invited_at: sql`now()` }).where("id", "=", id).execute();
  for (const [index, teamId] of input.teamIds.entries()) {
    if (!(await findTeam(tx, workspaceId, teamId)))
      throw invalidInput([{ pointer: `/team_ids/${index}`, detail: "is not a team in this workspace" }]);
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
  return { id, link: await createInvitation(tx, actor, deps, account, input.inviter) };
}

/** Replaces the link of a pending invitation. @throws ProblemError `not_found`, `wrong_state`. */
export async function replaceInvitation(
  tx: Tx,
  actor: AuditActor,
  deps: LinkDependencies,
  userId: string,
  inviter: Inviter,
): Promise<CreatedLink> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at !== null || account.invited_at === null)
    throw new ProblemError("wrong_state", because("no_pending_invitation"));
  if (await isOutsideItsDomain(tx, account))
    throw new ProblemError("wrong_state", because("email_unavailable", { email: account.email }));
  await recordAudit(tx, actor, { action: "user_invited", subject: { type: "user", id: userId } });
  return createInvitation(tx, actor, deps, account, inviter);
}

async function createInvitation(
  tx: Tx,
  actor: AuditActor,
  { baseUrl, mail }: LinkDependencies,
  account: LockedAccount,
  inviter: Inviter,
): Promise<CreatedLink> {
  const link = await createLink(tx, {
    userId: account.id,
    purpose: "invitation",
    ttlMs: invitationTtlMs,
    baseUrl,
    creator: actor,
  });
  if (mail !== null) {
    const workspace_name = await findWorkspaceName(tx, account.workspace_id);
    const from = { name: inviter.name, timeZone: await findTimeZone(tx, actor.userId) };
    const mailed = { ...link, url: link.mailedUrl };
    const refused = await enqueueMail(
      tx,
      mail,
      invitationMail(await i18nFor(inviter.language), { ...account, workspace_name }, from, mailed),
      { kind: "invitation", workspaceId: account.workspace_id },
    );
    if (refused !== null) throw refused;
  }
  return { url: link.url, expiresAt: link.expiresAt, mailed: mail !== null };
}

/** Creates a password reset link. @throws ProblemError `not_found`, `wrong_state`. */
export async function createResetLink(
  tx: Tx,
  actor: AuditActor,
  { baseUrl, mail }: LinkDependencies,
  userId: string,
): Promise<CreatedLink> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at !== null) throw new ProblemError("wrong_state", because("user_deactivated"));
  if (account.invited_at !== null) throw new ProblemError("wrong_state", because("invitation_not_accepted"));
  const link = await createLink(tx, {
    userId,
    purpose: "password_reset",
    ttlMs: resetByAdminTtlMs,
    baseUrl,
    creator: actor,
  });
  if (mail !== null) {
    const refused = await enqueueMail(
      tx,
      mail,
      passwordResetMail(await i18nFor(account.email_language), account, { ...link, url: link.mailedUrl }),
      { kind: "password_reset", workspaceId: account.workspace_id },
    );
    if (refused !== null) throw refused;
  }
  await recordAudit(tx, actor, {
    action: "password_reset_link_made",
    subject: { type: "user", id: userId },
  });
  return { url: link.url, expiresAt: link.expiresAt, mailed: mail !== null };
}

/**
 * Changes name or role. When an admin loses the role, the workspace tokens they issued are revoked.
 * @returns how many tokens were revoked and how many hooks disabled.
 * @throws ProblemError `not_found`; `wrong_state` for the last admin and the break-glass admin.
 */
export async function changeUser(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  change: { readonly name?: string | undefined; readonly role?: Role | undefined },
): Promise<{ tokens: number; hooks: number }> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockKnown(tx, actor.workspaceId, userId);
  const isDemotion = account.role === "admin" && change.role !== undefined && change.role !== "admin";
  if (isDemotion) await refuseToLoseAdmin(tx, account);
  const details = {
    ...(change.name === undefined || change.name === account.name ? {} : { name: change.name }),
    ...(change.role === undefined || change.role === account.role ? {} : { role: change.role }),
  };
  if (Object.keys(details).length === 0) return { tokens: 0, hooks: 0 };
  const before = await countEnabledHooks(tx, userId);
  await tx.updateTable("users").set(details).where("id", "=", userId).execute();
  const revoked = isDemotion ? await revokeTokens(tx, userId, "workspace_access_token") : 0;
  const hooks = before - (await countEnabledHooks(tx, userId));
  await recordAudit(tx, actor, {
    action: "user_changed",
    subject: { type: "user", id: userId },
    details: {
      ...details,
      ...(isDemotion ? { revoked_tokens: revoked } : {}),
      ...(hooks > 0 ? { disabled_hooks: hooks } : {}),
    },
  });
  return { tokens: revoked, hooks };
}

/**
 * Ends a user's access, disables their hooks and ends their unfinished uploads; recordings stay. Idempotent.
 * @returns what was ended, counted beforehand.
 * @throws ProblemError as `changeUser`.
 */
export async function deactivateUser(
  tx: Tx,
  actor: AuditActor,
  userId: string,
): Promise<EndedAccess & { hooks: number; uploads: number }> {
  await changeMembership(tx, actor.workspaceId);
  const account = await lockKnown(tx, actor.workspaceId, userId);
  const { personalHooks, workspaceHooks, uploads } = await summarizeAccess(tx, userId);
  const hooks = personalHooks + workspaceHooks;
  if (account.deactivated_at === null) {
    if (account.role === "admin") await refuseToLoseAdmin(tx, account);
    await tx.updateTable("users").set({ deactivated_at: sql`now()` }).where("id", "=", userId).execute();
  }
  const ended = await endAccess(tx, userId);
  if (account.deactivated_at === null)
    await recordAudit(tx, actor, {
      action: "user_deactivated",
      subject: { type: "user", id: userId },
      details: { ...ended, hooks, uploads },
    });
  return { ...ended, hooks, uploads };
}

/** Reactivates a user. Idempotent. @throws ProblemError `not_found`. */
export async function reactivateUser(tx: Tx, actor: AuditActor, userId: string): Promise<void> {
  const account = await lockKnown(tx, actor.workspaceId, userId);
  if (account.deactivated_at === null) return;
  await tx
    .updateTable("users")
    .set({ deactivated_at: null, scim_deleted_at: null })
    .where("id", "=", userId)
    .execute();
  await recordAudit(tx, actor, { action: "user_reactivated", subject: { type: "user", id: userId } });
}

/** Refuses to remove an admin whom the workspace can't do without. The caller has locked the membership. */
export async function refuseToLoseAdmin(tx: Tx, account: LockedAccount): Promise<void> {
  const need = await findAdminNeed(tx, account.workspace_id, account.id);
  if (need !== null) throw new ProblemError("wrong_state", because(need));
}

async function lockKnown(tx: Tx, workspaceId: string, userId: string): Promise<LockedAccount> {
  const account = await lockAccount(tx, workspaceId, userId);
  if (account === undefined)
    throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
  return account;
}
