import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { changeMembership } from "../../access/grants.ts";
import { findRules, isBreakGlass } from "../../access/security-rules.ts";
import { enqueueMail } from "../one-time-links/mailer.ts";
import { accountChangeMail } from "../one-time-links/mails.ts";
import { deleteSecondFactor } from "../sign-in/second-factor.ts";
import { endSessions } from "../sign-in/sessions.ts";

/** A change that its user is notified of. */
export type Change =
  | "second_factor_turned_on"
  | "second_factor_turned_off"
  | "second_factor_reset"
  | "recovery_codes_replaced"
  | "passkey_added"
  | "passkey_removed";

/** What telling a user by email needs. */
export interface MailDependencies {
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly baseUrl: string;
}

/** What emails need; null: this server sends none. */
export function mailOf(deps: {
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
}): MailDependencies | null {
  const { jobs, encryptor, config } = deps;
  return config.smtp === null ? null : { jobs, encryptor, baseUrl: config.baseUrl };
}

/**
 * Turns a user's second factor off for them, removes their passkeys, and ends their sessions. They receive an email about it.
 * @param mail null: no email, as with commands of the operator.
 * @throws ProblemError `wrong_state` if they have neither, and for the break-glass admin.
 */
export async function resetSecondFactor(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  mail: MailDependencies | null,
): Promise<void> {
  // Locks the rules too.
  await changeMembership(tx, actor.workspaceId);
  if (isBreakGlass(await findRules(tx, actor.workspaceId), userId))
    throw new ProblemError("wrong_state", because("break_glass_needs_second_factor"));
  const wasOn = await deleteSecondFactor(tx, userId);
  const removed = await tx.deleteFrom("passkeys").where("user_id", "=", userId).executeTakeFirst();
  const passkeys = Number(removed.numDeletedRows);
  if (!wasOn && passkeys === 0) throw isOff();
  await endSessions(tx, userId);
  await recordAudit(tx, actor, {
    action: "second_factor_reset",
    subject: { type: "user", id: userId },
    ...(passkeys === 0 ? {} : { details: { passkeys } }),
  });
  await tell(tx, mail, userId, "second_factor_reset");
}

const changeTexts: Readonly<
  Record<Change, (i18n: I18n) => { readonly subject: string; readonly text: string }>
> = {
  second_factor_turned_on: (i18n) => ({
    subject: i18n.t("Two-factor authentication is on"),
    text: i18n.t("Signing in to Parley with your password now also takes a code of your authenticator app."),
  }),
  second_factor_turned_off: (i18n) => ({
    subject: i18n.t("Two-factor authentication is off"),
    text: i18n.t("Your password alone is enough to sign in to Parley now."),
  }),
  second_factor_reset: (i18n) => ({
    subject: i18n.t("Your two-factor authentication was reset"),
    text: i18n.t(
      "An admin turned off your two-factor authentication, removed your passkeys, and signed you out everywhere. Your password alone is enough to sign in to Parley now. You can set both up again in Settings → Profile.",
    ),
  }),
  passkey_added: (i18n) => ({
    subject: i18n.t("A passkey was added"),
    text: i18n.t("A passkey was added to your Parley account. It signs in without a password."),
  }),
  passkey_removed: (i18n) => ({
    subject: i18n.t("A passkey was removed"),
    text: i18n.t("A passkey was removed from your Parley account. It can't sign in any more."),
  }),
  recovery_codes_replaced: (i18n) => ({
    subject: i18n.t("You have new recovery codes"),
    text: i18n.t("The recovery codes of your Parley account were replaced. Earlier ones no longer work."),
  }),
};

/** Tells a user by email, where this server sends email. The daily limit of emails stops no change. */
export async function tell(
  tx: Tx,
  mail: MailDependencies | null,
  userId: string,
  change: Change,
): Promise<void> {
  if (mail === null) return;
  const owner = await findAccount(tx, userId);
  const i18n = await i18nFor(owner.email_language);
  await enqueueMail(
    tx,
    mail,
    accountChangeMail(i18n, owner, { ...changeTexts[change](i18n), url: `${mail.baseUrl}/settings` }),
    { kind: "account_change", workspaceId: owner.workspace_id },
  );
}

/** A user's account as this feature needs it. */
export function findAccount(db: Executor, userId: string) {
  return db
    .selectFrom("users")
    .select(["id", "workspace_id", "name", "email", "email_language", "password_hash", "created_at"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
}

export function isOff(): ProblemError {
  return new ProblemError("wrong_state", because("second_factor_off"));
}
