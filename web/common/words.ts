import type { Segment, Word } from "../api/recording/recording.ts";

/** The words of each segment, by the segment's position in the transcript; null: not loaded, or none has a time. */
export type SegmentWords = readonly (readonly Word[])[] | null;

/** A word with its place in the segment's text. Times in milliseconds. */
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

/** All words of a segment. Times that are not known are estimated from the letters before them. */
export function estimateWords(segment: Segment, words: readonly Word[]): PlacedWord[] {
  const all = [...segment.text.matchAll(/\S+/g)];
  const letters = all.reduce((sum, [text]) => sum + text.length + 1, 0);
  const share = (segment.end - segment.start) / Math.max(1, letters);
  let done = 0;
  let before = segment.start;
  return all.map(({ index, 0: text }, number) => {
    const start = words[number]?.start ?? Math.max(segment.start + done * share, before);
    done += text.length + 1;
    const end = words[number]?.end ?? Math.max(start, segment.start + done * share);
    before = end;
    return { from: index, to: index + text.length, start, end };
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

interface Clip {
  /** Milliseconds. */
  readonly timestamp: number;
  readonly duration: number;
}

/** The parts of a segment's text that are in clips, as offsets. A word counts where its middle is inside. */
export function clippedParts(
  segment: Segment,
  words: readonly Word[],
  clips: readonly Clip[],
): [from: number, to: number][] {
  const here = clips.filter(
    ({ timestamp, duration }) => timestamp < segment.end && timestamp + duration > segment.start,
  );
  if (here.length === 0) return [];
  const placed = estimateWords(segment, words);
  return here.flatMap(({ timestamp, duration }) => {
    const inside = placed.filter(({ start, end }) => {
      const middle = (start + end) / 2;
      return middle >= timestamp && middle < timestamp + duration;
    });
    const [first, last] = [inside[0], inside.at(-1)];
    return first === undefined || last === undefined ? [] : [[first.from, last.to]];
  });
}
