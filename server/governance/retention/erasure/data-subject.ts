import { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";

/** Replaces a person's name. */
export const erasedName = "Erased person";

/** Replaces a person's words. */
export const erasedWords = "[erased]";

/** The person whose data is erased. */
export interface DataSubject {
  readonly workspaceId: string;
  /** As given; compared ignoring case. */
  readonly email: string;
  /** Names of their account. */
  readonly names: readonly string[];
  /** Their account; null without one. */
  readonly userId: string | null;
}

const EncryptedPerson = z.object({
  encryptedFor: z.literal("erasure"),
  email: z.string(),
  names: z.array(z.string()),
});

/** The person in the form that is stored until their data is erased. */
export function encryptDataSubject(
  encryptor: Encryptor,
  { email, names }: Pick<DataSubject, "email" | "names">,
): Buffer {
  return encryptor.encrypt(JSON.stringify({ encryptedFor: "erasure", email, names }));
}

export function decryptDataSubject(
  encryptor: Encryptor,
  encrypted: Buffer,
): Pick<DataSubject, "email" | "names"> {
  return EncryptedPerson.parse(JSON.parse(encryptor.decrypt(encrypted)));
}
