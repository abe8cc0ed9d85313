import type { Segment } from "../api/recording/recording.ts";

/** A range of a recording in milliseconds, with its text. */
export interface ClipRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/** Whole lines selected by keyboard, from the anchor to the focus. */
export interface Lines {
  readonly begin: number;
  readonly end: number;
}

/** Shorter clips are extended into the pause after them. */
const shortClipMs = 1000;

/** The clip of whole lines, extended to one second if no other line starts before that. */
export function clipOfLines(segments: readonly Segment[], first: number, last: number): ClipRange | null {
  const chosen = segments.slice(first, last + 1);
  if (chosen[0] === undefined) return null;
  const startMs = chosen[0].start;
  const endMs = Math.max(...chosen.map(({ end }) => end));
  const next = segments.find(({ start }, index) => index > last && start > startMs);
  return {
    startMs,
    endMs: Math.max(endMs, Math.min(startMs + shortClipMs, next?.start ?? Number.POSITIVE_INFINITY)),
    text: chosen.map(({ text }) => text).join(" "),
  };
}
