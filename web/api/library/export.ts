import { getRecordingMedia } from "../../../contract/recordings/recording-data.ts";
import { getRecording } from "../../../contract/recordings/recording-operations.ts";
import { transcriptText as textOperations } from "../../../contract/transcripts/transcripts.ts";
import { call } from "../client/call.ts";

/** A recording with what the user can see of it. */
export const exportedRecording = (id: string, signal: AbortSignal) =>
  call(getRecording, {
    params: { recording_id: id },
    signal,
    isBulk: true,
    body: {
      include: { participants: true, highlights: true, ai_summary: true, ai_action_items: true },
    },
  });

export const transcriptText = (id: string, format: "txt" | "vtt", signal: AbortSignal) =>
  call(textOperations[format], { params: { recording_id: id }, signal, isBulk: true });

/** The URL of a recording's media file; null without one. */
export async function mediaOf(id: string, signal: AbortSignal) {
  const { media } = await call(getRecordingMedia, { params: { recording_id: id }, signal, isBulk: true });
  return media;
}
