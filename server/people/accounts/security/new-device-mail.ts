import { knownBrowser } from "../../../../shared/browser-name.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { writtenTime } from "../../../platform/language/written-time.ts";
import { findAccount, type MailDependencies } from "../one-time-links/account-changes.ts";
import { enqueueMail } from "../one-time-links/mailer.ts";
import { accountChangeMail } from "../one-time-links/mails.ts";

/** Notifies a user by email that a browser they have not used before has signed in. */
export async function mailNewDevice(
  tx: Tx,
  mail: MailDependencies | null,
  userId: string,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<void> {
  if (mail === null) return;
  const owner = await findAccount(tx, userId);
  const i18n = await i18nFor(owner.email_language);
  const browser = knownBrowser(from.userAgent);
  const time = writtenTime(i18n.language, new Date(), owner.email_time_zone);
  const values = { ip: from.ip, time };
  await enqueueMail(
    tx,
    mail,
    accountChangeMail(i18n, owner, {
      subject: i18n.t("New sign-in to Parley"),
      text:
        browser === null
          ? i18n.t(
              "An unknown browser that you have not used before signed in to your Parley account, from the IP address {ip}, on {time}.",
              values,
            )
          : i18n.t(
              "A browser that you have not used before signed in to your Parley account: {browser}, from the IP address {ip}, on {time}.",
              { ...values, browser: nameOf(i18n, browser) },
            ),
      url: `${mail.baseUrl}/settings`,
    }),
    { kind: "new_device", workspaceId: owner.workspace_id },
  );
}

function nameOf(i18n: I18n, { browser, system }: NonNullable<ReturnType<typeof knownBrowser>>): string {
  return system === null ? browser : i18n.t("{browser} on {system}", { browser, system });
}
