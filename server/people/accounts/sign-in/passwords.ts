import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);

/** What hashing a password costs: KiB of memory, passes over it, parallel chains. */
export interface PasswordCost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** RFC 9106, second recommended option (low memory). */
export const passwordCost: PasswordCost = { memory: 65_536, passes: 3, parallelism: 4 };

/**
 * Hashes a password with argon2id.
 * @returns the hash in PHC string format, which includes salt and cost.
 */
export async function hashPassword(password: string, cost: PasswordCost = passwordCost): Promise<string> {
  const nonce = randomBytes(16);
  const message = password.normalize("NFKC");
  const tag = await derive("argon2id", { message, nonce, ...cost, tagLength: 32 });
  // Linear: the input is a hash of fixed length.
  const encode = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${encode(nonce)}$${encode(tag)}`;
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Whether a password matches a stored hash, computed at that hash's own cost.
 * @throws Error when the stored hash is not argon2id.
 */
export async function verifyPassword(stored: string, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] = phc.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) throw new Error("a stored password hash is not argon2id");
  const expected = Buffer.from(tag, "base64");
  const actual = await derive("argon2id", {
    message: password.normalize("NFKC"),
    nonce: Buffer.from(nonce, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected);
}

/** Takes as long as verifying a password, so that timing does not reveal whether an account exists or has one. */
export async function pretendToVerify(password: string, cost: PasswordCost): Promise<void> {
  await hashPassword(password, cost);
}
