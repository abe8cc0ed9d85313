/** One segment of a transcript as it is shown to a model. */
export interface Line {
  /** Its place in the transcript, from 1; models count so. */
  readonly number: number;
  /** Milliseconds from the start. */
  readonly startMs: number;
  readonly speaker: string;
  readonly text: string;
}

/** A speaker's name that is longer is no name. */
const longestName = 80;

/**
 * Takes out of a text what could make it look like something else than one line of speech: line breaks, controls, and
 * characters that nobody sees but a model does (zero-width, direction, tags, variants).
 */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}\u{e0000}-\u{e01ef}]|[\u{fe00}-\u{fe0f}]/gu, "")
    .trim();
}

/** Makes lines of segments, in spoken order; what is empty keeps its number and is left out. */
export function toLines(
  segments: readonly { readonly start: number; readonly speaker: string; readonly text: string }[],
): Line[] {
  return segments
    .map((segment, index) => ({
      number: index + 1,
      startMs: segment.start,
      speaker: plainLine(segment.speaker).slice(0, longestName).toWellFormed() || "Unknown Speaker",
      text: plainLine(segment.text),
    }))
    .filter((line) => line.text !== "");
}

/** `[12] 01:02:03 Anna: We sign on Friday.` */
export function printLine(line: Line): string {
  return `[${line.number}] ${printTime(line.startMs)} ${line.speaker}: ${line.text}`;
}

function printTime(ms: number): string {
  const sec = Math.floor(ms / 1000);
  const parts = [Math.floor(sec / 3600), Math.floor(sec / 60) % 60, sec % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
