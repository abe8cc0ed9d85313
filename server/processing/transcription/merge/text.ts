import type { Piece } from "./merged.ts";

/** Words cut in two at the very end of a chunk are misheard: this many may differ at a seam. */
const maxBrokenWords = 2;

/** How many words at a seam are searched for repetitions; chunks overlap by a few seconds. */
const maxSeamWords = 40;

/** Segments this close may hold the same words, as two runs of a model differ about times. */
const nearMs = 250;

interface Word {
  /** In the form used for comparison. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Concatenates the segments of two chunks. Where the last segment of the first and the first segment of the second
 * overlap in time, words that both contain are kept once: in the first, unless the end of its chunk cut off its last
 * words.
 */
export function joinTexts(former: readonly Piece[], latter: readonly Piece[]): Piece[] {
  const head = [...former];
  const tail = [...latter];
  const lastIndex = indexOfLatestEnd(head);
  const last = head[lastIndex];
  while (last !== undefined && tail[0] !== undefined) {
    const first = tail[0];
    if (first.startMs >= last.endMs + nearMs) break;
    const seam = findSeam(
      wordsOf(last.text).slice(-maxSeamWords),
      wordsOf(first.text).slice(0, maxSeamWords),
    );
    if (seam === null) break;
    const rest = first.text.slice(seam.cutLatterAt).replace(/^[\s\p{P}]+/u, "");
    if (rest === "") {
      tail.shift();
      continue;
    }
    head[lastIndex] = {
      ...last,
      text: seam.cutFormerAt === null ? last.text : last.text.slice(0, seam.cutFormerAt).trim(),
    };
    const startMs = Math.min(Math.max(first.startMs, last.endMs), first.endMs);
    tail[0] = { ...first, text: rest, startMs };
    break;
  }
  return [...head, ...tail];
}

function indexOfLatestEnd(pieces: readonly Piece[]): number {
  return pieces.reduce(
    (best, piece, index) => (piece.endMs >= (pieces[best]?.endMs ?? -1) ? index : best),
    -1,
  );
}

/** Where the texts repeat each other, as indexes of characters; null: they don't. */
function findSeam(
  former: readonly Word[],
  latter: readonly Word[],
): { cutFormerAt: number | null; cutLatterAt: number } | null {
  const most = Math.min(former.length, latter.length);
  for (let length = most; length > 0; length--) {
    // A single word is more often coincidence than repetition, unless it is right at the seam.
    const slack = length > 1 ? maxBrokenWords : 0;
    for (let broken = 0; broken <= 2 * slack; broken++) {
      for (let after = Math.max(0, broken - slack); after <= Math.min(slack, broken); after++) {
        const before = broken - after;
        if (!isSame(former, former.length - after - length, latter, before, length)) continue;
        return {
          cutFormerAt: after === 0 ? null : (former[former.length - after]?.start ?? null),
          cutLatterAt: latter[before + length - 1]?.end ?? 0,
        };
      }
    }
  }
  return null;
}

function isSame(
  former: readonly Word[],
  formerAt: number,
  latter: readonly Word[],
  latterAt: number,
  length: number,
): boolean {
  if (formerAt < 0 || latterAt + length > latter.length) return false;
  for (let index = 0; index < length; index++)
    if (former[formerAt + index]?.word !== latter[latterAt + index]?.word) return false;
  return true;
}

/** Words of any language, including those written without spaces. */
function wordsOf(text: string): Word[] {
  return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
    .filter((part) => part.isWordLike)
    .map(({ segment, index }) => ({
      word: segment.toLowerCase(),
      start: index,
      end: index + segment.length,
    }));
}
