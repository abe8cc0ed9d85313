import type { ChunkRow } from "../queries.ts";
import { speakersOf, type Turn } from "../speakers/assign.ts";

/** How a speaker of a recording sounds. */
export interface SpeakerVoice {
  readonly speaker: string;
  /** A unit vector. */
  readonly embedding: readonly number[];
  readonly ms: number;
}

/** A shorter voice tells little. */
const minMs = 5000;

/**
 * The voices of the speakers of a finished transcript, by the times at which each is heard.
 * @param segments in order of their starts.
 */
export function findSpeakerVoices(
  chunks: readonly Pick<ChunkRow, "start_ms" | "end_ms" | "voices">[],
  segments: readonly { readonly start_ms: number; readonly end_ms: number; readonly speaker: string }[],
): SpeakerVoice[] {
  const names = [...new Set(segments.map(({ speaker }) => speaker))];
  const number = new Map(names.map((name, index) => [name, index]));
  const spoken = segments.map(
    ({ start_ms, end_ms, speaker }): Turn => ({
      startMs: start_ms,
      endMs: end_ms,
      speaker: number.get(speaker) ?? 0,
    }),
  );
  const sums = names.map(() => ({ vector: [] as number[], ms: 0 }));
  for (const { start_ms, voices } of chunks) {
    const turns = (voices?.turns ?? [])
      .map((turn) => ({ ...turn, startMs: start_ms + turn.startMs, endMs: start_ms + turn.endMs }))
      .toSorted((a, b) => a.startMs - b.startMs);
    for (const [index, speaker] of speakersOf(turns, spoken).entries()) {
      const turn = turns[index];
      const voice = turn === undefined ? undefined : voices?.voices[turn.voice];
      const sum = speaker === null ? undefined : sums[speaker];
      if (turn === undefined || voice === undefined || sum === undefined) continue;
      const ms = turn.endMs - turn.startMs;
      const length = Math.hypot(...voice.embedding) || 1;
      sum.vector = voice.embedding.map((value, i) => (sum.vector[i] ?? 0) + (value / length) * ms);
      sum.ms += ms;
    }
  }
  return sums.flatMap(({ vector, ms }, index) => {
    const length = Math.hypot(...vector);
    if (ms < minMs || length === 0) return [];
    return [{ speaker: names[index] ?? "", embedding: vector.map((value) => value / length), ms }];
  });
}
