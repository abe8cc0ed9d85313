import type { AudioChunk, ChunkTranscript, KnownSpeaker } from "../transcriber.ts";

/** OpenAI takes samples of at most four speakers, of 2 to 10 s each. */
const maxKnown = 4;
const sampleMs = { min: 2000, max: 10_000 };

/**
 * The speakers of earlier chunks who talk most, each with a sample of their longest segment, so that a diarizing model
 * gives them the same labels in every chunk.
 * @param results of the chunks before this one; null: not transcribed.
 */
export function findKnownSpeakers(
  chunks: readonly AudioChunk[],
  results: readonly (ChunkTranscript | null)[],
): KnownSpeaker[] {
  const known = new Map<string, KnownSpeaker & { readonly talkMs: number }>();
  for (const [index, result] of results.entries()) {
    const path = chunks[index]?.path;
    if (result === null || path === undefined) continue;
    for (const { speaker, startMs, endMs } of result.segments) {
      if (speaker === null) continue;
      const earlier = result.known?.find(({ name }) => name === speaker);
      const { position, label } = earlier ?? { position: index, label: speaker };
      const key = JSON.stringify([position, label]);
      const before = known.get(key);
      const sample = { path, startMs, endMs: Math.min(endMs, startMs + sampleMs.max) };
      known.set(key, {
        // Not a label that a model gives to others.
        name: before?.name ?? `Speaker ${known.size + 1}`,
        position,
        label,
        sample: before === undefined || lengthOf(sample) > lengthOf(before.sample) ? sample : before.sample,
        talkMs: (before?.talkMs ?? 0) + endMs - startMs,
      });
    }
  }
  return [...known.values()]
    .filter(({ sample }) => lengthOf(sample) >= sampleMs.min)
    .toSorted((a, b) => b.talkMs - a.talkMs)
    .slice(0, maxKnown)
    .map(({ talkMs: _, ...speaker }) => speaker);
}

function lengthOf({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }): number {
  return endMs - startMs;
}
