import { Group, Loader } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { ErrorState } from "./states.tsx";
import { useMoreWhenSeen } from "./use-more.ts";

/** The end of an endless list: loads the next page when it comes near, and says so when that fails. */
export function LoadMore({ query }: { query: UseInfiniteQueryResult<unknown, Error> }) {
  const end = useMoreWhenSeen(() => {
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
