/** A transcript segment in the API's JSON form. */
export interface Segment {
  readonly speaker: string;
  /** Milliseconds from the start of the recording. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The requested part; all of it by default. Milliseconds from the start of the recording. */
export interface Range {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A part of a transcript as an assistant reads it. */
export interface TranscriptPart {
  /** One line for each segment: `[1:02:03] Speaker: text`. */
  readonly text: string;
  /** Where to continue if it did not all fit; null if it did. */
  readonly next_from_ms: number | null;
}

/** About 15,000 tokens, which fits an assistant's context; an hour of speech takes one or two parts. */
export const maxPartLength = 60_000;

/** The segments that touch the range, as lines, cut at whole segments where they are too many. */
export function transcriptPart(segments: readonly Segment[], { from, to }: Range): TranscriptPart {
  const lines: string[] = [];
  let length = 0;
  for (const segment of segments) {
    if (from !== undefined && segment.end < from) continue;
    if (to !== undefined && segment.start > to) continue;
    const line = `[${clock(segment.start)}] ${segment.speaker}: ${segment.text}`.slice(0, maxPartLength);
    if (length + line.length > maxPartLength && lines.length > 0)
      return { text: lines.join("\n"), next_from_ms: segment.start };
    lines.push(line);
    length += line.length + 1;
  }
  return { text: lines.join("\n"), next_from_ms: null };
}

/** A time such as `7:05` or `1:02:09`. */
export function clock(ms: number): string {
  const total = Math.floor(ms / 1000);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds)}` : `${minutes}:${pad(seconds)}`;
}
