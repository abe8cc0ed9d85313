import { hasPart } from "./forms.ts";
import type { Term } from "./terms.ts";

/** A word at its position in a text: its form in the index, and its stem if it is one of the query's. */
export interface Word {
  readonly word: string;
  readonly stems: readonly string[];
}

/** Where a term was found: its first word position and its number of words. */
export interface Match {
  /** The index of the term. */
  readonly term: number;
  readonly at: number;
  readonly length: number;
}

/** Words by their places in a text; where a place holds none, the phrase ends. */
export type Text = ReadonlyMap<number, Word>;

/**
 * Finds every occurrence of the terms in a text, in no particular order. Excluded terms are skipped.
 * @param borders positions of borders between segments, which are not words (terms.ts, `border`).
 */
export function findMatches(text: Text, terms: readonly Term[], borders: ReadonlySet<number>): Match[] {
  const matches: Match[] = [];
  for (const [term, wanted] of terms.entries()) {
    if (wanted.isExcluded) continue;
    for (const [at, word] of text) {
      if (!isWord(word, wanted, 0)) continue;
      const end = followPhrase(text, wanted, at, borders);
      if (end !== null) matches.push({ term, at, length: end - at + 1 });
    }
  }
  return matches;
}

/** @returns the position of the phrase's last word, null when the next words do not match. */
function followPhrase(text: Text, term: Term, at: number, borders: ReadonlySet<number>): number | null {
  let place = at;
  for (let n = 1; n < term.words.length; n += 1) {
    place += borders.has(place + 1) ? 2 : 1;
    const word = text.get(place);
    if (word === undefined || !isWord(word, term, n)) return null;
  }
  return place;
}

/** Whether this is the nth word of the term. */
function isWord({ word, stems }: Word, term: Term, n: number): boolean {
  const wanted = term.words[n] ?? "";
  if (word === wanted) return true;
  if (term.isPrefix && n === term.words.length - 1) return word.startsWith(wanted);
  if (term.variants.includes(word)) return true;
  return stems.some((stem) => term.stems.includes(stem) || term.parts.some((part) => hasPart(stem, part)));
}
