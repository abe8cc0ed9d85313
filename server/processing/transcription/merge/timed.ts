import { setImmediate as otherWork } from "node:timers/promises";
import { joinWords, type TimedWord } from "../server/words.ts";
import { alignToSentences, speakersOf, type Turn } from "../speakers/assign.ts";
import type { Piece, PlacedChunk } from "./merged.ts";

/** A word, or a segment of a model that did not time its words, in times of the recording. */
interface Item {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  readonly isSegment: boolean;
}

/** Two runs of a model place the same word less than this apart. */
const jitterMs = 250;

/** Words whose speakers are found at a time, which takes some milliseconds. */
const itemsAtOnce = 5000;

/** Whether the chunks come from a model that times words. */
export function haveWords(chunks: readonly PlacedChunk[]): boolean {
  return chunks.some(({ transcript }) => transcript.words !== undefined);
}

/**
 * Merges the words of overlapping chunks. Two chunks are separated in the longest pause that the earlier one has in their
 * overlap: a word has its time in both, so none is lost or repeated there. Yields to other work in between.
 * @param chunks in order of their starts.
 * @param turns who speaks when; empty: unknown.
 */
export async function mergeWords(chunks: readonly PlacedChunk[], turns: readonly Turn[]): Promise<Piece[]> {
  const items: Item[] = [];
  /** Where those of the previous chunk begin. */
  let previous = 0;
  for (const [index, chunk] of chunks.entries()) {
    const placed = itemsOf(chunk);
    const before = chunks[index - 1];
    const cut =
      before === undefined ? Number.NEGATIVE_INFINITY : widestPause(items, chunk.startMs, before.endMs);
    // Only the previous chunk's items can be behind the cut.
    const kept = items.splice(previous).filter((item) => middle(item) < cut);
    previous = items.length;
    items.push(...kept);
    const added = placed.filter((item) => middle(item) >= cut);
    items.push(...(isRepeated(items.at(-1), added[0]) ? added.slice(1) : added));
    await otherWork();
  }
  const speakers: (number | null)[] = [];
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    for (const speaker of speakersOf(items.slice(start, start + itemsAtOnce), turns)) speakers.push(speaker);
    await otherWork();
  }
  const aligned = alignToSentences(items, speakers);
  await otherWork();
  return groupItems(items, aligned);
}

/** Whether two chunks have placed the same word on their sides of the cut. */
function isRepeated(last: Item | undefined, first: Item | undefined): boolean {
  return (
    last !== undefined &&
    first !== undefined &&
    first.text === last.text &&
    first.startMs < last.startMs + jitterMs
  );
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
    for (const { start, end, text, speaker, words: joined } of joinWords(words))
      pieces.push({
        startMs: toMs(start),
        endMs: toMs(end),
        text,
        speaker: typeof speaker === "number" ? speaker : null,
        words: joined.map((word) => ({ startMs: toMs(word.start), endMs: toMs(word.end), text: word.text })),
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
