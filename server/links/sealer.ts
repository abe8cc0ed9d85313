import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts what has to be kept and used again, so that the database alone tells nobody. */
export interface Sealer {
  seal(text: string): Buffer;
  /** @throws Error when it was sealed with another secret, or changed. */
  open(sealed: Buffer): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM (NIST SP 800-38D) with a key derived from the secret (RFC 5869): nonce, tag, ciphertext. */
export function createSealer(secret: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, "parley", "seal", 32));
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(sealed) {
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
      decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        return (
          decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8")
        );
      } catch {
        throw new Error(
          "what was sealed can't be opened: PARLEY_SECRET is another one than when it was made",
        );
      }
    },
  };
}
