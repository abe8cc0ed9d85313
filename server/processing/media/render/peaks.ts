/** Finer than a pixel of any player for a short recording; 8,000 points are 20 kB for a long one. */
const maxPeaksPerSecond = 20;
const maxPeaks = 8000;

export interface Peaks {
  readonly perSecond: number;
  /** The maximum absolute sample (1 = full scale) of each interval. */
  readonly values: Float32Array;
}

/** Silence of a length in ms, to be filled by `addSamples`. */
export function emptyPeaks(durationMs: number): Peaks {
  const seconds = Math.max(durationMs, 1) / 1000;
  const perSecond = Math.min(maxPeaksPerSecond, maxPeaks / seconds);
  // Rounding must not turn 8,000 into one more.
  const count = Math.max(1, Math.ceil(seconds * perSecond - 1e-6));
  return { perSecond, values: new Float32Array(count) };
}

/**
 * Adds samples of one channel that begin at `startSec`. Samples outside the recording are ignored: damaged files claim
 * any time.
 */
export function addSamples(peaks: Peaks, samples: Float32Array, startSec: number, sampleRate: number): void {
  // Also because a float this far below zero can't count in steps of one.
  if (!(startSec + samples.length / sampleRate > 0)) return;
  const { values, perSecond } = peaks;
  const perSample = perSecond / sampleRate;
  let position = 0;
  let bucket = Math.floor(startSec * perSecond + 1e-9);
  while (position < samples.length) {
    if (bucket >= values.length) return;
    const end = Math.min(samples.length, Math.ceil((bucket + 1 - startSec * perSecond) / perSample - 1e-6));
    if (bucket >= 0) {
      let max = values[bucket] ?? 0;
      for (let i = position; i < end; i++) {
        const sample = samples[i] as number;
        if (sample > max) max = sample;
        else if (-sample > max) max = -sample;
      }
      values[bucket] = max;
    }
    position = Math.max(end, position);
    bucket += 1;
  }
}

/** 0 to 255; louder than full scale is 255. */
export function toBytes(peaks: Peaks): number[] {
  return Array.from(peaks.values, (value) => Math.round(Math.min(1, value) * 255));
}
