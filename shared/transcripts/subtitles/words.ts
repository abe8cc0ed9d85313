import type { Run } from "./markup.ts";

/** A word and when it was spoken; times in milliseconds from the start of the recording. */
export interface SubtitleWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A run and when it is spoken: from the timestamp before it to the next one. */
export interface TimedRun extends Run {
  readonly start: number;
  readonly end: number;
}

/** The times of the runs of a cue. */
export function timed(runs: readonly Run[], start: number, end: number): TimedRun[] {
  const result: TimedRun[] = [];
  let next = end;
  let last: number | null = null;
  // From the end: each run lasts until the next other timestamp.
  for (const run of runs.toReversed()) {
    const own = run.at ?? start;
    if (last !== null && own !== last) next = last;
    last = own;
    result.push({ ...run, start: own, end: next });
  }
  return result.reverse();
}

/**
 * The words of a cue with timestamps. Where several words are between two timestamps, their times are not known.
 * @param cueEnd of the cue. A word that ends later has no time.
 */
export function wordsOf(runs: readonly TimedRun[], cueEnd: number): SubtitleWord[] {
  if (runs.every(({ at }) => at === null)) return [];
  const spans: { start: number; end: number; text: string }[] = [];
  for (const { start, end, text } of runs) {
    const last = spans.at(-1);
    if (last?.start === start && last.end === end) last.text += text;
    else spans.push({ start, end, text });
  }
  const words: { text: string; start: number; end: number; isAlone: boolean }[] = [];
  let isInWord = false;
  for (const { start, end, text } of spans) {
    const found = text.match(/\S+/g) ?? [];
    const last = words.at(-1);
    const continued = isInWord && /^\S/.test(text) ? last : undefined;
    if (continued !== undefined) {
      continued.text += found.shift() ?? "";
      continued.end = end;
      continued.isAlone &&= found.length === 0;
    }
    const isAlone = found.length === 1 && continued === undefined;
    for (const word of found) words.push({ text: word, start, end, isAlone });
    if (text !== "") isInWord = /\S$/.test(text);
  }
  return words.flatMap(({ isAlone, ...word }) =>
    isAlone && word.end >= word.start && word.end <= cueEnd ? [word] : [],
  );
}
