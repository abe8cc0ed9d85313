import { Button, Code, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconSearch, IconSearchOff } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../api/client.ts";
import { searchQuery } from "../api/search.ts";
import { fieldErrors } from "../common/actions.tsx";
import { counted } from "../common/format/count.ts";
import { LoadMore } from "../common/lists/load-more.tsx";
import { PageStack } from "../common/page-stack.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";

import { useTitle } from "../common/use-title.ts";
import { SearchFilters } from "./filters.tsx";
import { Result, ResultSkeleton } from "./result.tsx";
import classes from "./search.module.css";
import { isFiltered, type SearchParams } from "./search-params.ts";

const page = getRouteApi("/signed-in/search");

/** Search results for the query in the URL. */
export function SearchPage() {
  const search = page.useSearch();
  useTitle(search.q === undefined ? "Search" : `Search: ${search.q}`);
  return (
    <PageStack>
      <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
        {search.q === undefined ? "Search" : `Search: ${search.q}`}
      </Title>
      <SearchFilters />
      {search.q === undefined ? <NoQuery /> : <Results search={search} />}
    </PageStack>
  );
}

function Results({ search }: { search: SearchParams }) {
  const query = useInfiniteQuery({ ...searchQuery(search), placeholderData: keepPreviousData });
  if (query.isPending)
    return (
      <div className={classes.results} aria-busy="true">
        <VisuallyHidden role="status">Searching</VisuallyHidden>
        {Array.from({ length: 4 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
          <ResultSkeleton key={index} />
        ))}
      </div>
    );
  if (query.data === undefined) return <Refused error={query.error} retry={() => query.refetch()} />;
  const results = query.data.pages.flatMap(({ results }) => results);
  if (results.length === 0) return <NoResults isFiltered={isFiltered(search)} />;
  return (
    <div data-stale={query.isPlaceholderData || undefined} className={classes.found}>
      <VisuallyHidden role="status">{`${query.hasNextPage ? "At least " : ""}${counted(results.length, "recording")}`}</VisuallyHidden>
      <ul className={classes.results} aria-label="Results">
        {results.map((result) => (
          <li key={result.recording.id}>
            <Result key={JSON.stringify(search)} result={result} search={search} />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </div>
  );
}

/** Shows how to fix an invalid query; other errors get the usual error state. */
function Refused({ error, retry }: { error: unknown; retry: () => void }) {
  const violation = error instanceof ApiError ? fieldErrors(error).q : undefined;
  if (violation === undefined) return <ErrorState error={error} retry={retry} />;
  return (
    <EmptyState title="Invalid search" icon={<IconSearchOff size={30} stroke={1.5} />}>
      <p>Your search {violation.charAt(0).toLowerCase() + violation.slice(1)}.</p>
      <Hints />
    </EmptyState>
  );
}

function NoQuery() {
  return (
    <EmptyState title="Search recordings and transcripts" icon={<IconSearch size={30} stroke={1.5} />}>
      <p>Searches titles, tags, people, highlights and transcripts you have access to.</p>
      <Hints />
    </EmptyState>
  );
}

function NoResults({ isFiltered }: { isFiltered: boolean }) {
  const navigate = page.useNavigate();
  return (
    <EmptyState
      title="No results"
      icon={<IconSearchOff size={30} stroke={1.5} />}
      action={
        isFiltered ? (
          <Button
            variant="light"
            onClick={() => navigate({ search: ({ q }: SearchParams) => ({ q }), replace: true })}
          >
            Search without filters
          </Button>
        ) : undefined
      }
    >
      <p>
        {isFiltered
          ? "No results for all these words with these filters."
          : "No results for all these words. Try fewer."}
      </p>
      <Hints />
    </EmptyState>
  );
}

const hints = [
  ['"signed on Friday"', "exact phrase"],
  ["contr*", "starts with"],
  ["budget -marketing", "excludes this word"],
] as const;

function Hints() {
  return (
    <Table withRowBorders={false} verticalSpacing={4} ta="left" aria-label="Search syntax">
      <Table.Tbody>
        {hints.map(([example, meaning]) => (
          <Table.Tr key={example}>
            <Table.Td>
              <Code style={{ whiteSpace: "nowrap" }}>{example}</Code>
            </Table.Td>
            <Table.Td>
              <Text size="sm">{meaning}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
