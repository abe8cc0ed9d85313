import type { Mail } from "./mailer.ts";
import type { LinkOwner } from "./one-time-links.ts";

interface WithLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** The mail that invites a person. */
export function invitationMail(
  owner: Pick<LinkOwner, "email" | "name" | "workspace_name">,
  inviter: string,
  link: WithLink,
): Mail {
  return {
    to: owner.email,
    subject: `${oneLine(inviter)} invites you to ${oneLine(owner.workspace_name)}`,
    text: [
      `Hello ${oneLine(owner.name)},`,
      `${oneLine(inviter)} invites you to the meeting recordings of ${oneLine(owner.workspace_name)}. Choose a password here:`,
      link.url,
      `The link is good once, until ${show(link.expiresAt)}. If you don't know what this is about, do nothing.`,
    ].join("\n\n"),
    uselessAfter: link.expiresAt.getTime(),
  };
}

/** The mail that lets a person choose a new password. */
export function passwordResetMail(owner: Pick<LinkOwner, "email" | "name">, link: WithLink): Mail {
  return {
    to: owner.email,
    subject: "Choose a new password",
    text: [
      `Hello ${oneLine(owner.name)},`,
      "somebody, most likely you, asked for a new password. Choose it here:",
      link.url,
      `The link is good once, until ${show(link.expiresAt)}. If it wasn't you, do nothing: your password stays as it is.`,
    ].join("\n\n"),
    uselessAfter: link.expiresAt.getTime(),
  };
}

/** The mail for who asks for a link while one of an admin is good: a new one would end that. */
export function resetWaitsMail(owner: Pick<LinkOwner, "email" | "name">, expiresAt: Date): Mail {
  return {
    to: owner.email,
    subject: "Choose a new password",
    text: [
      `Hello ${oneLine(owner.name)},`,
      `somebody, most likely you, asked for a new password. An admin of your workspace has made you a link for that already, which is good until ${show(expiresAt)}: use that one, or ask them for another. If it wasn't you, do nothing.`,
    ].join("\n\n"),
    uselessAfter: expiresAt.getTime(),
  };
}

function show(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Names can't add lines to a mail. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 200);
}
