/** One thing to look for, as it was typed. */
export interface TypedTerm {
  readonly text: string;
  /** Word for word, in this order. */
  readonly isPhrase: boolean;
  /** Whatever begins with it. */
  readonly isPrefix: boolean;
  /** Must not occur. */
  readonly isExcluded: boolean;
}

const opening = '"“”„«»';
const term = new RegExp(`(-?)(?:[${opening}]([^${opening}]*)(?:[${opening}]|$)|([^\\s${opening}]+))`, "gu");

/**
 * Takes a query apart: words, `"phrases"`, beginnings (`word*`), and each of them excluded (`-word`). Nothing that can
 * be typed is an error here: a quote that is never closed runs to the end, and a sign that means nothing is none.
 */
export function parseQuery(query: string): TypedTerm[] {
  return [...query.matchAll(term)].flatMap(([, minus, phrase, word]): TypedTerm[] => {
    const isExcluded = minus === "-";
    if (phrase !== undefined)
      return phrase.trim() === ""
        ? []
        : [{ text: phrase.trim(), isPhrase: true, isPrefix: false, isExcluded }];
    const text = (word ?? "").replace(/\*+$/, "");
    return text === "" ? [] : [{ text, isPhrase: false, isPrefix: text !== word, isExcluded }];
  });
}
