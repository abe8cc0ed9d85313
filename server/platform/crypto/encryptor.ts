import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts secrets that must be read back, so that a copy of the database does not reveal them. */
export interface Encryptor {
  encrypt(text: string): Buffer;
  /** @throws Error when it was encrypted with another secret, or modified. */
  decrypt(encrypted: Buffer): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM (NIST SP 800-38D) with a key derived from the secret (RFC 5869): nonce, tag, ciphertext. */
export function createEncryptor(secret: string): Encryptor {
  const key = Buffer.from(hkdfSync("sha256", secret, "parley", "seal", 32));
  return {
    encrypt(text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
    },
    decrypt(encrypted) {
      const nonce = encrypted.subarray(0, nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
      decipher.setAuthTag(encrypted.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        return (
          decipher.update(encrypted.subarray(nonceBytes + tagBytes), undefined, "utf8") +
          decipher.final("utf8")
        );
      } catch {
        throw new Error(
          "a stored secret can't be decrypted: PARLEY_SECRET has changed since it was encrypted",
        );
      }
    },
  };
}
