import { createHash, timingSafeEqual } from "node:crypto";
import type { LinkSigner } from "../links/signer.ts";
import { type Bind, hmacHex } from "../recordings/recording-json.ts";

/** Half of an HMAC-SHA256, in hexadecimal: 128 bits that nobody guesses. */
const tagLength = 32;

/**
 * What the address of a link ends with: its id without dashes and an HMAC over it. Derived rather than stored, so that
 * who reads the database learns no address.
 */
export function tokenOf(signer: LinkSigner, linkId: string): string {
  return linkId.replaceAll("-", "") + tagOf(signer, linkId);
}

/** The same in SQL. @param id expression of a link's id. */
export function tokenSql(bind: Bind, signer: LinkSigner, id: string): string {
  return `replace(${id}::text, '-', '') || left(${hmacHex(bind, signer.pads("public_link"), `${id}::text`)}, ${tagLength})`;
}

/** The id that a token names; null for one that we did not make. Compared in constant time. */
export function readToken(signer: LinkSigner, token: string): string | null {
  const [, a, b, c, d, e, tag] =
    /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})([0-9a-f]{32})$/.exec(token) ?? [];
  if (tag === undefined) return null;
  const id = `${a}-${b}-${c}-${d}-${e}`;
  return timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(signer, id))) ? id : null;
}

function tagOf(signer: LinkSigner, linkId: string): string {
  return signer.tag("public_link", linkId).toString("hex").slice(0, tagLength);
}

/** Names a highlight within a link, without telling its id. */
export function itemIdOf(signer: LinkSigner, linkId: string, highlightId: string): string {
  return signer.tag("public_link", `${linkId}\n${highlightId}`).toString("hex").slice(0, 16);
}

/** How long who gave the password is let in. */
const accessMs = 12 * 3_600_000;

/** What of a link decides whether access to it is good. */
interface Locked {
  readonly id: string;
  readonly password_hash: string | null;
}

/** What is sent along with every request of a link whose password was given: until when, and a signature. */
export function makeAccess(
  signer: LinkSigner,
  link: Locked,
  now: Date,
): { readonly access: string; readonly expiresAt: Date } {
  const expiresAt = new Date(now.getTime() + accessMs);
  const expires = String(expiresAt.getTime());
  return { access: `${expires}.${accessTag(signer, link, expires)}`, expiresAt };
}

/** Whether access was given for this link and this password, and is still good. */
export function isAccess(signer: LinkSigner, link: Locked, access: string | undefined, now: Date): boolean {
  const [, expires, tag] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(access ?? "") ?? [];
  if (expires === undefined || tag === undefined) return false;
  if (!timingSafeEqual(Buffer.from(tag), Buffer.from(accessTag(signer, link, expires)))) return false;
  return Number(expires) > now.getTime();
}

/** A new password has another hash, and so ends what was given for the old one. */
function accessTag(signer: LinkSigner, { id, password_hash }: Locked, expires: string): string {
  const password = createHash("sha256")
    .update(password_hash ?? "")
    .digest("hex");
  return signer.tag("public_access", `${id}\n${expires}\n${password}`).toString("hex");
}
