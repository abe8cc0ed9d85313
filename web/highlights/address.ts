import type { HighlightBody } from "../api/highlights.ts";
import { recordingAddress } from "../library/recording-parts.tsx";

/** The recording, at the moment a highlight begins. */
export function momentAddress({
  recording_id,
  timestamp,
}: Pick<HighlightBody, "recording_id" | "timestamp">): string {
  return `${recordingAddress(recording_id)}?t=${Math.floor(timestamp / 1000)}`;
}
