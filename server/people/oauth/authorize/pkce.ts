import { createHash, timingSafeEqual } from "node:crypto";

/** The S256 of a verifier: 32 bytes as base64url. */
export const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/** RFC 7636, section 4.1. */
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Why the verifier doesn't match the challenge, in words; null when it does. A verifier without a challenge means that an
 * attacker removed the challenge from the authorization request (RFC 9700, section 2.1.1).
 */
export function pkceProblem(challenge: string | null, verifier: string | undefined): string | null {
  if (challenge === null)
    return verifier === undefined ? null : "the authorization request had no code_challenge";
  if (verifier === undefined) return "the code_verifier is missing";
  if (!verifierPattern.test(verifier)) return "the code_verifier must be 43 to 128 unreserved characters";
  const actual = createHash("sha256").update(verifier).digest();
  return timingSafeEqual(actual, Buffer.from(challenge, "base64url"))
    ? null
    : "the code_verifier does not match the code_challenge";
}
