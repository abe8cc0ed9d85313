import { alignToSentences, speakersOf, type Turn } from "../speakers/assign.ts";
import type { Piece, PlacedChunk } from "./merged.ts";
import { joinWords, type TimedWord } from "./words.ts";

/** A word, or a segment of a model that did not time its words, in times of the recording. */
interface Item {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  readonly isSegment: boolean;
}

/** Two runs of a model place the same word less than this apart. */
const jitterMs = 250;

/** Whether the chunks come from a model that times words. */
export function haveWords(chunks: readonly PlacedChunk[]): boolean {
  return chunks.some(({ transcript }) => transcript.words !== undefined);
}

/**
 * Merges the words of overlapping chunks. Two chunks are separated in the longest pause that the earlier one has in their
 * overlap: a word has its time in both, so none is lost or repeated there.
 * @param chunks in order of their starts.
 * @param turns who speaks when; empty: unknown.
 */
export function mergeWords(chunks: readonly PlacedChunk[], turns: readonly Turn[]): Piece[] {
  let items: Item[] = [];
  for (const [index, chunk] of chunks.entries()) {
    const placed = itemsOf(chunk);
    const before = chunks[index - 1];
    if (before === undefined) {
      items = placed;
      continue;
    }
    const cut = widestPause(items, chunk.startMs, before.endMs);
    const kept = items.filter((item) => middle(item) < cut);
    const last = kept.at(-1);
    const added = placed.filter((item) => middle(item) >= cut);
    const first = added[0];
    const isRepeated =
      last !== undefined &&
      first !== undefined &&
      first.text === last.text &&
      first.startMs < last.startMs + jitterMs;
    items = [...kept, ...(isRepeated ? added.slice(1) : added)];
  }
  return groupItems(items, alignToSentences(items, speakersOf(items, turns)));
}

function itemsOf({ startMs, transcript }: PlacedChunk): Item[] {
  const place = (isSegment: boolean) => (item: { startMs: number; endMs: number; text: string }) => ({
    startMs: startMs + item.startMs,
    endMs: startMs + item.endMs,
    text: item.text,
    isSegment,
  });
  return [...(transcript.words ?? []).map(place(false)), ...transcript.segments.map(place(true))].toSorted(
    (a, b) => a.startMs - b.startMs,
  );
}

const middle = (item: Item): number => (item.startMs + item.endMs) / 2;

/** The middle of the longest pause between items within from..to. */
function widestPause(items: readonly Item[], from: number, to: number): number {
  let best = { ms: -1, at: (from + to) / 2 };
  let at = from;
  for (const item of [...items.slice(-200), { startMs: to, endMs: to }]) {
    if (item.endMs <= from) continue;
    const until = Math.min(item.startMs, to);
    if (until - at > best.ms) best = { ms: until - at, at: (at + until) / 2 };
    at = Math.max(at, item.endMs);
  }
  return best.at;
}

/** Joins words into segments at ends of sentences and pauses; segments stay as they are. */
function groupItems(items: readonly Item[], speakers: readonly (number | null)[]): Piece[] {
  const pieces: Piece[] = [];
  let words: TimedWord[] = [];
  const flush = (): void => {
    for (const { start, end, text, speaker, words: said } of joinWords(words))
      pieces.push({
        startMs: toMs(start),
        endMs: toMs(end),
        text,
        speaker: typeof speaker === "number" ? speaker : null,
        words: said.map((word) => ({ startMs: toMs(word.start), endMs: toMs(word.end), text: word.text })),
      });
    words = [];
  };
  for (const [index, item] of items.entries()) {
    const { startMs, endMs, text } = item;
    const speaker = speakers[index] ?? null;
    if (!item.isSegment) words.push({ text, start: startMs / 1000, end: endMs / 1000, speaker });
    else {
      flush();
      pieces.push({ startMs, endMs, text, speaker });
    }
  }
  flush();
  return pieces;
}

function toMs(seconds: number | null): number {
  return Math.round((seconds ?? 0) * 1000);
}
