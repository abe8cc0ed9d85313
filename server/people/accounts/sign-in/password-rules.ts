import { foldCase } from "../../../../shared/fold-case.ts";

/** In code points, roughly the characters that users see. */
export const minCharacters = 10;

/** Far longer than any passphrase; keeps callers from making the server hash megabytes. */
export const maxBytes = 1000;

/**
 * The most common passwords that are long enough to pass the length rule, from public lists of leaked passwords.
 */
const commonPasswords: ReadonlySet<string> = new Set([
  "1234567890",
  "12345678910",
  "123456789a",
  "0123456789",
  "0987654321",
  "9876543210",
  "1234512345",
  "1q2w3e4r5t",
  "1q2w3e4r5t6y",
  "1qaz2wsx3edc",
  "q1w2e3r4t5",
  "q1w2e3r4t5y6",
  "qwertyuiop",
  "qwertyuiop1",
  "qwerty12345",
  "qwerty123456",
  "asdfghjkl1",
  "asdfghjkl;",
  "zaq12wsxcde3",
  "password12",
  "password123",
  "password1234",
  "password12345",
  "passw0rd123",
  "p@ssw0rd123",
  "p@ssword123",
  "mypassword",
  "mypassword1",
  "changeme123",
  "changeme1234",
  "letmein123",
  "letmein1234",
  "welcome123",
  "welcome1234",
  "iloveyou12",
  "iloveyou123",
  "iloveyou1234",
  "sunshine123",
  "football123",
  "baseball123",
  "superman123",
  "princess123",
  "dragon12345",
  "monkey12345",
  "michael123",
  "charlie123",
  "jordan12345",
  "computer123",
  "internet123",
  "administrator",
  "administrator1",
  "admin12345",
  "admin123456",
  "adminadmin",
  "rootroot123",
  "test123456",
  "testtest123",
  "abcdefghij",
  "abcdefghijk",
  "abc1234567",
  "abcd123456",
  "abcd12345678",
  "a123456789",
  "aa123456789",
  "azertyuiop",
  "1234qwerasdf",
  "qwerasdfzxcv",
  "qazwsxedcrfv",
  "correcthorsebatterystaple",
]);

/** Why a password is refused, in words that follow "the password". */
export const passwordProblems = {
  short: `needs at least ${minCharacters} characters`,
  long: `must be at most ${maxBytes} bytes long`,
  email: "must not be the email address",
  common: "is too easy to guess; choose another",
} as const;

export type PasswordProblem = keyof typeof passwordProblems;

/**
 * Why a password is refused; null when it is acceptable.
 * Source: NIST SP 800-63B, 5.1.1.2: length and lists of known passwords, no rules of composition.
 */
export function passwordProblem(password: string, email: string): PasswordProblem | null {
  const text = password.normalize("NFKC");
  const plain = text.toLowerCase().trim();
  if ([...text].length < minCharacters) return "short";
  if (Buffer.byteLength(text) > maxBytes) return "long";
  if (foldCase(text.trim()) === foldCase(email.trim())) return "email";
  if (commonPasswords.has(plain) || new Set(plain).size <= 2) return "common";
  return null;
}
