import type { Segment } from "../api/recording/recording.ts";

/** What to replace, and where. */
export interface ReplaceOptions {
  readonly find: string;
  readonly replacement: string;
  readonly isWholeWord: boolean;
  readonly isCaseSensitive: boolean;
  /** Whether a segment is of the chosen speaker. */
  readonly includes: (segment: Segment) => boolean;
}

/** A line with its text before and after. */
export interface Replacement {
  readonly index: number;
  readonly speaker: string;
  readonly start: number;
  readonly before: string;
  readonly after: string;
  /** Matches in the line. */
  readonly count: number;
}

/** Lower case of the same length, so that indexes are valid in both. */
function lower(text: string): string {
  const all = text.toLowerCase();
  if (all.length === text.length) return all;
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join("");
}

/** The letters around a match are looked at in slices of one letter, which may be two UTF-16 units. */
const wordEnd = /[\p{L}\p{M}\p{N}_]$/u;
const wordStart = /^[\p{L}\p{M}\p{N}_]/u;

const isWithinWord = (text: string, from: number, to: number): boolean =>
  wordEnd.test(text.slice(Math.max(0, from - 2), from)) || wordStart.test(text.slice(to, to + 2));

function matchesIn(text: string, wanted: string, options: ReplaceOptions): number[] {
  const searched = options.isCaseSensitive ? text : lower(text);
  const found: number[] = [];
  for (let from = searched.indexOf(wanted); from >= 0; from = searched.indexOf(wanted, from + wanted.length))
    if (!options.isWholeWord || !isWithinWord(text, from, from + wanted.length)) found.push(from);
  return found;
}

/** The lines that would change, in order. Lines that would become empty are left out. */
export function findReplacements(segments: readonly Segment[], options: ReplaceOptions): Replacement[] {
  const wanted = options.isCaseSensitive ? options.find : lower(options.find);
  if (wanted.trim() === "") return [];
  const changed: Replacement[] = [];
  for (const segment of segments) {
    if (!options.includes(segment)) continue;
    const matches = matchesIn(segment.text, wanted, options);
    const after = replaceAt(segment.text, matches, wanted.length, options.replacement);
    if (matches.length === 0 || after === segment.text || after.trim() === "") continue;
    const { index, speaker, start, text: before } = segment;
    changed.push({ index, speaker, start, before, after, count: matches.length });
  }
  return changed;
}

function replaceAt(text: string, matches: readonly number[], length: number, replacement: string): string {
  let result = "";
  let end = 0;
  for (const from of matches) {
    result += text.slice(end, from) + replacement;
    end = from + length;
  }
  return result + text.slice(end);
}
