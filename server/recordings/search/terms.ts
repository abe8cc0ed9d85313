import type { CompoundPart } from "./forms.ts";
import { stemmers } from "./languages.ts";

/** A part of a query in the words of the index (parley_search_vector). */
export interface Term {
  /** One word, or the words of a phrase in order; never empty. */
  readonly words: readonly string[];
  /** The last word is a prefix. */
  readonly isPrefix: boolean;
  readonly isExcluded: boolean;
  /** Stems in the form of the index, `=language=stem`; empty for phrases and prefixes, which match exactly. */
  readonly stems: readonly string[];
  /** Other words that are the same word, such as one behind its article. */
  readonly variants: readonly string[];
  /** The word as a part of compounds. */
  readonly parts: readonly CompoundPart[];
}

/** The word that separates two segments in a transcript piece (parley_search_index). */
export const border = "/s/s";

/** A word as a quoted tsquery lexeme, so that nothing in it is an operator. */
function lexeme(word: string, marks = ""): string {
  return `'${word.replace(/[\\']/g, "$&$&")}'${marks}`;
}

/**
 * Selects candidate recordings: with all wanted words and without excluded ones. Phrases match by their words here, and
 * excluded phrases not at all, because the index has no positions.
 */
export function wantedQuery(terms: readonly Term[]): string {
  return terms
    .flatMap((term) => {
      if (term.isExcluded) return term.words.length > 1 ? [] : [`!(${anyForm(term)})`];
      return [`(${term.words.length > 1 ? allWords(term) : anyForm(term)})`];
    })
    .join(" & ");
}

/** Ranks texts that have positions and stems. @param weights which of `A` to `D` to use; all by default. */
export function rankedQuery(terms: readonly Term[], weights = ""): string {
  return terms
    .filter((term) => !term.isExcluded)
    .map((term) => `(${term.words.length > 1 ? phrase(term, weights) : anyForm(term, weights)})`)
    .join(" | ");
}

/**
 * The same for transcript pieces and other texts, which have words but no stems: a word matches by the prefix it shares
 * with its stem in the language, which finds all matches and a few more.
 */
export function spokenQuery(terms: readonly Term[], language: string): string {
  return terms
    .filter((term) => !term.isExcluded)
    .map((term) => `(${term.words.length > 1 ? phraseAcross(term) : anyBeginning(term, language)})`)
    .join(" | ");
}

/** Phrases as conditions: where a recording has places, each must be found in one of them, or in none. */
export function phraseQueries(terms: readonly Term[]): { query: string; isExcluded: boolean }[] {
  return terms
    .filter((term) => term.words.length > 1)
    .map((term) => ({ query: phraseAcross(term), isExcluded: term.isExcluded }));
}

function anyForm({ words: [word = ""], stems, variants, parts, isPrefix }: Term, weights = ""): string {
  const beginnings = parts.flatMap(formsOfPart);
  // ts_rank counts a form only once, which must not change the score (parley_search_find).
  const exact = [...stems, ...variants].filter((form) => !beginnings.includes(form));
  return [
    lexeme(word, marksOf(isPrefix, weights)),
    ...exact.map((form) => lexeme(form, marksOf(false, weights))),
    ...beginnings.map((form) => lexeme(form, marksOf(true, weights))),
  ].join(" | ");
}

/** Beginnings of what the index has of compounds: stems, and reversed stems (parley_search_tail). */
function formsOfPart({ language, head, tail }: CompoundPart): string[] {
  const reversed = tail === null ? [] : [`=${language}<${[...tail].reverse().join("")}`];
  return [`=${language}=${head}`, ...reversed];
}

function anyBeginning(term: Term, language: string): string {
  const {
    words: [word = ""],
    variants,
    isPrefix,
  } = term;
  const beginnings = stemBeginnings(term, language);
  const isOther = beginnings.length > 0 && !beginnings.some((beginning) => word.startsWith(beginning));
  return [
    lexeme(word, marksOf(isPrefix || isOther, "")),
    ...variants.map((variant) => lexeme(variant)),
    ...beginnings.map((text) => lexeme(text, ":*")),
  ].join(" | ");
}

/**
 * What selects the words of a text that may match a term, in any language: whole words, and prefixes of words, which are few
 * and short, because a text is scanned for each of them. Of compounds, also what they contain.
 */
export function selectorsOf(terms: readonly Term[]): {
  words: string[];
  beginnings: string[];
  inner: { language: string; text: string }[];
} {
  const wanted = terms.filter((term) => !term.isExcluded);
  const prefixes = wanted.flatMap((term) => (term.isPrefix ? term.words.slice(-1) : []));
  const stems = wanted.flatMap((term) => stemmers.flatMap((language) => stemBeginnings(term, language)));
  // A stem may begin differently from its word, which others with this stem then begin with.
  const inflected = wanted.filter((term) => term.stems.length > 0).flatMap((term) => term.words);
  return {
    words: [
      ...new Set(
        wanted.flatMap((term) => [
          ...(term.isPrefix ? term.words.slice(0, -1) : term.words),
          ...term.variants,
        ]),
      ),
    ],
    beginnings: shortest([...prefixes, ...stems, ...inflected]),
    inner: wanted.flatMap(({ parts }) =>
      parts.flatMap(({ language, tail }) => (tail === null ? [] : [{ language, text: tail }])),
    ),
  };
}

/** Prefixes without those that begin with another one. */
function shortest(prefixes: readonly string[]): string[] {
  const different = [...new Set(prefixes)];
  return different.filter((text) => !different.some((other) => other !== text && text.startsWith(other)));
}

/** Stems and words may end differently: happi, happy. */
function stemBeginnings({ stems }: Term, language: string): string[] {
  const start = `=${language}=`;
  return stems
    .filter((stem) => stem.startsWith(start))
    .map((stem) => [...stem.slice(start.length)])
    .map((letters) => letters.slice(0, Math.max(2, letters.length - 1)).join(""));
}

function allWords(term: Term): string {
  return wordsOf(term).join(" & ");
}

function phrase(term: Term, weights = ""): string {
  return wordsOf(term, weights).join(" <-> ");
}

/** A phrase may span two segments, where the border between them counts as a word. */
function phraseAcross(term: Term): string {
  const words = wordsOf(term);
  const variants = words
    .slice(1, 12)
    .map((_, gap) => [...words.slice(0, gap + 1), lexeme(border), ...words.slice(gap + 1)].join(" <-> "));
  return [phrase(term), ...variants].map((variant) => `(${variant})`).join(" | ");
}

function wordsOf({ words, isPrefix }: Term, weights = ""): string[] {
  return words.map((word, n) => lexeme(word, marksOf(isPrefix && n === words.length - 1, weights)));
}

function marksOf(isPrefix: boolean, weights: string): string {
  return isPrefix || weights !== "" ? `:${isPrefix ? "*" : ""}${weights}` : "";
}
