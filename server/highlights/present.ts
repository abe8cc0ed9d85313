import type { HighlightIncludeInput } from "../../contract/highlights.ts";
import type { SegmentRow } from "../recordings/queries.ts";
import { formatTranscript } from "../recordings/transcript-format.ts";

export type SpokenSegment = SegmentRow;

/**
 * What a Highlight Include adds: the transcript of the range as the text form of a whole transcript has it, and who
 * speaks in it, in the order in which they begin.
 */
export function presentRange(
  segments: readonly SpokenSegment[],
  include: HighlightIncludeInput,
): { transcript?: string; speakers?: string[] } {
  return {
    ...(include.transcript ? { transcript: formatTranscript("txt", segments) } : {}),
    ...(include.speakers ? { speakers: [...new Set(segments.map((segment) => segment.speaker))] } : {}),
  };
}
