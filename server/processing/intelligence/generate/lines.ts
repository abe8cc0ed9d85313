/** A transcript segment as a line of a prompt. */
export interface Line {
  /** Its number in the transcript, from 1. */
  readonly number: number;
  /** Milliseconds from the start of the recording. */
  readonly startMs: number;
  readonly speaker: string;
  /** Who speaks; null: not one of the participants. */
  readonly participantId: string | null;
  readonly text: string;
}

/** Longer speaker names are cut; in characters. */
const maxName = 80;

/**
 * Removes everything from a text that could make it look like more than one line of speech: line breaks, control
 * characters, and invisible characters that a model still reads (zero-width, direction, tags, variants).
 */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}\u{e0000}-\u{e01ef}]|[\u{fe00}-\u{fe0f}]/gu, "")
    .trim();
}

/** Turns segments into lines, in spoken order; empty ones are omitted but counted. */
export function toLines(
  segments: readonly {
    readonly start: number;
    readonly speaker: string;
    readonly participant_id?: string | null;
    readonly text: string;
  }[],
): Line[] {
  return segments
    .map((segment, index) => ({
      number: index + 1,
      startMs: segment.start,
      speaker: plainLine(segment.speaker).slice(0, maxName).toWellFormed() || "Unknown Speaker",
      participantId: segment.participant_id ?? null,
      text: plainLine(segment.text),
    }))
    .filter((line) => line.text !== "");
}

/** `[12] 01:02:03 Anna: We sign on Friday.` */
export function printLine(line: Line): string {
  return `[${line.number}] ${printTime(line.startMs)} ${line.speaker}: ${line.text}`;
}

export function printTime(ms: number): string {
  const sec = Math.floor(ms / 1000);
  const parts = [Math.floor(sec / 3600), Math.floor(sec / 60) % 60, sec % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
