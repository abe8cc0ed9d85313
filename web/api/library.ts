import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../contract/library.ts";
import { call, path } from "./client.ts";

export type LibraryItem = z.output<typeof contract.LibraryItem>;
export type LibraryPage = z.output<typeof contract.listLibrary.response>;
type BulkBody = NonNullable<z.input<typeof contract.changeRecordings.body>>;
export type BulkChange = BulkBody["change"];
export type BulkResult = z.output<typeof contract.changeRecordings.response>;

/** Filters and order of the library, named as in its URL. */
export interface LibraryFilter {
  readonly title?: string | undefined;
  readonly team?: string | undefined;
  readonly type?: string | undefined;
  readonly scope?: "internal" | "external" | undefined;
  readonly attendance?: "hosted" | "attended" | undefined;
  /** Dates as `YYYY-MM-DD`, both inclusive, in the browser's time zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly favorite?: boolean | undefined;
  /** Without it, newest first. */
  readonly sort?: "oldest" | "title" | undefined;
}

/** More loaded pages than this are not refreshed when the window gets the focus. */
const maxRefetchedPages = 3;

/** Recordings with their participants, in the chosen order. */
export function libraryQuery(filter: LibraryFilter) {
  return infiniteQueryOptions({
    queryKey: ["recordings", filter],
    initialPageParam: null as string | null,
    getNextPageParam: (last: LibraryPage) => last.cursor,
    // All pages would be requested again, one after the other.
    refetchOnWindowFocus: ({ state }) => (state.data?.pages.length ?? 0) <= maxRefetchedPages,
    queryFn: ({ pageParam, signal }): Promise<LibraryPage> =>
      call<typeof contract.listLibrary>("POST", "/_/api/v1/library", {
        signal,
        body: {
          ...(pageParam === null ? {} : { cursor: pageParam }),
          ...(filter.sort === undefined ? {} : { sort: filter.sort }),
          filter: toFilter(filter),
        },
      }),
  });
}

function toFilter({ title, team, type, scope, attendance, from, to, favorite }: LibraryFilter) {
  return {
    ...(title ? { title_search: title } : {}),
    ...(team ? { team } : {}),
    ...(type ? { meeting_type: type } : {}),
    ...(scope ? { participant_scope: scope } : {}),
    ...(attendance ? { attendance } : {}),
    ...(from ? { from: new Date(`${from}T00:00:00`).toISOString() } : {}),
    ...(to ? { to: dayAfter(to).toISOString() } : {}),
    ...(favorite ? { favorite } : {}),
  };
}

/** Midnight of the next day; adding 24 hours would be wrong when daylight saving time changes. */
export function dayAfter(day: string): Date {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date;
}

const favorite = (id: string) => path`/_/api/v1/recordings/${id}/favorite`;

export const setFavorite = (id: string, isFavorite: boolean) =>
  isFavorite
    ? call<typeof contract.addFavorite>("PUT", favorite(id))
    : call<typeof contract.removeFavorite>("DELETE", favorite(id));

/** Short requests, which no proxy cuts off. */
const perRequest = 100;

/** Makes one change to many recordings. */
export async function changeRecordings(ids: readonly string[], change: BulkChange): Promise<BulkResult> {
  const all: BulkResult = { done: [], changed: [], failed: [], purge_datetime: null };
  for (let start = 0; start < ids.length; start += perRequest) {
    const recording_ids = ids.slice(start, start + perRequest);
    try {
      const part = await call<typeof contract.changeRecordings>("POST", "/_/api/v1/recordings/bulk", {
        body: { recording_ids, change },
      });
      all.done.push(...part.done);
      all.changed.push(...part.changed);
      all.failed.push(...part.failed);
      all.purge_datetime = part.purge_datetime ?? all.purge_datetime;
    } catch (error) {
      // What was changed before can still be undone; nothing is tried after it.
      if (all.done.length === 0) throw error;
      const detail = error instanceof Error ? error.message : "The request failed.";
      all.failed.push(
        ...ids.slice(start).map((recording_id) => ({ recording_id, error: "internal", detail })),
      );
      return all;
    }
  }
  return all;
}
