import { type Argon2Parameters, argon2, randomBytes } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);

/** The first recommendation of RFC 9106 for little memory: 64 MiB, 3 passes, 4 lanes. */
const cost = { memory: 65_536, passes: 3, parallelism: 4, tagLength: 32 } as const;

/**
 * Hashes a password with argon2id.
 * @returns the PHC string form, which carries its own salt and cost.
 */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const parameters: Argon2Parameters = { message: password.normalize("NFKC"), nonce, ...cost };
  const tag = await derive("argon2id", parameters);
  const encode = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${encode(nonce)}$${encode(tag)}`;
}
