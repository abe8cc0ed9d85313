/** Length of a frame in ms. */
export const frameMs = 100;
/** A pause between sentences; shorter ones separate words. */
const pauseFrames = 3;
/** How much quieter than loud speech a pause is: 20 dB. */
const pauseRatio = 0.1;

export interface Chunk {
  /** Both in frames; the end is exclusive. */
  readonly start: number;
  readonly end: number;
}

/**
 * Plans where to cut a recording into chunks. A chunk ends in the quietest 300 ms of the last quarter of its maximum
 * length if these are quiet compared to the loud parts of the file, otherwise at its maximum length. The next one
 * begins `overlapFrames` before the cut, so that a word at the cut is complete in one of them.
 * @param energies root mean square of each 100 ms.
 */
export function planChunks(
  energies: ArrayLike<number>,
  { maxFrames, overlapFrames }: { maxFrames: number; overlapFrames: number },
): Chunk[] {
  const threshold = loudness(energies) * pauseRatio;
  const chunks: Chunk[] = [];
  let start = 0;
  while (energies.length - start > maxFrames) {
    const cut = quietest(energies, start + Math.floor(maxFrames * 0.75), start + maxFrames, threshold);
    chunks.push({ start, end: cut });
    // However large the overlap, each chunk advances.
    start = Math.max(cut - overlapFrames, start + 1);
  }
  if (energies.length > 0) chunks.push({ start, end: energies.length });
  return chunks;
}

/** The level that the loudest tenth of the frames reaches: single claps and long silence say nothing about speech. */
function loudness(energies: ArrayLike<number>): number {
  const sorted = Float64Array.from(energies).sort();
  return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
}

/** The middle of the quietest pause within from..to, the later one of equals; `to` if none is quiet enough. */
function quietest(energies: ArrayLike<number>, from: number, to: number, threshold: number): number {
  let best = { sum: Number.POSITIVE_INFINITY, cut: to };
  for (let at = from; at + pauseFrames <= to; at++) {
    let sum = 0;
    let loudest = 0;
    for (let i = at; i < at + pauseFrames; i++) {
      const energy = energies[i] ?? 0;
      sum += energy;
      loudest = Math.max(loudest, energy);
    }
    if (loudest <= threshold && sum <= best.sum) best = { sum, cut: at + Math.ceil(pauseFrames / 2) };
  }
  return best.cut;
}
