/** A match: segment index, and start and end in its text. */
export interface Hit {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Bounds the memory of a search for a single letter in a very long meeting. */
const maxHits = 500_000;

/**
 * A text without case and accents, for comparison. It keeps the length, so that indexes are valid in both.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a fast path for ASCII, the common case.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  let folded = "";
  for (const letter of text) {
    const plain = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    folded += plain.length === letter.length ? plain : letter;
  }
  return folded;
}

/** All matches of a text in the transcript, in order. @param folded the segments' texts, by `fold`. */
export function findHits(folded: readonly string[], query: string): Hit[] {
  const wanted = fold(query.trim());
  if (wanted === "") return [];
  const hits: Hit[] = [];
  for (const [index, text] of folded.entries()) {
    for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
      hits.push({ index, from, to: from + wanted.length });
      if (hits.length === maxHits) return hits;
    }
  }
  return hits;
}

/** As `findHits`; if the text as a whole has no match, those of each of its words. */
export function findHitsOfAny(folded: readonly string[], query: string): Hit[] {
  const whole = findHits(folded, query);
  const words = [...new Set(query.trim().split(/\s+/))];
  if (whole.length > 0 || words.length === 1) return whole;
  const all = words
    .flatMap((word) => findHits(folded, word))
    .sort((a, b) => a.index - b.index || a.from - b.from || b.to - a.to);
  // A word may be the beginning of another one.
  return all.filter((hit, n) => {
    const before = all[n - 1];
    return before === undefined || before.index !== hit.index || hit.from >= before.to;
  });
}
