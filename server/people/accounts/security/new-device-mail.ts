import { knownBrowserName } from "../../../../shared/browser-name.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { enqueueMail } from "../one-time-links/mailer.ts";
import { accountChangeMail } from "../one-time-links/mails.ts";
import { findAccount, type MailDependencies } from "../second-factor/changes.ts";

/** Notifies a user by email that a browser they have not used before has signed in. */
export async function mailNewDevice(
  tx: Tx,
  mail: MailDependencies | null,
  userId: string,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<void> {
  if (mail === null) return;
  const owner = await findAccount(tx, userId);
  const at = `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`;
  await enqueueMail(
    tx,
    mail,
    accountChangeMail(owner, {
      subject: "New sign-in to Parley",
      text: `A browser that you have not used before signed in to your Parley account: ${knownBrowserName(from.userAgent) ?? "an unknown browser"}, from the IP address ${from.ip}, on ${at}.`,
      url: `${mail.baseUrl}/settings`,
    }),
    { kind: "new_device", workspaceId: owner.workspace_id },
  );
}
