import { createHmac, hkdfSync } from "node:crypto";
import { z } from "zod";

/** A secret, and what can be said about it without revealing it. */
export interface Secret {
  readonly text: string;
  /** Identifies it in the database: an HMAC (RFC 2104) keyed with it. */
  readonly fingerprint: Buffer;
  /** The beginning of its fingerprint, which precedes each value that is encrypted with it. */
  readonly id: Buffer;
}

/** The secrets of an installation. They change while the server runs: keep no copy. */
export interface Keyring {
  /** At least one. The first encrypts and signs, all decrypt and verify. */
  readonly secrets: readonly [Secret, ...Secret[]];
  /** The keys of links that never expire, which outlive the secret; null: it was never rotated. */
  readonly linkKeys: LinkKeys | null;
}

/** What links that never expire are for. */
export const permanentPurposes = ["public_link", "thumbnail"] as const;
type PermanentPurpose = (typeof permanentPurposes)[number];

/** The keys that sign links which never expire. */
export type LinkKeys = Readonly<Record<PermanentPurpose, Buffer>>;

export const idBytes = 8;

export function secretOf(text: string): Secret {
  const fingerprint = createHmac("sha256", text)
    .update("fingerprint of the secret of a Parley database")
    .digest();
  return { text, fingerprint, id: fingerprint.subarray(0, idBytes) };
}

/** A keyring with one secret that was never rotated. */
export function keyringOf(text: string): Keyring {
  return { secrets: [secretOf(text)], linkKeys: null };
}

/** A key for one purpose, derived from a secret (RFC 5869). */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "parley", purpose, 32));
}

/** Those of an installation whose secret was never rotated. */
export function deriveLinkKeys({ text }: Secret): LinkKeys {
  return {
    public_link: deriveKey(text, "link:public_link"),
    thumbnail: deriveKey(text, "link:thumbnail"),
  };
}

const StoredLinkKeys = z.object({
  encryptedFor: z.literal("links"),
  public_link: z.base64(),
  thumbnail: z.base64(),
});

export function linkKeysToText({ public_link, thumbnail }: LinkKeys): string {
  return JSON.stringify({
    encryptedFor: "links",
    public_link: public_link.toString("base64"),
    thumbnail: thumbnail.toString("base64"),
  });
}

export function linkKeysOf(text: string): LinkKeys {
  const { public_link, thumbnail } = StoredLinkKeys.parse(JSON.parse(text));
  return { public_link: Buffer.from(public_link, "base64"), thumbnail: Buffer.from(thumbnail, "base64") };
}
