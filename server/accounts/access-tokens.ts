import { createHash, randomBytes } from "node:crypto";

const prefixes = {
  personal_access_token: "parley_pat_",
  workspace_access_token: "parley_wat_",
  oauth: "parley_oat_",
} as const;

export type AccessTokenType = keyof typeof prefixes;

/** 256 random bits as base64url take 43 characters. */
const tokenPattern = /^parley_[a-z]{3}_[A-Za-z0-9_-]{43}$/;

/** Makes a token of 256 random bits. It is shown once and never stored. */
export function generateToken(type: AccessTokenType): string {
  return prefixes[type] + randomBytes(32).toString("base64url");
}

/** Whether a text can be one of our tokens at all, so that noise never reaches the database. */
export function looksLikeToken(text: string): boolean {
  return tokenPattern.test(text);
}

/**
 * What is stored of a token. A plain SHA-256 suffices: 256 random bits can't be guessed, and looking a hash up in
 * an index tells nothing about the token by its timing.
 */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
