import { createHash } from "node:crypto";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import { type Bind, hmacHex } from "../recordings/json/sql.ts";

/** Half of an HMAC-SHA256 in hexadecimal: 128 bits, which can't be guessed. */
const tagLength = 32;

/**
 * The token in a link's URL: its id without dashes and an HMAC over it. Derived rather than stored, so that reading the
 * database does not reveal any URL.
 */
export function tokenOf(signer: LinkSigner, linkId: string): string {
  return linkId.replaceAll("-", "") + signer.tag("public_link", linkId).toString("hex").slice(0, tagLength);
}

/** The same in SQL. @param id the SQL expression of a link's id. */
export function tokenSql(bind: Bind, signer: LinkSigner, id: string): string {
  return `replace(${id}::text, '-', '') || left(${hmacHex(bind, signer.pads("public_link"), `${id}::text`)}, ${tagLength})`;
}

/** The link id in a token; null for a token this server did not issue. Compared in constant time. */
export function readToken(signer: LinkSigner, token: string): string | null {
  const [, a, b, c, d, e, tag] =
    /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})([0-9a-f]{32})$/.exec(token) ?? [];
  if (tag === undefined) return null;
  const id = `${a}-${b}-${c}-${d}-${e}`;
  return signer.isTag("public_link", id, Buffer.from(tag, "hex")) ? id : null;
}

/** Identifies a highlight within a link without revealing its id. */
export function itemIdOf(signer: LinkSigner, linkId: string, highlightId: string): string {
  return signer.tag("public_link", `${linkId}\n${highlightId}`).toString("hex").slice(0, 16);
}

/** How long access lasts after the password was entered. */
const accessMs = 12 * 3_600_000;

/** The columns of a link that decide whether its access value is valid. */
interface Locked {
  readonly id: string;
  readonly password_hash: string | null;
}

/** The access value that requests send after the password was entered: its expiry and a signature. */
export function makeAccess(
  signer: LinkSigner,
  link: Locked,
  now: Date,
): { readonly access: string; readonly expiresAt: Date } {
  const expiresAt = new Date(now.getTime() + accessMs);
  const expires = String(expiresAt.getTime());
  const tag = signer.tag("public_access", accessText(link, expires)).toString("hex");
  return { access: `${expires}.${tag}`, expiresAt };
}

/** Whether an access value was issued for this link and its current password, and has not expired. */
export function isAccess(signer: LinkSigner, link: Locked, access: string | undefined, now: Date): boolean {
  const [, expires, tag] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(access ?? "") ?? [];
  if (expires === undefined || tag === undefined) return false;
  if (!signer.isTag("public_access", accessText(link, expires), Buffer.from(tag, "hex"))) return false;
  return Number(expires) > now.getTime();
}

/** Covers the password hash, so that a new password ends access that was granted with the old one. */
function accessText({ id, password_hash }: Locked, expires: string): string {
  const password = createHash("sha256")
    .update(password_hash ?? "")
    .digest("hex");
  return `${id}\n${expires}\n${password}`;
}
