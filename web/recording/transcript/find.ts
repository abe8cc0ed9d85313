import type { Segment } from "../../api/recording.ts";

/** A place where what is looked for stands: in which segment, from which letter to which. */
export interface Hit {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** A single letter in a very long meeting; more than this would cost the browser more than they are worth. */
export const mostHits = 500_000;

/**
 * A text as it is compared: without case and accents. Letter for letter as long as the text, so that places in one are
 * places in the other.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain text is most of all and needs no look at each letter.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  let folded = "";
  for (const letter of text) {
    const plain = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    folded += plain.length === letter.length ? plain : letter;
  }
  return folded;
}

/** Everywhere a text stands in the transcript, in order. @param folded the texts of the segments, by `fold`. */
export function findHits(folded: readonly string[], query: string): Hit[] {
  const wanted = fold(query.trim());
  if (wanted === "") return [];
  const hits: Hit[] = [];
  for (const [index, text] of folded.entries()) {
    for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
      hits.push({ index, from, to: from + wanted.length });
      if (hits.length === mostHits) return hits;
    }
  }
  return hits;
}

/** The segment that is spoken at a moment, or the last one before it; -1 before the first. */
export function segmentAt(segments: readonly Segment[], ms: number): number {
  let [low, high] = [0, segments.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.start ?? 0) <= ms) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}
