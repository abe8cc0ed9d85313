import type { HighlightIncludeInput } from "../../../contract/recordings/highlights.ts";
import type { SegmentRow } from "../recordings/queries.ts";
import { writers } from "../recordings/transcript/format.ts";
import { jsonTextOf, toBytes } from "../recordings/transcript/text-slices.ts";

export type SpokenSegment = SegmentRow;

/**
 * Adds the fields of a Highlight Include: the transcript of the range in the text format, and its speakers in the order
 * in which they first speak.
 * @param json the highlight as JSON, without these fields.
 */
export async function addTranscript(
  json: string,
  segments: readonly SpokenSegment[],
  include: HighlightIncludeInput,
): Promise<string> {
  const bytes = await toBytes(pieces(json, segments, include));
  return bytes.toString();
}

function* pieces(
  json: string,
  segments: readonly SpokenSegment[],
  include: HighlightIncludeInput,
): Generator<string> {
  // Appended as text, so that the JSON from PostgreSQL need not be parsed.
  yield json.slice(0, -1);
  if (include.transcript) {
    yield ',"transcript":';
    yield* jsonTextOf(writers.txt(segments));
  }
  if (include.speakers) {
    const speakers = new Set(segments.map((segment) => segment.speaker));
    yield `,"speakers":${JSON.stringify([...speakers])}`;
  }
  yield "}";
}
