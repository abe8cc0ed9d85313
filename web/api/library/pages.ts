import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../../contract/recordings/library.ts";

export type LibraryItem = z.output<typeof contract.LibraryItem>;

/** Up to 100 recordings. */
export interface LibraryPage extends z.output<typeof contract.listLibrary.response> {
  /** A recording of this page has changed: the next refetch requests the page again. */
  readonly isChanged?: true;
}

type Pages = InfiniteData<LibraryPage, Position | null>;

/** Where a page after the first begins. */
export interface Position {
  readonly cursor: string;
  /** Number of the page; the first is 0. */
  readonly index: number;
  /** The last recording of the page before. */
  readonly after: string | undefined;
}

/** A refetch requests this many pages at the start of the list, where new recordings appear. */
const refetchedPages = 3;

export function positionAfter(last: LibraryPage, pages: readonly LibraryPage[]): Position | null {
  const { cursor, recordings } = last;
  return cursor === null ? null : { cursor, index: pages.length, after: recordings.at(-1)?.recording.id };
}

/**
 * The page that follows, if it is loaded and need not be requested again: a list may have a hundred loaded pages, and a
 * refetch would request them one after the other. When recordings were added or deleted before it, it is the rest of a page.
 */
export function loadedAt(data: Pages | undefined, { index, after }: Position): LibraryPage | null {
  if (data === undefined || index < refetchedPages) return null;
  for (const [number, page] of data.pages.entries()) {
    const at = page.recordings.findIndex(({ recording }) => recording.id === after);
    if (at === -1) continue;
    const isLast = at === page.recordings.length - 1;
    const next = isLast ? data.pages[number + 1] : page;
    if (next === undefined || next.isChanged) return null;
    return isLast ? next : { ...page, recordings: page.recordings.slice(at + 1) };
  }
  return null;
}

/** Matches the library's lists. Other queries of recordings have a name at this position. */
export const libraryLists = {
  queryKey: ["recordings"],
  predicate: ({ queryKey }: Pick<Query, "queryKey">) => typeof queryKey[1] === "object",
};

/**
 * Marks the lists that contain recordings as changed; invalidate their queries afterwards.
 * @param ids null: recordings that may be in no list, such as restored ones.
 */
export function markChanged(client: QueryClient, ids: readonly string[] | null): void {
  const changed = new Set(ids);
  if (ids === null) client.removeQueries({ ...libraryLists, type: "inactive" });
  updatePages(client, (page) =>
    ids === null || page.recordings.some(({ recording }) => changed.has(recording.id))
      ? { ...page, isChanged: true }
      : page,
  );
}

/** Changes one recording in all loaded lists. */
export function updateItem(client: QueryClient, id: string, change: Partial<LibraryItem>): void {
  updatePages(client, (page) => {
    const at = page.recordings.findIndex(({ recording }) => recording.id === id);
    const item = page.recordings[at];
    return item === undefined
      ? page
      : { ...page, recordings: page.recordings.with(at, { ...item, ...change }) };
  });
}

function updatePages(client: QueryClient, update: (page: LibraryPage) => LibraryPage): void {
  client.setQueriesData<Pages>(libraryLists, (data) => {
    if (data === undefined) return undefined;
    const pages = data.pages.map(update);
    // Undefined changes nothing, so that the list stays as stale as it is.
    return pages.every((page, index) => page === data.pages[index]) ? undefined : { ...data, pages };
  });
}
