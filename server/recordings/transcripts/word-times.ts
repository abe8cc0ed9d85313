import { setImmediate as otherWork } from "node:timers/promises";
import { alignWords, splitWords, type TimedWord, type WordTime } from "./align-words.ts";

/**
 * transcript_segments.word_times: two numbers for each word of the text as transcribed, start and end in milliseconds
 * from the start of the segment; both null where the time is not known. Edits leave them as they are: the times of an
 * edited text are found by comparing it with the original.
 */
export type StoredWordTimes = readonly (number | null)[];

/** The columns of a segment that tell when its words were spoken. */
export interface SegmentWithWords {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
  /** The text as transcribed, if the segment was edited. */
  readonly original_text: string | null;
  readonly word_times: StoredWordTimes | null;
}

/** A word of a transcript; times in milliseconds from the start of the recording, null where they are not known. */
export interface Word {
  readonly text: string;
  readonly start: number | null;
  readonly end: number | null;
}

/** The words of a segment's text with their times; none where no word ever had a time. */
export function wordsOf(segment: SegmentWithWords): Word[] {
  const { word_times: stored, start_ms: offset } = segment;
  if (stored === null) return [];
  const words = splitWords(segment.text);
  const spoken = splitWords(segment.original_text ?? segment.text).map((text, index): TimedWord => {
    const [start, end] = [stored[2 * index] ?? null, stored[2 * index + 1] ?? null];
    return {
      text,
      time: start === null || end === null ? null : { start: offset + start, end: offset + end },
    };
  });
  const times = segment.original_text === null ? spoken.map(({ time }) => time) : alignWords(spoken, words);
  return words.map((text, index) => ({
    text,
    start: times[index]?.start ?? null,
    end: times[index]?.end ?? null,
  }));
}

/**
 * The times of a new segment's words as stored.
 * @param words as a speech model or a file names them; they may differ from the text in punctuation and case. Times
 * outside the segment, and those that overlap an earlier word, are not kept.
 * @returns null if no word has a time.
 */
function storeWordTimes(
  segment: { readonly start_ms: number; readonly end_ms: number; readonly text: string },
  words: readonly TimedWord[],
): StoredWordTimes | null {
  const { start_ms: offset, end_ms: last } = segment;
  let earliest = offset;
  const valid = words.map(({ text, time }): TimedWord => {
    if (!isWithin(time, earliest, last)) return { text, time: null };
    earliest = time.end;
    return { text, time };
  });
  const times = alignWords(valid, splitWords(segment.text));
  if (times.every((time) => time === null)) return null;
  return times.flatMap((time) => (time === null ? [null, null] : [time.start - offset, time.end - offset]));
}

/** Characters whose words are aligned at a time, which takes some milliseconds. */
const charactersAtOnce = 100_000;

/** The same for each segment of a transcript, yielding to other requests in between. */
export async function storeAllWordTimes(
  segments: readonly {
    readonly start: number;
    readonly end: number;
    readonly text: string;
    readonly words: readonly TimedWord[];
  }[],
): Promise<(StoredWordTimes | null)[]> {
  const stored: (StoredWordTimes | null)[] = [];
  let characters = 0;
  for (const { start, end, text, words } of segments) {
    if (words.length === 0) {
      stored.push(null);
      continue;
    }
    stored.push(storeWordTimes({ start_ms: start, end_ms: end, text }, words));
    characters += text.length;
    if (characters < charactersAtOnce) continue;
    characters = 0;
    await otherWork();
  }
  return stored;
}

function isWithin(time: WordTime | null, earliest: number, last: number): time is WordTime {
  return time !== null && time.start >= earliest && time.end >= time.start && time.end <= last;
}
