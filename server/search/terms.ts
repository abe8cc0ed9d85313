/** One thing to look for, in the words of the index (parley_search_vector). */
export interface Term {
  /** One word, or the words of a phrase in their order; never none. */
  readonly words: readonly string[];
  /** The last word is the beginning of one. */
  readonly isPrefix: boolean;
  readonly isExcluded: boolean;
  /** Stems as the index has them, `=language=stem`; none for phrases and beginnings, which are taken word for word. */
  readonly stems: readonly string[];
}

/** What stands between two segments in a piece of transcript (migration 0011). */
export const border = "/s/s";

/** A word as a tsquery holds it: quoted, so that nothing in it is an operator. */
function lexeme(word: string, marks = ""): string {
  return `'${word.replace(/[\\']/g, "$&$&")}'${marks}`;
}

/**
 * Which recordings to look at: all words of what is wanted, none of what is not. A phrase is only asked for by its
 * words here, and an excluded one not at all, since the index knows no places.
 */
export function wantedQuery(terms: readonly Term[]): string {
  return terms
    .flatMap((term) => {
      if (term.isExcluded) return term.words.length > 1 ? [] : [`!(${anyForm(term)})`];
      return [`(${term.words.length > 1 ? allWords(term) : anyForm(term)})`];
    })
    .join(" & ");
}

/** What counts for the order, in what has places and stems. @param weights `A` to `D` to look at; all without. */
export function rankedQuery(terms: readonly Term[], weights = ""): string {
  return terms
    .filter((term) => !term.isExcluded)
    .map((term) => `(${term.words.length > 1 ? phrase(term, weights) : anyForm(term, weights)})`)
    .join(" | ");
}

/**
 * The same in pieces of transcripts and other texts, which hold words but no stems: a word by what its stem in the
 * language begins with, so that it finds all that is meant and a little more.
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

function anyForm({ words: [word = ""], stems, isPrefix }: Term, weights = ""): string {
  return [
    lexeme(word, marksOf(isPrefix, weights)),
    ...stems.map((stem) => lexeme(stem, marksOf(false, weights))),
  ].join(" | ");
}

function anyBeginning({ words: [word = ""], stems, isPrefix }: Term, language: string): string {
  const start = `=${language}=`;
  const beginnings = stems
    .filter((stem) => stem.startsWith(start))
    // Stems end otherwise than words do: happi, happy.
    .map((stem) => [...stem.slice(start.length)])
    .map((letters) => letters.slice(0, Math.max(2, letters.length - 1)).join(""));
  return [lexeme(word, marksOf(isPrefix, "")), ...beginnings.map((text) => lexeme(text, ":*"))].join(" | ");
}

function allWords(term: Term): string {
  return wordsOf(term).join(" & ");
}

function phrase(term: Term, weights = ""): string {
  return wordsOf(term, weights).join(" <-> ");
}

/** A phrase may be spoken across the border of two segments: there the border is a word of it. */
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
