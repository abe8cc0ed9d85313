import { argon2, randomBytes } from "node:crypto";
import { promisify } from "node:util";

const cost = { memory: 32, passes: 1, parallelism: 4, tagLength: 32 } as const;

/**
 * A password hash in the server's format with a much lower cost, which the hash names. For tests that sign in often and are
 * not about passwords.
 */
export async function cheapHash(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await promisify(argon2)("argon2id", { message: password, nonce, ...cost });
  const encode = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${encode(nonce)}$${encode(tag)}`;
}
