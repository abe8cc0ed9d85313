import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  getTranscriptEdit,
  listTranscriptEdits,
  type TranscriptEdit,
  type TranscriptEditWithChanges,
} from "../../../contract/transcripts/transcript-history.ts";
import { call } from "../client/call.ts";

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
      call(listTranscriptEdits, {
        params: { recording_id: id },
        signal,
        query: { before: pageParam?.toString() },
      }),
  });
}

/** What one edit changed. It never changes. */
export function editQuery(id: string, number: number) {
  return queryOptions({
    queryKey: ["recording", id, "edit", number],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call(getTranscriptEdit, { params: { recording_id: id, number: String(number) }, signal }),
  });
}
