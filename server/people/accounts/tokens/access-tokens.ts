import { createHash, randomBytes } from "node:crypto";

const prefixes = {
  personal_access_token: "parley_pat_",
  workspace_access_token: "parley_wat_",
  oauth: "parley_oat_",
} as const;

export type AccessTokenType = keyof typeof prefixes;

/** 256 random bits as base64url take 43 characters. */
const tokenPattern = /^parley_[a-z]{3}_[A-Za-z0-9_-]{43}$/;

/** Generates a token of 256 random bits. It is shown once and never stored. */
export function generateToken(type: AccessTokenType): string {
  return prefixes[type] + randomBytes(32).toString("base64url");
}

/** The type of a token by its form; null for any other text, so that noise never reaches the database. */
export function tokenTypeOf(text: string): AccessTokenType | null {
  if (!tokenPattern.test(text)) return null;
  const types = Object.keys(prefixes) as AccessTokenType[];
  return types.find((type) => text.startsWith(prefixes[type])) ?? null;
}

/**
 * The stored hash of a token. A plain SHA-256 suffices: 256 random bits can't be guessed, and the timing of an index
 * lookup by hash reveals nothing about the token.
 */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
