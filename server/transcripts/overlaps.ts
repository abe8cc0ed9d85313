/** When something is said, in ms. */
export interface Timed {
  readonly start_ms: number;
  readonly end_ms: number;
}

/** A segment that overlaps a time. */
export interface Overlap {
  readonly position: number;
  /** For how long. */
  readonly ms: number;
  readonly length: number;
}

/**
 * So many people never speak at once, so what lies beyond is made up: a transcript in which everything overlaps
 * everything would keep the process busy for half an hour.
 */
export const mostOverlaps = 50;

/** One that takes no time counts as an instant. */
export function lengthOf({ start_ms, end_ms }: Timed): number {
  return Math.max(end_ms - start_ms, 1);
}

/**
 * Finds the segments that overlap a time, the first 50 of them, without going through all: also where one of them goes
 * on over all others.
 * @param segments in the order of their starts.
 */
export function indexOf(segments: readonly Timed[]): (segment: Timed) => Overlap[] {
  // A tree in a list: each place holds the latest end below it, the segments themselves from `width` on.
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
    /** @returns whether to go on: not after enough, or after what begins too late. */
    const look = (place: number): boolean => {
      if ((latest[place] ?? 0) <= segment.start_ms) return true;
      if (place < width) return look(2 * place) && look(2 * place + 1);
      const position = place - width;
      const other = segments[position];
      if (other === undefined || other.start_ms >= end || found.length >= mostOverlaps) return false;
      const length = lengthOf(other);
      const ms = Math.min(end, other.start_ms + length) - Math.max(segment.start_ms, other.start_ms);
      found.push({ position, ms, length });
      return true;
    };
    look(1);
    return found;
  };
}
