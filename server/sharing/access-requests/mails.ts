import type { Mail } from "../../people/accounts/one-time-links/mailer.ts";
import { plainName, quoteName } from "../../people/accounts/one-time-links/mails.ts";

interface Recipient {
  readonly email: string;
  readonly name: string;
}

/** The email that asks a recorder to share a recording. */
export function accessRequestMail(
  to: Recipient,
  about: {
    readonly requester: string;
    readonly requesterEmail: string;
    readonly title: string;
    /** Opens the Share dialog. */
    readonly url: string;
    readonly expiresAtMs: number;
  },
): Mail {
  const requester = quoteName(about.requester);
  const title = quoteName(about.title);
  return {
    to: to.email,
    subject: `${requester} requests access to ${title}`,
    text: [
      `Hello ${plainName(to.name)},`,
      `${requester} (${about.requesterEmail}) requests access to the recording ${title}. Grant or decline it in the Share dialog:`,
      about.url,
      "If you don't respond, nothing is shared, and the request expires after 30 days.",
    ].join("\n\n"),
    expiresAtMs: about.expiresAtMs,
  };
}

/** The email that tells a user that they now have access. */
export function accessGrantedMail(
  to: Recipient,
  about: { readonly title: string; readonly url: string; readonly expiresAtMs: number },
): Mail {
  const title = quoteName(about.title);
  return {
    to: to.email,
    subject: `You have access to ${title}`,
    text: [`Hello ${plainName(to.name)},`, `the recording ${title} is now shared with you:`, about.url].join(
      "\n\n",
    ),
    expiresAtMs: about.expiresAtMs,
  };
}
