import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { ListedHighlight, listAllHighlights } from "../../contract/highlight-list.ts";
import type { deleteHighlight, getHighlight, updateHighlight } from "../../contract/highlight-operations.ts";
import type { Highlight } from "../../contract/highlights.ts";
import type { getRecordingMedia } from "../../contract/recording-data.ts";
import type { getRecording } from "../../contract/recording-operations.ts";
import { call, path } from "./client.ts";

export type HighlightBody = z.output<typeof Highlight>;
export type ListedBody = z.output<typeof ListedHighlight>;

type HighlightPage = z.output<(typeof listAllHighlights)["response"]>;

/** What the list can be narrowed by. */
export interface HighlightFilter {
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
}

/** Highlights of all recordings the person sees, newest first, page by page, with who speaks in them. */
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

/** One highlight with what is said in it and by whom. */
export function highlightQuery(highlightId: string) {
  return queryOptions({
    queryKey: ["highlights", "one", highlightId],
    queryFn: ({ signal }) =>
      call<typeof getHighlight>("GET", path`/_/api/v1/highlights/${highlightId}`, {
        signal,
        query: { include: "transcript,speakers" },
      }),
  });
}

/** The recording a clip is of: its title and when it was. */
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

/** Links to a recording's files; asked for again well before they end. */
export function mediaQuery(recordingId: string) {
  return queryOptions({
    queryKey: ["recordings", "media", recordingId],
    staleTime: 60_000,
    // A new link would begin the player anew.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: ({ signal }) =>
      call<typeof getRecordingMedia>("GET", path`/_/api/v1/recordings/${recordingId}/media`, { signal }),
  });
}

export function changeHighlight(
  highlightId: string,
  body: { text?: string; tags?: string[]; timestamp?: number; duration?: number },
): Promise<HighlightBody> {
  return call<typeof updateHighlight>("PATCH", path`/_/api/v1/highlights/${highlightId}`, { body });
}

export function removeHighlight(highlightId: string) {
  return call<typeof deleteHighlight>("DELETE", path`/_/api/v1/highlights/${highlightId}`);
}
