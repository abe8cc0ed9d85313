/** A word as a part of compounds in one language: the beginning of their stems, and the end. */
export interface CompoundPart {
  /** PostgreSQL's name of the language. */
  readonly language: string;
  readonly head: string;
  /** null: too short to be found at an end. */
  readonly tail: string | null;
}

/** The shortest stem that counts as a compound (parley_search_tail). */
export const minCompound = 7;

/** Shorter words are in too many others by chance. */
const minPart = 4;

/**
 * Goes before a word to find its stem at the end of a compound, where more endings are removed than from the word alone:
 * all of them, behind two syllables.
 */
export const compoundBeginning = "babab";

/**
 * How a word may be part of compounds.
 * @param stems as in the index, `=language=stem`.
 * @param tails as in the index, `=language<mets`, of the word behind `compoundBeginning`.
 */
export function compoundParts(
  word: string,
  stems: readonly string[],
  tails: readonly string[],
): CompoundPart[] {
  if (word.length < minPart || !/^\p{L}+$/u.test(word)) return [];
  return tails.map((full): CompoundPart => {
    const [language = "", reversed = ""] = full.slice(1).split("<");
    const start = `=${language}=`;
    const stem = stems.find((text) => text.startsWith(start))?.slice(start.length) ?? "";
    const tail = [...reversed].reverse().join("").slice(compoundBeginning.length);
    return {
      language,
      head: stem.length >= minPart ? stem : word,
      tail: tail.length >= minPart ? tail : null,
    };
  });
}

/** Whether a stem, `=language=stem`, is of a compound with this part. */
export function hasPart(full: string, { language, head, tail }: CompoundPart): boolean {
  if (!full.startsWith(`=${language}=`)) return false;
  const stem = full.slice(language.length + 2);
  return stem.startsWith(head) || (tail !== null && stem.length >= minCompound && stem.endsWith(tail));
}

/** Hebrew's article, conjunction and prepositions, as they are written before a word. */
const hebrewPrefixes =
  "ה ו ב כ ל מ ש וה וב וכ ול ומ וש שה שב שכ של שמ שו מה מש כש כשה וכש ושה ומה ובה בה כה לה לכש".split(" ");

/** A word with what may be written before it; empty for words that aren't Hebrew. */
export function prefixedForms(word: string): string[] {
  return /^[\u05d0-\u05ea]{2,}$/.test(word) ? hebrewPrefixes.map((prefix) => prefix + word) : [];
}
