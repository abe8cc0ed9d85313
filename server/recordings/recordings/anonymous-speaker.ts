import { foldName } from "../../../shared/fold-case.ts";

/**
 * The names of speakers whom nobody has named: "Unknown Speaker" and a number, counting from 1 and leaving out numbers that
 * are the names of participants. Source: contract.md, "Upload Attributes".
 * @param taken names of participants, which no anonymous speaker may get.
 * @returns the next name.
 */
export function anonymousNames(taken: Iterable<string>): () => string {
  const names = new Set([...taken].map(foldName));
  let number = 0;
  return () => {
    do number += 1;
    while (names.has(`unknown speaker ${number}`));
    return `Unknown Speaker ${number}`;
  };
}

/** Whether a name is one that `anonymousNames` gives. */
export function isAnonymousName(name: string): boolean {
  return /^Unknown Speaker \d{1,9}$/.test(name);
}
