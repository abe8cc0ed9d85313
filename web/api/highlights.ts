import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { ListedHighlight } from "../../contract/recordings/highlight-operations.ts";
import * as operations from "../../contract/recordings/highlight-operations.ts";
import type { Highlight } from "../../contract/recordings/highlights.ts";
import { getRecordingMedia } from "../../contract/recordings/recording-data.ts";
import { getRecording } from "../../contract/recordings/recording-operations.ts";
import { call } from "./client/call.ts";

export type HighlightBody = z.output<typeof Highlight>;
export type ListedBody = z.output<typeof ListedHighlight>;

type HighlightPage = z.output<(typeof operations.listAllHighlights)["response"]>;

/** Filters of the highlight list. */
export interface HighlightFilter {
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
}

/** Highlights of all recordings the user can see, newest first, with their speakers. */
export function highlightsQuery({ text, tag }: HighlightFilter) {
  return infiniteQueryOptions({
    queryKey: ["highlights", "list", text ?? "", tag ?? ""],
    initialPageParam: null as string | null,
    getNextPageParam: (last: HighlightPage) => last.cursor,
    queryFn: ({ pageParam, signal }): Promise<HighlightPage> =>
      call(operations.listAllHighlights, {
        signal,
        query: { cursor: pageParam, text, tag, include: "speakers" },
      }),
  });
}

/** One highlight with its transcript excerpt and speakers. */
export function highlightQuery(highlightId: string) {
  return queryOptions({
    queryKey: ["highlights", "one", highlightId],
    queryFn: ({ signal }) =>
      call(operations.getHighlight, {
        params: { highlight_id: highlightId },
        signal,
        query: { include: "transcript,speakers" },
      }),
  });
}

/** The recording that a highlight belongs to. */
export function clippedRecordingQuery(recordingId: string) {
  return queryOptions({
    queryKey: ["recordings", "clipped", recordingId],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }) => call(getRecording, { params: { recording_id: recordingId }, body: {}, signal }),
  });
}

/** URLs of a recording's files, refetched well before they expire. */
export function mediaQuery(recordingId: string) {
  return queryOptions({
    queryKey: ["recordings", "media", recordingId],
    staleTime: 60_000,
    // A new URL would restart the player.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: ({ signal }) => call(getRecordingMedia, { params: { recording_id: recordingId }, signal }),
  });
}

export function updateHighlight(
  highlightId: string,
  body: { text?: string; tags?: string[]; timestamp?: number; duration?: number },
): Promise<HighlightBody> {
  return call(operations.updateHighlight, { params: { highlight_id: highlightId }, body });
}

/** Requests the clip of a highlight; repeated until it is ready. */
export function requestClip(highlightId: string) {
  return call(operations.requestClip, { params: { highlight_id: highlightId } });
}

export function deleteHighlight(highlightId: string) {
  return call(operations.deleteHighlight, { params: { highlight_id: highlightId } });
}
