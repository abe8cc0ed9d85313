import type { MergedSegment, NumberedChunk, Piece, PlacedChunk } from "./merged.ts";

/** Two labels that were heard together for less than this are not taken for one person. */
const leastTogetherMs = 200;

/**
 * Gives the speakers of all chunks numbers. A model names speakers anew in each request, so the same label in two
 * chunks says nothing. Who speaks at the same time in the overlap of two chunks is the same person; everybody else
 * gets a new number, since two names for one person mislead less than one name for two.
 */
export function numberSpeakers(chunks: readonly PlacedChunk[]): NumberedChunk[] {
  const numbered: NumberedChunk[] = [];
  let next = 0;
  for (const chunk of chunks) {
    const former = numbered.at(-1);
    const known = former === undefined ? new Map<string, number>() : matchSpeakers(former, chunk);
    const pieces = chunk.transcript.segments.map((segment): Piece => {
      if (segment.speaker !== null && !known.has(segment.speaker)) known.set(segment.speaker, next++);
      return {
        startMs: chunk.startMs + segment.startMs,
        endMs: chunk.startMs + segment.endMs,
        text: segment.text,
        speaker: segment.speaker === null ? null : (known.get(segment.speaker) ?? null),
      };
    });
    numbered.push({ startMs: chunk.startMs, endMs: chunk.endMs, pieces });
  }
  return numbered;
}

/** Finds which labels of a chunk are speakers of the one before; each is at most one, the longest together first. */
function matchSpeakers(former: NumberedChunk, chunk: PlacedChunk): Map<string, number> {
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
  const matches = new Map<string, number>();
  const taken = new Set<number>();
  for (const { label, speaker, ms } of [...together.values()].sort((a, b) => b.ms - a.ms)) {
    if (ms < leastTogetherMs || matches.has(label) || taken.has(speaker)) continue;
    matches.set(label, speaker);
    taken.add(speaker);
  }
  return matches;
}

/**
 * Sorts by start and names the speakers. The contract's form for somebody unknown is "Unknown Speaker followed by a
 * number"; numbers count by first appearance in the whole transcript.
 */
export function nameSpeakers(pieces: readonly Piece[]): MergedSegment[] {
  const names = new Map<number, string>();
  return pieces
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(({ speaker, ...piece }) => {
      if (speaker === null) return { ...piece, speaker: null };
      const name = names.get(speaker) ?? `Unknown Speaker ${names.size + 1}`;
      names.set(speaker, name);
      return { ...piece, speaker: name };
    });
}
