import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import { type SearchHit, type SearchResult, search } from "../../../contract/recordings/search.ts";
import { call } from "../client/call.ts";
import { dayAfter } from "./list.ts";

export type FoundRecording = z.output<typeof SearchResult>;
export type Hit = z.output<typeof SearchHit>;
export type Snippet = Hit["snippet"];

export type Count = NonNullable<SearchPage["count"]>;

type SearchPage = z.output<(typeof search)["response"]>;

/** Query and filters, named as in the search page's URL. */
export interface SearchFilter {
  readonly q?: string | undefined;
  /** Dates as `YYYY-MM-DD` in the browser's time zone, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** An email, a full name or a user id. */
  readonly person?: string | undefined;
  readonly team?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly media?: "video" | "audio" | "transcript" | undefined;
  /** Without it, by relevance. */
  readonly sort?: "newest" | "oldest" | undefined;
}

/** Recordings that match, best first. */
export function searchQuery(filter: SearchFilter) {
  return pagesOf(["search", filter], filter, undefined);
}

/** All matches in one recording, in order of time. */
export function hitsQuery(filter: SearchFilter, recordingId: string) {
  return pagesOf(["search in", recordingId, filter], filter, recordingId);
}

function pagesOf(queryKey: readonly unknown[], filter: SearchFilter, recordingId: string | undefined) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: (last: SearchPage) => last.cursor,
    queryFn: ({ pageParam, signal }): Promise<SearchPage> =>
      call(search, {
        signal,
        query: { ...toSearchQuery(filter), cursor: pageParam, recording_id: recordingId },
      }),
  });
}

/** Query and filters as the API takes them. */
export function toSearchQuery({ q, from, to, person, team, type, tag, media, sort }: SearchFilter) {
  return {
    q: q ?? "",
    person,
    team,
    meeting_type: type,
    tag,
    media_type: media,
    sort,
    from: from === undefined ? undefined : new Date(`${from}T00:00:00`).toISOString(),
    to: to === undefined ? undefined : dayAfter(to).toISOString(),
  };
}
