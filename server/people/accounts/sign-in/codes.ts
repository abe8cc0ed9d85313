import { createHash, randomBytes } from "node:crypto";
import type { TOTP } from "otpauth";

/** How many time steps a code may be early or late, because clocks differ. */
const skew = 1;

const recoveryCodeCount = 10;

/** 31 characters that don't look alike: 16 of them are 79 random bits. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

/** A new TOTP secret in Base32, of 160 bits as RFC 4226 recommends. */
export async function newTotpSecret(): Promise<string> {
  const { Secret } = await import("otpauth");
  return new Secret({ size: 20 }).base32;
}

/** The URI that authenticator apps read from a QR code. */
export async function totpUri(secret: string, account: Account): Promise<string> {
  return (await totp(secret, account)).toString();
}

/**
 * The time step whose code this is, of those that are now, just over or just to come; null if it is none of them.
 * Source: RFC 6238.
 */
export async function findTotpStep(secret: string, code: string): Promise<number | null> {
  const token = code.replace(/\s/g, "");
  if (!/^[0-9]{6}$/.test(token)) return null;
  const one = await totp(secret, { issuer: "", email: "" });
  const delta = one.validate({ token, window: skew });
  return delta === null ? null : one.counter() + delta;
}

interface Account {
  readonly issuer: string;
  readonly email: string;
}

/** The library is loaded only here: most sign-ins need no code. */
async function totp(secret: string, { issuer, email }: Account): Promise<TOTP> {
  const { TOTP } = await import("otpauth");
  return new TOTP({ issuer, label: email, secret, algorithm: "SHA1", digits: 6, period: 30 });
}

/** New recovery codes, each in four groups of four characters. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () =>
    Array.from({ length: 4 }, () => randomText(4)).join("-"),
  );
}

/** Random characters of the alphabet, all equally likely. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length)
    for (const byte of randomBytes(2 * length)) {
      // The rest of 256 would make the first characters likelier.
      const character = byte < 248 ? alphabet[byte % 31] : undefined;
      if (character !== undefined && text.length < length) text += character;
    }
  return text;
}

/** The stored hash of a recovery code, however it is typed; null for a text that can't be one. */
export function hashRecoveryCode(code: string): Buffer | null {
  const plain = code.toLowerCase().replace(/[\s-]/g, "");
  // A plain SHA-256 suffices for 79 random bits.
  return /^[a-z0-9]{16}$/.test(plain) ? createHash("sha256").update(`recovery:${plain}`).digest() : null;
}
