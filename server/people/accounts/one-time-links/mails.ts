import { units } from "../../../platform/config/values.ts";
import type { I18n } from "../../../platform/language/i18n.ts";
import { writtenTime } from "../../../platform/language/written-time.ts";
import type { Mail } from "./mailer.ts";
import type { LinkOwner } from "./one-time-links.ts";

interface WithLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** A user as emails to them need it. */
interface MailOwner extends Pick<LinkOwner, "email" | "name"> {
  readonly email_time_zone: string | null;
}

/** The email that invites a user, whose time zone is not known yet: times are in that of the user who invites. */
export function invitationMail(
  i18n: I18n,
  owner: Pick<LinkOwner, "email" | "name" | "workspace_name">,
  inviter: { readonly name: string; readonly timeZone: string | null },
  link: WithLink,
): Mail {
  const names = { inviter: quotableName(inviter.name), workspace: quotableName(owner.workspace_name) };
  return {
    to: owner.email,
    language: i18n.language,
    subject: i18n.t("“{inviter}” invited you to “{workspace}”", names),
    text: [
      greeting(i18n, owner.name),
      i18n.t(
        "“{inviter}” invited you to the meeting recordings of “{workspace}”. Choose a password to join:",
        names,
      ),
      link.url,
      i18n.t(
        "The link works once and expires on {time}. If you weren't expecting this invitation, ignore this email.",
        { time: writtenTime(i18n.language, link.expiresAt, inviter.timeZone) },
      ),
    ].join("\n\n"),
    expiresAtMs: link.expiresAt.getTime(),
  };
}

/** The email with a link to choose a new password. */
export function passwordResetMail(i18n: I18n, owner: MailOwner, link: WithLink): Mail {
  return {
    to: owner.email,
    language: i18n.language,
    subject: i18n.t("Reset your password"),
    text: [
      greeting(i18n, owner.name),
      i18n.t("Someone, most likely you, asked to reset your password. Choose a new one here:"),
      link.url,
      i18n.t(
        "The link works once and expires on {time}. If this wasn't you, ignore this email: your password stays the same.",
        { time: writtenTime(i18n.language, link.expiresAt, owner.email_time_zone) },
      ),
    ].join("\n\n"),
    expiresAtMs: link.expiresAt.getTime(),
  };
}

/** Sent instead of a reset link while an admin's link is active: a new link would replace that one. */
export function resetWaitsMail(i18n: I18n, owner: MailOwner, expiresAt: Date): Mail {
  return {
    to: owner.email,
    language: i18n.language,
    subject: i18n.t("Reset your password"),
    text: [
      greeting(i18n, owner.name),
      i18n.t(
        "Someone, most likely you, asked to reset your password. An admin of your workspace has already created a reset link for you, which expires on {time}. Use that link, or ask them for a new one. If this wasn't you, ignore this email.",
        { time: writtenTime(i18n.language, expiresAt, owner.email_time_zone) },
      ),
    ].join("\n\n"),
    expiresAtMs: expiresAt.getTime(),
  };
}

/** Notifies a user of a change to how they sign in, in case someone else made it. */
export function accountChangeMail(
  i18n: I18n,
  owner: { readonly email: string; readonly name: string },
  change: { readonly subject: string; readonly text: string; readonly url: string },
): Mail {
  const { url } = change;
  return {
    to: owner.email,
    language: i18n.language,
    subject: change.subject,
    text: [
      greeting(i18n, owner.name),
      change.text,
      i18n.t("If this wasn't you, change your password and sign out everywhere: {url}", { url }),
    ].join("\n\n"),
    expiresAtMs: Date.now() + 7 * units.d,
  };
}

/** How an email begins. */
export function greeting(i18n: I18n, name: string): string {
  return i18n.t("Hello {name},", { name: plainName(name) });
}

/** Longer names are cut: an email is no place for a message from the person who chose the name. */
const maxName = 60;

/**
 * A name as it may stand in an email: on one line, short, and without anything that mail programs turn into a link. Users
 * choose their names, and others' in invitations.
 */
export function plainName(name: string): string {
  const words = name
    .slice(0, 1000)
    .normalize("NFKC")
    // Also characters that change the direction of the text or have no width.
    .replace(/[\p{C}\s]+/gu, " ")
    .split(" ")
    .filter((word) => word !== "")
    .map(withoutLink);
  const text = words.join(" ").replace(phoneNumber, "…").trim();
  const characters = [...text];
  return characters.length <= maxName
    ? text
    : `${characters
        .slice(0, maxName - 1)
        .join("")
        .trimEnd()}…`;
}

/** A name for a text that puts it in quotes, so that it reads as one: it contains none that could end there. */
export function quotableName(name: string): string {
  return plainName(name).replace(/[“”„"«»‹›「」『』]/g, "'");
}

/** Domains, URLs and emails lose the characters that make them one. */
function withoutLink(word: string): string {
  // A colon at the end of a word, as in a title, makes no URL of it.
  const isLink = /:(?!$)|[@\\/]|[.。]\p{L}{2}/u.test(word);
  return isLink ? word.replace(/[:@\\/.。]+/g, " ").trim() : word;
}

/** Seven digits or more, however they are grouped: phones offer to call them. */
const phoneNumber = /\+?\(?\p{Nd}(?:[\s().+–-]*\p{Nd}){6,}\)?/gu;
