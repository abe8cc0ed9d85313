import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type LibraryFilter, setFavorite } from "../api/library/list.ts";
import { libraryLists, updateItem } from "../api/library/pages.ts";
import { errorText } from "../common/actions.tsx";

interface Wanted {
  readonly id: string;
  readonly isFavorite: boolean;
}

const favoriteKey = ["favorite"];

/** Marks recordings as favorites: in the loaded lists at once, and back if the request fails. */
export function useFavorite(): (id: string, isFavorite: boolean) => void {
  const { t } = useLingui();
  const client = useQueryClient();
  const show = ({ id, isFavorite }: Wanted) => updateItem(client, id, { is_favorite: isFavorite });
  const { mutate } = useMutation({
    mutationFn: ({ id, isFavorite }: Wanted) => setFavorite(id, isFavorite),
    mutationKey: favoriteKey,
    // Two clicks send two requests, in order.
    scope: { id: "favorite" },
    onError: (error, { id, isFavorite }) => {
      show({ id, isFavorite: !isFavorite });
      notifications.show({ color: "red", title: t`Couldn't change the favorite`, message: errorText(error) });
    },
    onSettled: () => {
      // The last one refetches: before it, the response would be without later clicks.
      if (client.isMutating({ mutationKey: favoriteKey }) > 1) return;
      void client.invalidateQueries({
        ...libraryLists,
        predicate: ({ queryKey, state }) =>
          libraryLists.predicate({ queryKey }) &&
          (state.isInvalidated || (queryKey[1] as LibraryFilter).favorite === true),
      });
    },
  });
  return (id, isFavorite) => {
    // The response of a refetch that is in flight would show the former star.
    const isLoading = client.isFetching(libraryLists) > 0;
    void client.cancelQueries(libraryLists);
    show({ id, isFavorite });
    if (isLoading) void client.invalidateQueries({ ...libraryLists, refetchType: "none" });
    mutate({ id, isFavorite });
  };
}
