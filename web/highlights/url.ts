import type { HighlightBody } from "../api/highlights.ts";
import { recordingUrl, secondsOf } from "../common/recording-url.ts";

/** The recording's page at the start of a highlight. */
export function momentUrl({
  recording_id,
  timestamp,
}: Pick<HighlightBody, "recording_id" | "timestamp">): string {
  return `${recordingUrl(recording_id)}?t=${secondsOf(timestamp)}`;
}
