import { Group, Loader } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { ErrorState } from "../states.tsx";
import { useLoadMore } from "./use-load-more.ts";

/** The end of an infinite list: loads the next page when scrolled near, and shows an error if that fails. */
export function LoadMore({ query }: { query: UseInfiniteQueryResult<unknown, Error> }) {
  const end = useLoadMore(() => {
    if (query.hasNextPage && !query.isFetchingNextPage && !query.isFetchNextPageError) query.fetchNextPage();
  });
  return (
    <div ref={end}>
      {query.isFetchingNextPage ? (
        <Group justify="center" p="md">
          <Loader size="sm" role="img" aria-label="Loading more" />
        </Group>
      ) : null}
      {query.isFetchNextPageError ? (
        <ErrorState error={query.error} retry={() => query.fetchNextPage()} />
      ) : null}
    </div>
  );
}
