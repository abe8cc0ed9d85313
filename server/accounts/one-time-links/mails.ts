import type { Mail } from "./mailer.ts";
import type { LinkOwner } from "./one-time-links.ts";

interface WithLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** The email that invites a user. */
export function invitationMail(
  owner: Pick<LinkOwner, "email" | "name" | "workspace_name">,
  inviter: string,
  link: WithLink,
): Mail {
  return {
    to: owner.email,
    subject: `${oneLine(inviter)} invited you to ${oneLine(owner.workspace_name)}`,
    text: [
      `Hello ${oneLine(owner.name)},`,
      `${oneLine(inviter)} invited you to the meeting recordings of ${oneLine(owner.workspace_name)}. Choose a password to join:`,
      link.url,
      `The link works once and expires on ${formatTime(link.expiresAt)}. If you weren't expecting this invitation, ignore this email.`,
    ].join("\n\n"),
    expiresAtMs: link.expiresAt.getTime(),
  };
}

/** The email with a link to choose a new password. */
export function passwordResetMail(owner: Pick<LinkOwner, "email" | "name">, link: WithLink): Mail {
  return {
    to: owner.email,
    subject: "Reset your password",
    text: [
      `Hello ${oneLine(owner.name)},`,
      "Someone, most likely you, asked to reset your password. Choose a new one here:",
      link.url,
      `The link works once and expires on ${formatTime(link.expiresAt)}. If this wasn't you, ignore this email: your password stays the same.`,
    ].join("\n\n"),
    expiresAtMs: link.expiresAt.getTime(),
  };
}

/** Sent instead of a reset link while an admin's link is active: a new link would replace that one. */
export function resetWaitsMail(owner: Pick<LinkOwner, "email" | "name">, expiresAt: Date): Mail {
  return {
    to: owner.email,
    subject: "Reset your password",
    text: [
      `Hello ${oneLine(owner.name)},`,
      `Someone, most likely you, asked to reset your password. An admin of your workspace has already created a reset link for you, which expires on ${formatTime(expiresAt)}. Use that link, or ask them for a new one. If this wasn't you, ignore this email.`,
    ].join("\n\n"),
    expiresAtMs: expiresAt.getTime(),
  };
}

function formatTime(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Keeps names from adding lines to an email. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 200);
}
