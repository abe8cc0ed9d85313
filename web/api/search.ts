import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { SearchHit, SearchResult, search } from "../../contract/search.ts";
import { call } from "./client.ts";

export type FoundRecording = z.output<typeof SearchResult>;
export type Hit = z.output<typeof SearchHit>;
export type Snippet = Hit["snippet"];

type SearchPage = z.output<(typeof search)["response"]>;

/** What is looked for, as the address of the search page names it. */
export interface SearchFilter {
  readonly q?: string | undefined;
  /** Dates as `YYYY-MM-DD` of the person's own clock, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** An email, a whole name, or the id of a user. */
  readonly person?: string | undefined;
  readonly team?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly media?: "video" | "audio" | "transcript" | undefined;
}

/** Recordings in which the words were found, best first, page by page. */
export function searchQuery(filter: SearchFilter) {
  return pagesOf(["search", filter], filter, undefined);
}

/** Everything that was found in one recording, in the order of time. */
export function hitsQuery(filter: SearchFilter, recordingId: string) {
  return pagesOf(["search in", recordingId, filter], filter, recordingId);
}

function pagesOf(queryKey: readonly unknown[], filter: SearchFilter, recordingId: string | undefined) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: (last: SearchPage) => last.cursor,
    queryFn: ({ pageParam, signal }): Promise<SearchPage> =>
      call<typeof search>("GET", "/_/api/v1/search", {
        signal,
        query: { ...toQuery(filter), cursor: pageParam, recording_id: recordingId },
      }),
  });
}

function toQuery({ q, from, to, person, team, type, tag, media }: SearchFilter) {
  return {
    q: q ?? "",
    person,
    team,
    meeting_type: type,
    tag,
    media_type: media,
    from: from === undefined ? undefined : new Date(`${from}T00:00:00`).toISOString(),
    to: to === undefined ? undefined : dayAfter(to).toISOString(),
  };
}

/** The first moment of the next day, also where the clock is changed in between. */
function dayAfter(day: string): Date {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date;
}
