import { z } from "zod";
import type { Sealer } from "../links/sealer.ts";

/** What stands where a person's name was. */
export const erasedName = "Erased person";

/** What stands where the person's words were. */
export const erasedWords = "[erased]";

/** Somebody who is to be forgotten. */
export interface Person {
  readonly workspaceId: string;
  /** As it was given; compared without case. */
  readonly email: string;
  /** What their account was called. */
  readonly names: readonly string[];
  /** Their account; null: they had none. */
  readonly userId: string | null;
}

const Sealed = z.object({
  sealedFor: z.literal("erasure"),
  email: z.string(),
  names: z.array(z.string()),
});

/** Who is to be forgotten, as it is kept until that is done. */
export function sealPerson(sealer: Sealer, { email, names }: Pick<Person, "email" | "names">): Buffer {
  return sealer.seal(JSON.stringify({ sealedFor: "erasure", email, names }));
}

export function openPerson(sealer: Sealer, sealed: Buffer): Pick<Person, "email" | "names"> {
  return Sealed.parse(JSON.parse(sealer.open(sealed)));
}
