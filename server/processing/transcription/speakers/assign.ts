import { clusterVoices, type Voice } from "./cluster.ts";

/** Who speaks in one part of a recording, as it is stored until all parts are done. */
export interface PartVoices {
  readonly voices: readonly Voice[];
  /** In order; times from the start of the part. */
  readonly turns: readonly { readonly startMs: number; readonly endMs: number; readonly voice: number }[];
}

/** A part with its position in the recording. */
export interface PlacedVoices {
  readonly startMs: number;
  readonly endMs: number;
  readonly found: PartVoices;
}

/**
 * The turns of a recording, only if the voices of all its parts were found: the speakers of a part would otherwise be
 * named after the voices of another.
 */
export function findTurns(
  parts: readonly { readonly startMs: number; readonly endMs: number; readonly found: PartVoices | null }[],
  count: number | null,
): Turn[] {
  const placed = parts.flatMap(({ found, ...part }) => (found === null ? [] : [{ ...part, found }]));
  return placed.length < parts.length ? [] : joinParts(placed, count);
}

/** A stretch of one speaker in times of the recording. */
export interface Turn {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: number;
}

/** Below this cosine two means are two people, where the number of speakers is not known. */
const minCosine = 0.45;

/**
 * Joins the voices of all parts to the speakers of the recording.
 * @param count of speakers; null: unknown.
 * @returns the turns in order. The overlap of two parts is cut in its middle.
 */
export function joinParts(parts: readonly PlacedVoices[], count: number | null): Turn[] {
  const numbers = clusterVoices(
    parts.flatMap(({ found }) => found.voices),
    count === null ? { minCosine, count: 1 } : { minCosine: null, count },
  );
  const turns: Turn[] = [];
  let first = 0;
  for (const [index, { startMs, endMs, found }] of parts.entries()) {
    const [before, after] = [parts[index - 1], parts[index + 1]];
    const from = before === undefined ? startMs : (before.endMs + startMs) / 2;
    const to = after === undefined ? endMs : (endMs + after.startMs) / 2;
    for (const turn of found.turns) {
      const start = Math.max(from, startMs + turn.startMs);
      const end = Math.min(to, startMs + turn.endMs);
      if (end > start) turns.push({ startMs: start, endMs: end, speaker: numbers[first + turn.voice] ?? 0 });
    }
    first += found.voices.length;
  }
  return turns;
}

/** Speech that the voice activity detector did not hear belongs to the nearest turn only this close to it. */
const maxGapMs = 5000;

/** Anything with a time: a word or a segment. */
interface Timed {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The speaker of each item, by the turn that covers most of it; in a gap, the nearest turn, or null if none is near.
 * @param items in order of their starts.
 */
export function speakersOf(items: readonly Timed[], turns: readonly Turn[]): (number | null)[] {
  let from = 0;
  return items.map((item) => {
    // Turns that end long before this item are not needed again: later items start later.
    while (from + 1 < turns.length && (turns[from + 1]?.endMs ?? 0) < item.startMs) from++;
    const shared = new Map<number, number>();
    let nearest: { speaker: number | null; gapMs: number } = { speaker: null, gapMs: maxGapMs };
    for (let at = from; at < turns.length; at++) {
      const turn = turns[at] as Turn;
      const ms = Math.min(turn.endMs, item.endMs) - Math.max(turn.startMs, item.startMs);
      if (ms > 0) shared.set(turn.speaker, (shared.get(turn.speaker) ?? 0) + ms);
      if (-ms < nearest.gapMs) nearest = { speaker: turn.speaker, gapMs: -ms };
      if (turn.startMs > item.endMs) break;
    }
    const [main] = [...shared].toSorted((a, b) => b[1] - a[1]);
    return main?.[0] ?? nearest.speaker;
  });
}

/** A run this short at the edge of a sentence is a change of speaker that was placed too early or too late. */
const maxEdgeWords = 2;

/** Moves changes of speaker to the ends of sentences, where only a word or two is on the wrong side. */
export function alignToSentences(
  words: readonly { readonly text: string }[],
  speakers: readonly (number | null)[],
): (number | null)[] {
  const aligned = [...speakers];
  let start = 0;
  for (let end = 1; end <= words.length; end++) {
    if (end < words.length && !/[.?!。？！…]["'”’)]?$/u.test(words[end - 1]?.text ?? "")) continue;
    alignEdges(aligned, start, end);
    start = end;
  }
  return aligned;
}

function alignEdges(speakers: (number | null)[], start: number, end: number): void {
  let first = start;
  while (first < end && speakers[first] === speakers[start]) first++;
  if (first - start <= maxEdgeWords && end - first > first - start)
    speakers.fill(speakers[first] ?? null, start, first);
  let last = end - 1;
  while (last >= start && speakers[last] === speakers[end - 1]) last--;
  const run = end - 1 - last;
  if (last >= start && run <= maxEdgeWords && last + 1 - start > run)
    speakers.fill(speakers[last] ?? null, last + 1, end);
}
