import { randomBytes, timingSafeEqual } from "node:crypto";

/** Each kind has a prefix, so that secret scanners recognize leaked ones. */
const prefixes = { refresh: "parley_ort_", code: "parley_oac_", client: "parley_ocs_" } as const;

/** Generates a code, refresh token or client secret of 256 random bits. It is shown once and never stored. */
export function generateSecret(kind: keyof typeof prefixes): string {
  return prefixes[kind] + randomBytes(32).toString("base64url");
}

/** Compares SHA-256 hashes in constant time. */
export function isSameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
