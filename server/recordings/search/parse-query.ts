/** A part of a query as typed. */
export interface TypedTerm {
  readonly text: string;
  /** An exact phrase. */
  readonly isPhrase: boolean;
  /** Matches words that start with it. */
  readonly isPrefix: boolean;
  /** Excludes recordings that contain it. */
  readonly isExcluded: boolean;
}

const opening = '"“”„«»';
// Linear: whatever follows an opening character matches.
const term = new RegExp(`(-?)(?:[${opening}]([^${opening}]*)(?:[${opening}]|$)|([^\\s${opening}]+))`, "gu");

/**
 * Parses a query: words, `"phrases"`, prefixes (`word*`), and exclusions of each (`-word`). No input is an error: an
 * unclosed quote runs to the end, and other punctuation is ignored.
 */
export function parseQuery(query: string): TypedTerm[] {
  // Hebrew abbreviations have quotes before their last letter.
  const unambiguous = query.replace(/(?<=[\u05d0-\u05ea])["”](?=[\u05d0-\u05ea])/g, "״");
  return [...unambiguous.matchAll(term)].flatMap(([, minus, phrase, word]): TypedTerm[] => {
    const isExcluded = minus === "-";
    if (phrase !== undefined)
      return phrase.trim() === ""
        ? []
        : [{ text: phrase.trim(), isPhrase: true, isPrefix: false, isExcluded }];
    // Bounded: a search query.
    const text = (word ?? "").replace(/\*+$/, "");
    return text === "" ? [] : [{ text, isPhrase: false, isPrefix: text !== word, isExcluded }];
  });
}
