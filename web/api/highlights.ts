import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { ListedHighlight, listAllHighlights } from "../../contract/recordings/highlight-list.ts";
import type * as operations from "../../contract/recordings/highlight-operations.ts";
import type { Highlight } from "../../contract/recordings/highlights.ts";
import type { getRecordingMedia } from "../../contract/recordings/recording-data.ts";
import type { getRecording } from "../../contract/recordings/recording-operations.ts";
import { call, path } from "./client.ts";

export type HighlightBody = z.output<typeof Highlight>;
export type ListedBody = z.output<typeof ListedHighlight>;

type HighlightPage = z.output<(typeof listAllHighlights)["response"]>;

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
      call<typeof listAllHighlights>("GET", "/_/api/v1/highlights", {
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
      call<typeof operations.getHighlight>("GET", path`/_/api/v1/highlights/${highlightId}`, {
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
    queryFn: ({ signal }) =>
      call<typeof getRecording>("POST", path`/_/public-api/v2/recordings/${recordingId}`, {
        body: {},
        signal,
      }),
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
    queryFn: ({ signal }) =>
      call<typeof getRecordingMedia>("GET", path`/_/api/v1/recordings/${recordingId}/media`, { signal }),
  });
}

export function updateHighlight(
  highlightId: string,
  body: { text?: string; tags?: string[]; timestamp?: number; duration?: number },
): Promise<HighlightBody> {
  return call<typeof operations.updateHighlight>("PATCH", path`/_/api/v1/highlights/${highlightId}`, {
    body,
  });
}

/** Requests the clip of a highlight; repeated until it is ready. */
export function requestClip(highlightId: string) {
  return call<typeof operations.requestClip>("POST", path`/_/api/v1/highlights/${highlightId}/clip`);
}

export function deleteHighlight(highlightId: string) {
  return call<typeof operations.deleteHighlight>("DELETE", path`/_/api/v1/highlights/${highlightId}`);
}
