import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import * as contract from "../../../contract/recordings/library.ts";
import { call } from "../client/call.ts";
import { type LibraryPage, loadedAt, type Position, positionAfter } from "./pages.ts";

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

/** Recordings with their participants, in the chosen order. */
export function libraryQuery(filter: LibraryFilter) {
  return infiniteQueryOptions({
    queryKey: ["recordings", filter],
    initialPageParam: null as Position | null,
    getNextPageParam: positionAfter,
    queryFn: async ({ pageParam, signal, client, queryKey }): Promise<LibraryPage> => {
      const loaded = pageParam === null ? null : loadedAt(client.getQueryData(queryKey), pageParam);
      return loaded ?? listPage(filter, pageParam, signal);
    },
  });
}

/** The newest recordings with these words in their title, at most 100. */
export function titlesQuery(title: string) {
  return queryOptions({
    queryKey: ["recordings", "titles", title],
    queryFn: ({ signal }) => listPage({ title }, null, signal),
  });
}

const listPage = (filter: LibraryFilter, position: Position | null, signal: AbortSignal) =>
  call(contract.listLibrary, {
    signal,
    body: {
      ...(position === null ? {} : { cursor: position.cursor }),
      ...(filter.sort === undefined ? {} : { sort: filter.sort }),
      filter: toLibraryFilter(filter),
    },
  });

/** The filter as the API takes it. */
export function toLibraryFilter({ title, team, type, scope, attendance, from, to, favorite }: LibraryFilter) {
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

export const setFavorite = (id: string, isFavorite: boolean) =>
  call(isFavorite ? contract.addFavorite : contract.removeFavorite, { params: { recording_id: id } });
