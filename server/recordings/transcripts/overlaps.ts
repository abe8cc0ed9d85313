/** The time of a segment, in ms. */
export interface Timed {
  readonly start_ms: number;
  readonly end_ms: number;
}

/** A segment that overlaps a time range. */
export interface Overlap {
  readonly position: number;
  /** For how long. */
  readonly ms: number;
  readonly length: number;
}

/**
 * More people than this never speak at once, so further overlaps are invented: a transcript in which all segments
 * overlap would keep the process busy for half an hour.
 */
export const maxOverlaps = 50;

/** A segment without a duration counts as an instant. */
export function lengthOf({ start_ms, end_ms }: Timed): number {
  return Math.max(end_ms - start_ms, 1);
}

/**
 * Finds the segments that overlap a time range, the first 50 of them, without reading them all, even if one segment
 * spans all others.
 * @param segments in order of their starts.
 */
export function indexOf(segments: readonly Timed[]): (segment: Timed) => Overlap[] {
  // A tree in a list: each node holds the latest end below it; the segments themselves start at `width`.
  let width = 1;
  while (width < segments.length) width *= 2;
  const latest = new Float64Array(2 * width).fill(Number.NEGATIVE_INFINITY);
  segments.forEach((segment, position) => {
    latest[width + position] = segment.start_ms + lengthOf(segment);
  });
  for (let place = width - 1; place > 0; place--)
    latest[place] = Math.max(latest[2 * place] ?? 0, latest[2 * place + 1] ?? 0);

  return (segment) => {
    const end = segment.start_ms + lengthOf(segment);
    const found: Overlap[] = [];
    /** @returns whether to continue: not after enough segments, or after one that starts too late. */
    const look = (place: number): boolean => {
      if ((latest[place] ?? 0) <= segment.start_ms) return true;
      if (place < width) return look(2 * place) && look(2 * place + 1);
      const position = place - width;
      const other = segments[position];
      if (other === undefined || other.start_ms >= end || found.length >= maxOverlaps) return false;
      const length = lengthOf(other);
      const ms = Math.min(end, other.start_ms + length) - Math.max(segment.start_ms, other.start_ms);
      found.push({ position, ms, length });
      return true;
    };
    look(1);
    return found;
  };
}
