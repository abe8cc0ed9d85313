import type { DemoMeeting, DemoSegment, DemoSlide } from "./types.ts";

/** Key of a line that stands for a long pause, such as "9 min: reading the code". */
export const PAUSE = "(pause)";

const WORDS_PER_MINUTE = 175;
const OPENING_MS = 1_500;

/**
 * Assigns times to the lines of a conversation. Each line takes about a minute per 175 words, plus a short gap. The
 * rest of `minutes` is spread over the PAUSE lines in proportion to the minutes they name (1 by default), or over every
 * third gap if there are none. Deterministic: the same lines always get the same times.
 * @throws RangeError if the lines don't fit.
 */
export function timed(
  options: { minutes: number },
  lines: readonly (readonly [key: string, text: string])[],
): DemoSegment[] {
  const spoken: { key: string; text: string; length: number; gapAfter: number; pauseWeight: number }[] = [];
  for (const [key, text] of lines) {
    if (key === PAUSE) {
      const before = spoken.at(-1);
      if (before !== undefined) before.pauseWeight += Number(/^(\d+) min\b/u.exec(text)?.[1] ?? 1);
      continue;
    }
    spoken.push({
      key,
      text,
      length: speakingTime(key, text),
      gapAfter: Math.round(weight(`${text}/gap`, 200, 950)),
      pauseWeight: 0,
    });
  }

  // Nothing follows the last line, so it needs neither gap nor pause.
  const last = spoken.at(-1);
  if (last === undefined) return [];
  last.gapAfter = 0;
  last.pauseWeight = 0;
  if (spoken.every((line) => line.pauseWeight === 0)) {
    for (const [index, line] of spoken.entries()) {
      if (line !== last && index % 3 === 2) line.pauseWeight = weight(`${line.text}/long`, 0.3, 1.7);
    }
  }

  const natural = spoken.reduce((sum, line) => sum + line.length + line.gapAfter, OPENING_MS);
  const spare = Math.round(options.minutes * 60_000) - natural;
  if (spare < 0) {
    throw new RangeError(
      `the lines take ${(natural / 60_000).toFixed(1)} minutes, more than ${options.minutes}`,
    );
  }
  const weights = spoken.reduce((sum, line) => sum + line.pauseWeight, 0);

  const segments: DemoSegment[] = [];
  let at = OPENING_MS;
  for (const { key, text, length, gapAfter, pauseWeight } of spoken) {
    segments.push({ key, start: at, end: at + length, text });
    at += length + gapAfter + (weights === 0 ? 0 : Math.floor((spare * pauseWeight) / weights));
  }
  return segments;
}

/** How long the recording continues after the last word. */
const closingMs = 1_200;

/** The recording's duration in milliseconds. */
export function durationOf(segments: readonly DemoSegment[]): number {
  return (segments.at(-1)?.end ?? 0) + closingMs;
}

/** Index of the line that starts with `beginning`. @throws Error unless exactly one line does. */
export function findLine(segments: readonly DemoSegment[], beginning: string): number {
  const found = segments.flatMap(({ text }, index) => (text.startsWith(beginning) ? [index] : []));
  const [index, second] = found;
  if (index === undefined || second !== undefined)
    throw new Error(`${found.length} lines start with "${beginning}", not exactly one`);
  return index;
}

/** When each slide is shown. Slides past the end of a truncated meeting are left out. */
export function slideTimes({
  segments,
  slides = [],
}: Pick<DemoMeeting, "segments" | "slides">): { slide: DemoSlide; startMs: number; endMs: number }[] {
  return slides.flatMap((slide) => {
    const start = segments.find(({ text }) => text.startsWith(slide.from))?.start;
    if (start === undefined) return [];
    const end = segments.find(({ text }) => text.startsWith(slide.until))?.start;
    return [{ slide, startMs: start, endMs: end ?? durationOf(segments) }];
  });
}

/** The meeting's first minutes: the lines that end within them. */
export function truncateMeeting(meeting: DemoMeeting, minutes: number): DemoMeeting {
  return { ...meeting, segments: meeting.segments.filter(({ end }) => end <= minutes * 60_000) };
}

/** Milliseconds to say the text; speakers differ from the average pace by up to 6 %. */
function speakingTime(key: string, text: string): number {
  const words = text.split(/\s+/u).filter((word) => word !== "").length;
  const pace = weight(`${key}/pace`, 0.94, 1.06);
  return Math.max(600, Math.round(((words * 60_000) / WORDS_PER_MINUTE) * pace));
}

/** A number between the bounds, determined by the seed. */
function weight(seed: string, from: number, to: number): number {
  return from + hash01(seed) * (to - from);
}

/** A number from 0 to 1, determined by the seed (FNV-1a). */
export function hash01(seed: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < seed.length; index += 1) {
    hash = Math.imul(hash ^ seed.charCodeAt(index), 0x01000193) >>> 0;
  }
  return (hash % 10_007) / 10_006;
}
