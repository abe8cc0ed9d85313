import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** What a signed link allows; a signature for one purpose is invalid for another. */
export type LinkPurpose =
  | "upload"
  | "resume"
  | "media"
  | "thumbnail"
  | "asset"
  | "form"
  | "public_link"
  | "public_access"
  | "cursor";

/** Why a link is refused. */
export type LinkProblem = "invalid" | "expired";

/** Signs and checks links that carry their own permission: anyone who has one can use it until it expires. */
export interface LinkSigner {
  /** The query of a link: `expires` (ms since 1970) and `signature` (HMAC-SHA256, hexadecimal). */
  query(purpose: LinkPurpose, id: string, expiresAt: Date): string;
  /** Null when the link is valid. */
  check(purpose: LinkPurpose, id: string, query: unknown, now: Date): LinkProblem | null;
  /** HMAC-SHA256 of a text, for uses other than expiring links. */
  tag(purpose: LinkPurpose, text: string): Buffer;
  /** For signing in SQL: HMAC (RFC 2104) is `sha256(outer || sha256(inner || message))`. */
  pads(purpose: LinkPurpose): { readonly inner: Buffer; readonly outer: Buffer };
}

const blockSize = 64;

/** @param secret any text; each purpose signs with a key of its own derived from it (RFC 5869). */
export function createSigner(secret: string): LinkSigner {
  const keys = new Map<LinkPurpose, Buffer>();
  const keyOf = (purpose: LinkPurpose): Buffer => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync("sha256", secret, "parley", `link:${purpose}`, 32));
    keys.set(purpose, key);
    return key;
  };
  const sign = (purpose: LinkPurpose, id: string, expires: string): Buffer =>
    createHmac("sha256", keyOf(purpose)).update(linkMessage(id, expires)).digest();

  return {
    query(purpose, id, expiresAt) {
      const expires = String(expiresAt.getTime());
      return `expires=${expires}&signature=${sign(purpose, id, expires).toString("hex")}`;
    },
    check(purpose, id, query, now) {
      const { expires, signature } = (query ?? {}) as Record<string, unknown>;
      if (typeof expires !== "string" || typeof signature !== "string") return "invalid";
      if (!/^\d{1,15}$/.test(expires) || !/^[0-9a-f]{64}$/.test(signature)) return "invalid";
      if (!timingSafeEqual(sign(purpose, id, expires), Buffer.from(signature, "hex"))) return "invalid";
      return Number(expires) <= now.getTime() ? "expired" : null;
    },
    tag: (purpose, text) => createHmac("sha256", keyOf(purpose)).update(text).digest(),
    pads(purpose) {
      const key = Buffer.alloc(blockSize);
      keyOf(purpose).copy(key);
      return { inner: xor(key, 0x36), outer: xor(key, 0x5c) };
    },
  };
}

/** What is signed: an id, and when it expires or who may view it. The SQL in recordings/recording-json.ts builds the same text. */
export function linkMessage(id: string, limit: string): string {
  return `${id}\n${limit}`;
}

function xor(key: Buffer, pad: number): Buffer {
  return Buffer.from(key.map((byte) => byte ^ pad));
}
