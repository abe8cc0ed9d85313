import { indexDamaged } from "./boxes.ts";
import { chunkOffset, type SampleTables, sampleSize } from "./tables.ts";

/** Called for samples in decoding order: number from 1, position in the file, bytes. */
export type OnSample = (sample: number, offset: number, size: number) => void;

/**
 * Iterates over the positions of all samples.
 * @param onSample called for each sample; without it, samples of equal size cost one step per chunk (an hour of
 * uncompressed audio has 170 million samples).
 * @returns the end position of the sample that ends last.
 * @throws DamagedFileError when the tables do not cover the samples.
 */
export function walkPositions(tables: SampleTables, onSample?: OnSample): number {
  const { view, chunkRuns, chunks, sampleCount, sizes } = tables;
  let sample = 0;
  let furthest = 0;
  for (let run = 0; run < chunkRuns.count && sample < sampleCount; run += 1) {
    const entry = chunkRuns.at + 12 * run;
    const first = view.getUint32(entry) - 1;
    const next = run + 1 < chunkRuns.count ? view.getUint32(entry + 12) - 1 : chunks.count;
    const perChunk = view.getUint32(entry + 4);
    for (let chunk = first; chunk < next; chunk += 1) {
      // More chunks than the samples need are harmless only if nothing refers to them; otherwise the tables disagree.
      if (sample >= sampleCount) throw indexDamaged("its tables disagree on the number of samples");
      const until = Math.min(sample + perChunk, sampleCount);
      let at = chunkOffset(tables, chunk);
      if (onSample === undefined && sizes.constant !== 0) {
        at += sizes.constant * (until - sample);
        sample = until;
      }
      for (; sample < until; sample += 1) {
        const size = sampleSize(tables, sample);
        onSample?.(sample + 1, at, size);
        at += size;
      }
      if (at > furthest) furthest = at;
    }
  }
  if (sample !== sampleCount) throw indexDamaged("its tables disagree on the number of samples");
  return furthest;
}

/** Picks some of many samples, evenly spread, without knowing in advance how many there are. */
export interface Picks {
  add(offset: number, size: number): void;
  /** At most `count` of them, including the first and approximately the last. */
  take(count: number): readonly { readonly offset: number; readonly size: number }[];
}

export function createPicks(room = 128): Picks {
  let kept: { offset: number; size: number }[] = [];
  let stride = 1;
  let seen = 0;
  return {
    add(offset, size) {
      if (seen % stride === 0) kept.push({ offset, size });
      seen += 1;
      if (kept.length < room) return;
      kept = kept.filter((_pick, index) => index % 2 === 0);
      stride *= 2;
    },
    take(count) {
      if (kept.length <= count) return kept;
      const step = (kept.length - 1) / (count - 1);
      return Array.from({ length: count }, (_none, index) => kept[Math.round(index * step)]).filter(
        (pick) => pick !== undefined,
      );
    },
  };
}
