import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  getTranscriptEdit,
  listTranscriptEdits,
  TranscriptEdit,
  TranscriptEditWithChanges,
} from "../../contract/transcripts/transcript-history.ts";
import { call, path } from "./client.ts";

export type Edit = z.output<typeof TranscriptEdit>;
export type EditChange = z.output<typeof TranscriptEditWithChanges>["changes"][number];

export type EditsPage = z.output<(typeof listTranscriptEdits)["response"]>;

/** Edits of a transcript, newest first. The key extends the transcript's, so that both are invalidated together. */
export function editsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["recording", id, "transcript", "edits"],
    // Other users may have edited since.
    staleTime: 0,
    initialPageParam: null as number | null,
    getNextPageParam: (last: EditsPage) => last.next_before,
    queryFn: ({ pageParam, signal }): Promise<EditsPage> =>
      call<typeof listTranscriptEdits>("GET", path`/_/api/v1/recordings/${id}/transcript/edits`, {
        signal,
        query: { before: pageParam },
      }),
  });
}

/** What one edit changed. It never changes. */
export function editQuery(id: string, number: number) {
  return queryOptions({
    queryKey: ["recording", id, "edit", number],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call<typeof getTranscriptEdit>(
        "GET",
        path`/_/api/v1/recordings/${id}/transcript/edits/${String(number)}`,
        { signal },
      ),
  });
}
