import type { PartVoices } from "../speakers/assign.ts";
import { clusterVoices, meanVoices, type Voice } from "../speakers/cluster.ts";
import type { Stretch } from "./pieces.ts";
import type { EmbeddingExtractor } from "./sherpa.ts";

const sampleRate = 16_000;

/** Long enough to tell a voice, short enough to hold one speaker. */
const windowSec = 2;

/** Voices kept of a part: more than the people who speak in it, so that the whole recording decides who is who. */
const maxVoices = 12;

/** Tells the voices of one part of a recording apart, in windows of the speech that the detector found. */
export function findVoices(
  extractor: EmbeddingExtractor,
  samples: Float32Array,
  speech: readonly Stretch[],
  onProgress: (fraction: number) => void,
): PartVoices {
  const windows = speech.flatMap(splitStretch);
  const embedded: (Voice & Stretch)[] = [];
  for (const { start, end } of windows) {
    const stream = extractor.createStream();
    stream.acceptWaveform({ samples: samples.slice(start, end), sampleRate });
    stream.inputFinished();
    onProgress(end / samples.length);
    if (!extractor.isReady(stream)) continue;
    const embedding = [...extractor.compute(stream, false)];
    if (embedding.every(Number.isFinite)) embedded.push({ start, end, embedding, ms: toMs(end - start) });
  }
  const numbers = clusterVoices(embedded, { minCosine: null, count: maxVoices });
  return {
    voices: meanVoices(embedded, numbers).map(({ embedding, ms }) => ({
      ms,
      embedding: embedding.map((value) => Math.round(value * 1e4) / 1e4),
    })),
    turns: embedded.map(({ start, end }, index) => ({
      startMs: toMs(start),
      endMs: toMs(end),
      voice: numbers[index] ?? 0,
    })),
  };
}

/** Windows of about the same length. */
function splitStretch({ start, end }: Stretch): Stretch[] {
  const count = Math.max(1, Math.round((end - start) / sampleRate / windowSec));
  const at = (index: number): number => start + Math.floor(((end - start) * index) / count);
  return Array.from({ length: count }, (_, index) => ({ start: at(index), end: at(index + 1) }));
}

function toMs(samples: number): number {
  return Math.round((samples * 1000) / sampleRate);
}
