/** A part of the audio, in samples; the end is exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export interface PieceLimits {
  /** The shortest and longest piece, in samples. */
  readonly min: number;
  readonly max: number;
}

/** Samples of 20 ms at 16 kHz: the resolution of the search for a quiet point. */
const step = 320;

/**
 * Cuts audio into pieces for the model, in the middle of pauses between speech where there are any, otherwise at the quietest
 * point before the longest piece ends. Every sample is in exactly one piece: what the detector takes for silence may be quiet
 * speech.
 * @param speech what the voice activity detector found, in order.
 */
export function planPieces(
  samples: Float32Array,
  speech: readonly Stretch[],
  { min, max }: PieceLimits,
): Stretch[] {
  const pauses = speech.flatMap(({ end }, index) => {
    const next = speech[index + 1];
    return next === undefined ? [] : [Math.floor((end + next.start) / 2)];
  });
  const pieces: Stretch[] = [];
  let start = 0;
  let at = 0;
  while (samples.length - start > max) {
    let cut: number | undefined;
    for (; at < pauses.length && (pauses[at] ?? 0) <= start + max; at++)
      if ((pauses[at] ?? 0) >= start + min) cut = pauses[at];
    cut ??= quietest(samples, start + Math.floor(max * 0.75), start + max);
    pieces.push({ start, end: cut });
    start = cut;
  }
  if (samples.length > start) pieces.push({ start, end: samples.length });
  return pieces;
}

/** The middle of the quietest 20 ms within from..to. */
function quietest(samples: Float32Array, from: number, to: number): number {
  let best = { sum: Number.POSITIVE_INFINITY, cut: to };
  for (let at = from; at + step <= to; at += step) {
    let sum = 0;
    for (let i = at; i < at + step; i++) sum += (samples[i] ?? 0) ** 2;
    if (sum < best.sum) best = { sum, cut: at + step / 2 };
  }
  return best.cut;
}
