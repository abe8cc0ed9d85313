import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { enqueueMail } from "./mailer.ts";
import { accountChangeMail, plainName } from "./mails.ts";

/** A change that its user is notified of. */
export type Change =
  | "second_factor_turned_on"
  | "second_factor_turned_off"
  | "second_factor_reset"
  | "recovery_codes_replaced"
  | "passkey_added"
  | "passkey_removed"
  | "single_sign_on_bound"
  | "single_sign_on_unbound";

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

/** @param providers names of the providers of single sign-on that were connected or unlinked. */
type ChangeText = (
  i18n: I18n,
  providers: readonly string[],
) => { readonly subject: string; readonly text: string };

const changeTexts: Readonly<Record<Change, ChangeText>> = {
  second_factor_turned_on: (i18n) => ({
    subject: i18n.t("Two-factor authentication is on"),
    text: i18n.t("Signing in to Parley with your password now also takes a code of your authenticator app."),
  }),
  second_factor_turned_off: (i18n) => ({
    subject: i18n.t("Two-factor authentication is off"),
    text: i18n.t("Your password alone is enough to sign in to Parley now."),
  }),
  second_factor_reset: (i18n, providers) => ({
    subject: i18n.t("Your two-factor authentication was reset"),
    text: [
      i18n.t(
        "An admin turned off your two-factor authentication, removed your passkeys, and signed you out everywhere. Your password alone is enough to sign in to Parley now. You can set both up again in Settings → Profile.",
      ),
      ...(providers.length === 0
        ? []
        : [
            i18n.t(
              "Your account is no longer linked to {providers}. The next time that you sign in there, it is linked again.",
              { providers: listNames(i18n, providers) },
            ),
          ]),
    ].join("\n\n"),
  }),
  passkey_added: (i18n) => ({
    subject: i18n.t("A passkey was added"),
    text: i18n.t("A passkey was added to your Parley account. It signs in without a password."),
  }),
  passkey_removed: (i18n) => ({
    subject: i18n.t("A passkey was removed"),
    text: i18n.t("A passkey was removed from your Parley account. It can't sign in any more."),
  }),
  single_sign_on_bound: (i18n, providers) => ({
    subject: i18n.t("A sign-in provider was connected"),
    text: i18n.t("{providers} was connected with your Parley account. It signs in without a password.", {
      providers: listNames(i18n, providers),
    }),
  }),
  single_sign_on_unbound: (i18n, providers) => ({
    subject: i18n.t("A sign-in provider was unlinked"),
    text: i18n.t(
      "Your Parley account is no longer linked to {providers}. Other sessions that began there have ended.",
      { providers: listNames(i18n, providers) },
    ),
  }),
  recovery_codes_replaced: (i18n) => ({
    subject: i18n.t("You have new recovery codes"),
    text: i18n.t("The recovery codes of your Parley account were replaced. Earlier ones no longer work."),
  }),
};

function listNames({ language }: I18n, names: readonly string[]): string {
  return new Intl.ListFormat(language).format(names.map(plainName));
}

/**
 * Tells a user by email, where this server sends email. The daily limit of emails stops no change.
 * @param providers names of the providers of single sign-on that were connected or unlinked.
 */
export async function tell(
  tx: Tx,
  mail: MailDependencies | null,
  userId: string,
  change: Change,
  providers: readonly string[] = [],
): Promise<void> {
  if (mail === null) return;
  const owner = await findAccount(tx, userId);
  const i18n = await i18nFor(owner.email_language);
  await enqueueMail(
    tx,
    mail,
    accountChangeMail(i18n, owner, {
      ...changeTexts[change](i18n, providers),
      url: `${mail.baseUrl}/settings`,
    }),
    { kind: "account_change", workspaceId: owner.workspace_id },
  );
}

/** A user's account as this feature needs it. */
export function findAccount(db: Executor, userId: string) {
  return db
    .selectFrom("users")
    .select([
      ...(["id", "workspace_id", "name", "email", "email_language", "email_time_zone"] as const),
      ...(["password_hash", "created_at"] as const),
    ])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
}
