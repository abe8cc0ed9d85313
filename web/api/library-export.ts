import type { getRecordingMedia } from "../../contract/recordings/recording-data.ts";
import type { getRecording } from "../../contract/recordings/recording-operations.ts";
import type { transcriptText as textOperations } from "../../contract/transcripts/transcripts.ts";
import { call, path } from "./client.ts";

/** A recording with what the user can see of it. */
export const exportedRecording = (id: string, signal: AbortSignal) =>
  call<typeof getRecording>("POST", path`/_/public-api/v2/recordings/${id}`, {
    signal,
    isBulk: true,
    body: {
      include: { participants: true, highlights: true, ai_summary: true, ai_action_items: true },
    },
  });

export const transcriptText = (id: string, format: "txt" | "vtt", signal: AbortSignal) =>
  call<(typeof textOperations)[typeof format]>(
    "GET",
    `${path`/_/public-api/v2/recordings/${id}/transcript`}.${format}`,
    { signal, isBulk: true },
  );

/** The URL of a recording's media file; null without one. */
export async function mediaOf(id: string, signal: AbortSignal) {
  const { media } = await call<typeof getRecordingMedia>("GET", path`/_/api/v1/recordings/${id}/media`, {
    signal,
    isBulk: true,
  });
  return media;
}
