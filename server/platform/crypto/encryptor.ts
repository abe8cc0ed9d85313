import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, idBytes, type Keyring, keyringOf } from "./keyring.ts";

/** Encrypts secrets that must be read back, so that a copy of the database does not reveal them. */
export interface Encryptor {
  encrypt(text: string): Buffer;
  /** @throws Error when it was encrypted with a secret that is not given, or modified. */
  decrypt(encrypted: Buffer): string;
  /** What precedes the values that `encrypt` returns, once the secret was rotated. */
  readonly keyId: Buffer;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM (NIST SP 800-38D) with a key derived from the first secret: its id, nonce, tag, ciphertext. Until the secret
 * is rotated for the first time, values have no id, as those of earlier versions.
 * @param source a secret that was never rotated, or all of an installation.
 */
export function createEncryptor(source: string | Keyring): Encryptor {
  const keyring = typeof source === "string" ? keyringOf(source) : source;
  const keys = new Map<string, Buffer>();
  const keyOf = (secret: string): Buffer => {
    const key = keys.get(secret) ?? deriveKey(secret, "seal");
    keys.set(secret, key);
    return key;
  };
  return {
    get keyId() {
      return keyring.secrets[0].id;
    },
    encrypt(text) {
      const [secret] = keyring.secrets;
      const encrypted = encryptWith(keyOf(secret.text), text);
      return keyring.linkKeys === null ? encrypted : Buffer.concat([secret.id, encrypted]);
    },
    decrypt(encrypted) {
      for (const { id, text } of keyring.secrets) {
        if (!encrypted.subarray(0, idBytes).equals(id)) continue;
        const decrypted = decryptWith(keyOf(text), encrypted.subarray(idBytes));
        if (decrypted !== null) return decrypted;
      }
      for (const { text } of keyring.secrets) {
        const decrypted = decryptWith(keyOf(text), encrypted);
        if (decrypted !== null) return decrypted;
      }
      throw new Error("a stored secret can't be decrypted: PARLEY_SECRET has changed since it was encrypted");
    },
  };
}

function encryptWith(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** @returns null when it was encrypted with another key, or modified. */
function decryptWith(key: Buffer, encrypted: Buffer): string | null {
  if (encrypted.length < nonceBytes + tagBytes) return null;
  const nonce = encrypted.subarray(0, nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(encrypted.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return (
      decipher.update(encrypted.subarray(nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8")
    );
  } catch {
    return null;
  }
}
