import { hashPassword, type PasswordCost } from "../../server/people/accounts/sign-in/passwords.ts";

/** For tests that are not about the cost of hashing: thousands of times less than the server's. */
export const cheapCost: PasswordCost = { memory: 32, passes: 1, parallelism: 4 };

/** A password hash in the server's format with a much lower cost, which the hash names. */
export function cheapHash(password: string): Promise<string> {
  return hashPassword(password, cheapCost);
}
