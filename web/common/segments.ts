import type { Segment } from "../api/recording/recording.ts";

/** The index of the segment at a position, or of the last one before it; -1 before the first. */
export function segmentAt(segments: readonly Segment[], ms: number): number {
  let [low, high] = [0, segments.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.start ?? 0) <= ms) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}

/**
 * Finds the line that a link to a whole second means: older links omit the milliseconds of their line's start.
 * @param ms milliseconds.
 * @returns the start of the first line within that second; undefined if the position is exact.
 */
export function lineStartWithin(segments: readonly Segment[], ms: number): number | undefined {
  if (ms % 1000 !== 0) return undefined;
  const at = segmentAt(segments, ms);
  if (segments[at]?.start === ms) return undefined;
  const next = segments[at + 1]?.start;
  return next !== undefined && next < ms + 1000 ? next : undefined;
}
