import { useLingui } from "@lingui/react/macro";
import { Group, Loader } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { ErrorState } from "../states.tsx";
import { useLoadMore } from "./use-load-more.ts";

type Query = UseInfiniteQueryResult<unknown, Error>;

/** Loads the next page, unless it is being loaded or has failed: then the user decides. */
export function loadNextPage(query: Query): void {
  if (query.hasNextPage && !query.isFetchingNextPage && !query.isFetchNextPageError) query.fetchNextPage();
}

/** The end of an infinite list: loads the next page when scrolled near, and shows an error if that fails. */
export function LoadMore({ query }: { query: Query }) {
  const end = useLoadMore(() => loadNextPage(query));
  return (
    <div ref={end}>
      <NextPageState query={query} />
    </div>
  );
}

/** Whether the next page of an infinite list is being loaded, or has failed to. */
export function NextPageState({ query }: { query: Query }) {
  const { t } = useLingui();
  return (
    <>
      {query.isFetchingNextPage ? (
        <Group justify="center" p="md">
          <Loader size="sm" role="img" aria-label={t`Loading more`} />
        </Group>
      ) : null}
      {query.isFetchNextPageError ? (
        <ErrorState error={query.error} retry={() => query.fetchNextPage()} />
      ) : null}
    </>
  );
}
