import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey, type Keyring, keyringOf, permanentPurposes } from "./keyring.ts";

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
  /** Whether a tag, or the first bytes of one, is of this text; compared in constant time. */
  isTag(purpose: LinkPurpose, text: string, tag: Buffer): boolean;
  /** For signing in SQL: HMAC (RFC 2104) is `sha256(outer || sha256(inner || message))`. */
  pads(purpose: PermanentPurpose): { readonly inner: Buffer; readonly outer: Buffer };
}

const blockSize = 64;

type PermanentPurpose = (typeof permanentPurposes)[number];

/** The fewest bytes of a tag that are compared. */
const minTagBytes = 8;

/**
 * Each purpose has a key of its own. Links that expire are signed with the first secret and valid with all of them; links
 * that don't have a key which outlives the secret.
 * @param source a secret that was never rotated, or all of an installation.
 */
export function createSigner(source: string | Keyring): LinkSigner {
  const keyring = typeof source === "string" ? keyringOf(source) : source;
  const keys = new Map<string, Buffer>();
  const derive = (secret: string, purpose: LinkPurpose): Buffer => {
    const name = `${purpose}:${secret}`;
    const key = keys.get(name) ?? deriveKey(secret, `link:${purpose}`);
    keys.set(name, key);
    return key;
  };
  /** The first signs, all verify. */
  const keysOf = (purpose: LinkPurpose): [Buffer, ...Buffer[]] => {
    const [first, ...rest] = keyring.secrets;
    if (isPermanent(purpose)) return [keyring.linkKeys?.[purpose] ?? derive(first.text, purpose)];
    return [derive(first.text, purpose), ...rest.map(({ text }) => derive(text, purpose))];
  };
  const tagWith = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const tag: LinkSigner["tag"] = (purpose, text) => tagWith(keysOf(purpose)[0], text);
  const isTag: LinkSigner["isTag"] = (purpose, text, given) =>
    given.length >= minTagBytes &&
    keysOf(purpose)
      .map((key) => tagWith(key, text).subarray(0, given.length))
      .filter((expected) => expected.length === given.length && timingSafeEqual(expected, given)).length > 0;

  return {
    query(purpose, id, expiresAt) {
      const expires = String(expiresAt.getTime());
      return `expires=${expires}&signature=${tag(purpose, linkMessage(id, expires)).toString("hex")}`;
    },
    check(purpose, id, query, now) {
      const { expires, signature } = (query ?? {}) as Record<string, unknown>;
      if (typeof expires !== "string" || typeof signature !== "string") return "invalid";
      if (!/^\d{1,15}$/.test(expires) || !/^[0-9a-f]{64}$/.test(signature)) return "invalid";
      if (!isTag(purpose, linkMessage(id, expires), Buffer.from(signature, "hex"))) return "invalid";
      return Number(expires) <= now.getTime() ? "expired" : null;
    },
    tag,
    isTag,
    pads(purpose) {
      const key = Buffer.alloc(blockSize);
      keysOf(purpose)[0].copy(key);
      return { inner: xor(key, 0x36), outer: xor(key, 0x5c) };
    },
  };
}

function isPermanent(purpose: LinkPurpose): purpose is PermanentPurpose {
  return permanentPurposes.some((one) => one === purpose);
}

/** What is signed: an id, and when it expires or who may view it. The SQL in recordings/json/links.ts builds the same text. */
export function linkMessage(id: string, limit: string): string {
  return `${id}\n${limit}`;
}

function xor(key: Buffer, pad: number): Buffer {
  return Buffer.from(key.map((byte) => byte ^ pad));
}
