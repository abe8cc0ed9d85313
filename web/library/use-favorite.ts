import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { type LibraryFilter, type LibraryPage, setFavorite } from "../api/library.ts";
import { useAction } from "../common/actions.tsx";

/** Marks recordings as favorites. The loaded pages are updated in place: there may be a hundred of them. */
export function useFavorite(): (id: string, isFavorite: boolean) => void {
  const client = useQueryClient();
  const { mutate } = useAction({
    run: ({ id, isFavorite }: { id: string; isFavorite: boolean }) => setFavorite(id, isFavorite),
    onDone: (_result, { id, isFavorite }) => {
      client.setQueriesData<InfiniteData<LibraryPage>>(
        { queryKey: ["recordings"], predicate: ({ queryKey }) => isLibrary(queryKey) },
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page) => ({
              ...page,
              recordings: page.recordings.map((item) =>
                item.recording.id === id ? { ...item, is_favorite: isFavorite } : item,
              ),
            })),
          },
      );
      void client.invalidateQueries({
        queryKey: ["recordings"],
        predicate: ({ queryKey }) => isLibrary(queryKey) && (queryKey[1] as LibraryFilter).favorite === true,
      });
    },
  });
  return (id, isFavorite) => mutate({ id, isFavorite });
}

/** The library's queries; others of recordings have a name at this position. */
function isLibrary(queryKey: readonly unknown[]): boolean {
  return typeof queryKey[1] === "object";
}
