import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { countEach, hasResult } from "./count.ts";
import type { SearchFilter } from "./find.ts";
import { type ReadTerm, readQuery } from "./read-query.ts";
import { wantedQuery } from "./terms.ts";

/** Words of a query that are checked at most; a longer one with several mistakes gets no suggestion. */
const maxMisspelled = 2;

/** Lengths of words that are corrected: shorter ones resemble too many, longer ones have too many variants. */
const minLength = 3;
const maxLength = 16;

/** Recordings with a spelling that are counted at most, to find the one that most have. */
const maxCompared = 1000;

const alphabets = [
  "abcdefghijklmnopqrstuvwxyz",
  "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
  "αβγδεζηθικλμνξοπρστυφχψως",
];

/**
 * The query with misspelled words corrected; null unless that has results. A word counts as misspelled if it is in no
 * recording that the principal can see, and is replaced by the one in most of these that differs by one letter.
 * @param source a transaction with `searchSettings`.
 */
export async function suggestQuery(
  source: Queryable,
  principal: Pick<Principal, "sees">,
  query: string,
  terms: readonly ReadTerm[],
  filter: SearchFilter,
): Promise<string | null> {
  const wanted = terms.filter((term) => !term.isExcluded);
  const known = await countEach(
    source,
    principal,
    wanted.map((term) => wantedQuery([term])),
    1,
  );
  const misspelled = wanted.filter((_, index) => !known.has(index));
  if (misspelled.length === 0 || misspelled.length > maxMisspelled || !misspelled.every(isCorrectable))
    return null;
  const corrections = new Map<string, string>();
  for (const {
    text,
    words: [word = ""],
  } of misspelled) {
    const correction = await correct(source, principal, word);
    if (correction === null) return null;
    corrections.set(text, correction);
  }
  const suggestion = query
    .split(/(\s+)/)
    .map((part) => corrections.get(part) ?? part)
    .join("");
  return (await hasResult(source, principal, await readQuery(source, suggestion), filter))
    ? suggestion
    : null;
}

/** Whether it is a single word of letters. */
function isCorrectable({ words: [word = "", ...rest], isPhrase, isPrefix }: ReadTerm): boolean {
  const isWord = !isPhrase && !isPrefix && rest.length === 0 && /^\p{L}+$/u.test(word);
  return isWord && word.length >= minLength && word.length <= maxLength;
}

async function correct(
  source: Queryable,
  principal: Pick<Principal, "sees">,
  word: string,
): Promise<string | null> {
  const variants = variantsOf(word);
  const counts = await countEach(
    source,
    principal,
    // Letters only: nothing to escape.
    variants.map((variant) => `'${variant}'`),
    maxCompared,
  );
  const [best] = [...counts].sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || a - b);
  return best === undefined ? null : (variants[best[0]] ?? null);
}

/** All words that differ from a word by one letter: swapped with the next, missing, replaced or added. */
function variantsOf(word: string): string[] {
  const letters = [...word];
  const alphabet = [...(alphabets.find((one) => letters.some((letter) => one.includes(letter))) ?? "")];
  const variants = new Set<string>();
  const add = (at: number, removed: number, ...added: string[]) =>
    variants.add([...letters.slice(0, at), ...added, ...letters.slice(at + removed)].join(""));
  for (const [at, letter] of letters.entries()) {
    const next = letters[at + 1];
    if (next !== undefined) add(at, 2, next, letter);
  }
  for (const at of letters.keys()) add(at, 1);
  for (const letter of alphabet)
    for (let at = 0; at <= letters.length; at += 1) {
      if (at < letters.length) add(at, 1, letter);
      add(at, 0, letter);
    }
  variants.delete(word);
  return [...variants];
}
