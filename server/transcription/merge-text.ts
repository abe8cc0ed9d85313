import type { Piece } from "./merged.ts";

/** Words cut in two at the very end of a chunk come out wrong: so many may differ at a seam. */
const maxBrokenWords = 2;

/** Repeated words are looked for among so many at a seam; the overlap of chunks is some seconds. */
const maxSeamWords = 40;

/** Segments this close may hold the same words, as two runs of a model differ about times. */
const nearMs = 250;

interface Word {
  /** As compared. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Puts the segments of two chunks one after the other. Where the last one of the former and the first one of the
 * latter overlap in time, words that both hold are said once: the former keeps them, unless the end of the chunk broke
 * its last ones.
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

/** Where the texts repeat each other: indexes into their characters; null: they don't. */
function findSeam(
  former: readonly Word[],
  latter: readonly Word[],
): { cutFormerAt: number | null; cutLatterAt: number } | null {
  const most = Math.min(former.length, latter.length);
  for (let length = most; length > 0; length--) {
    // One word alone is chance more often than repetition, unless it stands right at the seam.
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

/** Words of any language, also of those written without spaces. */
function wordsOf(text: string): Word[] {
  return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
    .filter((part) => part.isWordLike)
    .map(({ segment, index }) => ({
      word: segment.toLowerCase(),
      start: index,
      end: index + segment.length,
    }));
}
