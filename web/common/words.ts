import type { Segment, Word } from "../api/recording.ts";

/** The words of each segment, by the segment's position in the transcript; null: not loaded, or none has a time. */
export type SegmentWords = readonly (readonly Word[])[] | null;

/** A word whose time is known, with its place in the segment's text. */
interface PlacedWord {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Parley's words are what whitespace separates, in order. */
export function placeWords(segment: Segment, words: readonly Word[] | undefined): PlacedWord[] {
  if (words === undefined || words.length === 0) return [];
  return [...segment.text.matchAll(/\S+/g)].flatMap(({ index, 0: text }, number) => {
    const { start, end } = words[number] ?? { start: null, end: null };
    return start === null || end === null ? [] : [{ from: index, to: index + text.length, start, end }];
  });
}

/** The word that is spoken at a time, or was last before it. */
export function wordAt(words: readonly PlacedWord[], ms: number): PlacedWord | undefined {
  return words.findLast(({ start }) => start <= ms);
}

/** The word at an offset of the text, if its time is known. */
export function wordAtOffset(words: readonly PlacedWord[], offset: number): PlacedWord | undefined {
  return words.find(({ from, to }) => offset >= from && offset <= to);
}

/** Times in which someone speaks, in order; they do not overlap. */
export type SpokenRanges = readonly (readonly [startMs: number, endMs: number])[];

/** When someone speaks: the words, or the whole segment where their times are not known. */
export function spokenRanges(segments: readonly Segment[], words: SegmentWords): SpokenRanges {
  const ranges: [number, number][] = [];
  const all = segments.flatMap((segment, index): { start: number; end: number }[] => {
    const placed = placeWords(segment, words?.[index]);
    return placed.length > 0 ? placed : [segment];
  });
  for (const { start, end } of all.sort((a, b) => a.start - b.start)) {
    const last = ranges.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else ranges.push([start, end]);
  }
  return ranges;
}
