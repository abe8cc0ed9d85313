import { setImmediate as otherWork } from "node:timers/promises";
import { withoutRepetitions } from "../repetition.ts";
import { speakersOf, type Turn } from "../speakers/assign.ts";
import type { MergedTranscript, NumberedChunk, Piece, PlacedChunk } from "./merged.ts";
import { nameSpeakers, numberSpeakers } from "./speakers.ts";
import { joinTexts } from "./text.ts";
import { haveWords, mergeWords } from "./timed.ts";

/**
 * Merges the results of overlapping chunks into one transcript. The overlap of two chunks is cut in its middle:
 * segments with their middle before the cut come from the earlier chunk, the rest from the later one. Where the two
 * disagree about times, that alone would lose or repeat a sentence, so segments that neither kept are restored, and
 * repeated words are dropped, as are segments that repeat over and over. Channels are merged one by one, and each is one speaker.
 * Yields to other work in between.
 * @param chunks in order of their starts, within each channel.
 * @param turns who speaks when in the whole recording; used where the model names no speakers.
 * @param names of the speakers of the channels; an empty name is unknown.
 */
export async function mergeChunks(
  chunks: readonly PlacedChunk[],
  turns: readonly Turn[] = [],
  names: readonly string[] = [],
): Promise<MergedTranscript> {
  const pieces: Piece[] = [];
  let repeated = 0;
  for (const [channel, ofChannel] of Map.groupBy(chunks, ({ channel }) => channel ?? null)) {
    const merged = await mergePieces(ofChannel, channel === null ? turns : []);
    const kept = withoutRepetitions(merged);
    repeated += merged.length - kept.length;
    for (const piece of kept) pieces.push(channel === null ? piece : { ...piece, speaker: channel });
  }
  await otherWork();
  return { language: mainLanguage(chunks), segments: nameSpeakers(pieces, names), repeated };
}

async function mergePieces(
  chunks: readonly PlacedChunk[],
  turns: readonly Turn[],
): Promise<readonly Piece[]> {
  if (haveWords(chunks)) return mergeWords(chunks, turns);
  const numbered = numberSpeakers(chunks);
  let pieces: Piece[] = [];
  for (const [index, chunk] of numbered.entries()) {
    const before = numbered[index - 1];
    pieces =
      before === undefined ? [...chunk.pieces] : joinAt(cutBetween(before, chunk), pieces, chunk.pieces);
    await otherWork();
  }
  return withSpeakers(pieces, turns);
}

/** Adds speakers to segments of a model that named none at all. */
function withSpeakers(pieces: readonly Piece[], turns: readonly Turn[]): readonly Piece[] {
  if (turns.length === 0 || pieces.some(({ speaker }) => speaker !== null)) return pieces;
  const sorted = pieces.toSorted((a, b) => a.startMs - b.startMs);
  const speakers = speakersOf(sorted, turns);
  return sorted.map((piece, index) => ({ ...piece, speaker: speakers[index] ?? null }));
}

/** The middle of the overlap, or of the gap if there is none. */
function cutBetween(former: NumberedChunk, latter: NumberedChunk): number {
  return (former.endMs + latter.startMs) / 2;
}

const middle = (piece: Piece): number => (piece.startMs + piece.endMs) / 2;

function joinAt(cutMs: number, former: readonly Piece[], latter: readonly Piece[]): Piece[] {
  const kept = {
    former: former.filter((piece) => middle(piece) < cutMs),
    latter: latter.filter((piece) => middle(piece) >= cutMs),
  };
  // Each chunk may have placed a sentence on the other's side of the cut: then neither kept it.
  const lost = former.filter((piece) => middle(piece) >= cutMs && !isCoveredBy(piece, kept.latter));
  kept.former.push(...lost);
  kept.latter.unshift(
    ...latter.filter(
      (piece) => middle(piece) < cutMs && !isCoveredBy(piece, [...kept.former, ...kept.latter]),
    ),
  );
  return joinTexts(kept.former, kept.latter);
}

/** How far two runs of a model may differ about the time of the same words. */
const jitterMs = 1500;

/** Whether the other segments contain this one: they cover half of its time, or have its words nearby. */
function isCoveredBy(piece: Piece, others: readonly Piece[]): boolean {
  const words = plain(piece.text);
  let coveredMs = 0;
  for (const other of others) {
    const overlapMs = Math.min(piece.endMs, other.endMs) - Math.max(piece.startMs, other.startMs);
    if (overlapMs <= -jitterMs) continue;
    if (` ${plain(other.text)} `.includes(` ${words} `)) return true;
    coveredMs += Math.max(0, overlapMs);
  }
  const lengthMs = piece.endMs - piece.startMs;
  return lengthMs > 0 && coveredMs >= lengthMs / 2;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}

function mainLanguage(chunks: readonly PlacedChunk[]): string | null {
  const spoken = new Map<string, number>();
  for (const { transcript } of chunks) {
    if (transcript.language === null) continue;
    // Text that a model invents for silence counts only where nobody else speaks.
    const weight = [...transcript.segments, ...(transcript.words ?? [])].reduce(
      (sum, { text }) => sum + text.length,
      0,
    );
    spoken.set(transcript.language, (spoken.get(transcript.language) ?? 0) + weight);
  }
  return [...spoken].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
