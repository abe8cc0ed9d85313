import { z } from "zod";

/** Maximum of a time from the start of a recording: what a column of 32 bits holds. */
export const maxMilliseconds = 2_147_483_647;

/** Maximum UTF-16 code units per segment: about eleven minutes of speech without a pause. */
export const maxSegmentCharacters = 10_000;

/** Maximum segments per transcript: a day of short ones. */
export const maxSegments = 50_000;

/** Maximum characters per transcript: about eighty hours of speech. */
export const maxTranscriptCharacters = 5_000_000;

/** Maximum characters of a subtitle file: a transcript with a timestamp before each word. */
export const maxSubtitleCharacters = 10_000_000;

/** Collapses runs of whitespace in a text that exceeds the limit; a shorter text stays as it is. */
function boundSegmentText(text: string): string {
  return text.length <= maxSegmentCharacters ? text : text.replace(/\s+/g, " ").trim();
}

/** A segment's text in requests. */
export const SegmentText = z
  .string()
  .overwrite(boundSegmentText)
  .max(maxSegmentCharacters)
  .meta({
    description: `At most ${maxSegmentCharacters} characters, counted after collapsing runs of whitespace. Split longer texts into several segments.`,
  });

export function countCharacters(segments: readonly { readonly text: string }[]): number {
  return segments.reduce((sum, { text }) => sum + text.length, 0);
}

/** Whether all segments together are within maxTranscriptCharacters. */
export function fitsTranscript(segments: readonly { readonly text: string }[]): boolean {
  return countCharacters(segments) <= maxTranscriptCharacters;
}

export const transcriptTooLong = `must have at most ${maxTranscriptCharacters} characters of text in all segments together`;
