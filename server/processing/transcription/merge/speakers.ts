import type { SpokenWord } from "../transcriber.ts";
import type { MergedSegment, NumberedChunk, Piece, PlacedChunk } from "./merged.ts";

/** Two labels that overlap for less than this are not taken for the same speaker. */
const minSharedMs = 200;

/**
 * Numbers the speakers of all chunks. A model labels speakers independently in each request, so the same label in two
 * chunks means nothing. Speakers who talk at the same time in the overlap of two chunks are the same person; all others
 * get a new number, since two names for one person mislead less than one name for two.
 */
export function numberSpeakers(chunks: readonly PlacedChunk[]): NumberedChunk[] {
  const numbered: NumberedChunk[] = [];
  const labels: ReadonlyMap<string, number>[] = [];
  let next = 0;
  for (const chunk of chunks) {
    const former = numbered.at(-1);
    const known = recognized(chunk, labels);
    if (former !== undefined) matchSpeakers(former, chunk, known);
    labels.push(known);
    const pieces = chunk.transcript.segments.map((segment): Piece => {
      if (segment.speaker !== null && !known.has(segment.speaker)) known.set(segment.speaker, next++);
      return {
        startMs: chunk.startMs + segment.startMs,
        endMs: chunk.startMs + segment.endMs,
        text: segment.text,
        speaker: segment.speaker === null ? null : (known.get(segment.speaker) ?? null),
        ...(segment.words === undefined ? {} : { words: shift(segment.words, chunk.startMs) }),
      };
    });
    numbered.push({ startMs: chunk.startMs, endMs: chunk.endMs, pieces });
  }
  return numbered;
}

/** The numbers of the labels that stand for speakers of earlier chunks, because the model was given their voices. */
function recognized(
  { transcript }: PlacedChunk,
  earlier: readonly ReadonlyMap<string, number>[],
): Map<string, number> {
  return new Map(
    (transcript.known ?? []).flatMap(({ name, position, label }) => {
      const number = earlier[position]?.get(label);
      return number === undefined ? [] : [[name, number] as const];
    }),
  );
}

function shift(words: readonly SpokenWord[], ms: number): SpokenWord[] {
  return words.map(({ startMs, endMs, text }) => ({ startMs: startMs + ms, endMs: endMs + ms, text }));
}

/**
 * Adds which labels of a chunk are speakers of the previous one; each matches at most one, those with the most overlap
 * first.
 * @param matches the labels that are known already.
 */
function matchSpeakers(former: NumberedChunk, chunk: PlacedChunk, matches: Map<string, number>): void {
  const together = new Map<string, { label: string; speaker: number; ms: number }>();
  for (const segment of chunk.transcript.segments) {
    if (segment.speaker === null || chunk.startMs + segment.startMs > former.endMs) continue;
    for (const piece of former.pieces) {
      if (piece.speaker === null) continue;
      const ms =
        Math.min(piece.endMs, chunk.startMs + segment.endMs) -
        Math.max(piece.startMs, chunk.startMs + segment.startMs);
      if (ms <= 0) continue;
      const key = JSON.stringify([segment.speaker, piece.speaker]);
      const pair = together.get(key) ?? { label: segment.speaker, speaker: piece.speaker, ms: 0 };
      together.set(key, { ...pair, ms: pair.ms + ms });
    }
  }
  const taken = new Set(matches.values());
  for (const { label, speaker, ms } of [...together.values()].sort((a, b) => b.ms - a.ms)) {
    if (ms < minSharedMs || matches.has(label) || taken.has(speaker)) continue;
    matches.set(label, speaker);
    taken.add(speaker);
  }
}

/**
 * Sorts by start and names the speakers. The contract's form for unknown speakers is "Unknown Speaker followed by a
 * number"; numbers count by first appearance in the whole transcript.
 * @param known names by number; an empty name is unknown.
 */
export function nameSpeakers(pieces: readonly Piece[], known: readonly string[] = []): MergedSegment[] {
  const names = new Map<number, string>();
  return pieces
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(({ speaker, ...piece }) => {
      if (speaker === null) return { ...piece, speaker: null };
      if (known[speaker]) return { ...piece, speaker: known[speaker] };
      const name = names.get(speaker) ?? `Unknown Speaker ${names.size + 1}`;
      names.set(speaker, name);
      return { ...piece, speaker: name };
    });
}
