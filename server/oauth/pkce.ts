import { createHash, timingSafeEqual } from "node:crypto";

/** The S256 of a verifier: 32 bytes as base64url. */
export const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/** RFC 7636, section 4.1. */
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Why the verifier doesn't go with the challenge, in words; null when it does. A verifier where no challenge was sent
 * means that somebody took the challenge out of the request on its way (RFC 9700, section 2.1.1).
 */
export function pkceFault(challenge: string | null, verifier: string | undefined): string | null {
  if (challenge === null)
    return verifier === undefined ? null : "the authorization request had no code_challenge";
  if (verifier === undefined) return "the code_verifier is missing";
  if (!verifierPattern.test(verifier)) return "the code_verifier must be 43 to 128 unreserved characters";
  const actual = createHash("sha256").update(verifier).digest();
  return timingSafeEqual(actual, Buffer.from(challenge, "base64url"))
    ? null
    : "the code_verifier does not go with the code_challenge";
}
