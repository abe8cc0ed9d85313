import { Button, Code, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconSearch, IconSearchOff } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../api/client.ts";
import { searchQuery } from "../api/search.ts";
import { fieldErrors } from "../common/actions.tsx";
import { LoadMore } from "../common/endless.tsx";
import { PageStack } from "../common/page-stack.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { SearchFilters } from "./filters.tsx";
import { Result, ResultSkeleton } from "./result.tsx";
import classes from "./search.module.css";
import { isNarrowed, type SearchParams } from "./search-params.ts";

const page = getRouteApi("/signed-in/search");

/** What was found for the words in the address. */
export function SearchPage() {
  const search = page.useSearch();
  useTitle(search.q === undefined ? "Search" : `Search: ${search.q}`);
  return (
    <PageStack>
      <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
        {search.q === undefined ? "Search" : `Search: ${search.q}`}
      </Title>
      <SearchFilters />
      {search.q === undefined ? <NothingAsked /> : <Results search={search} />}
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
          // biome-ignore lint/suspicious/noArrayIndexKey: these stand for nothing in particular.
          <ResultSkeleton key={index} />
        ))}
      </div>
    );
  if (query.data === undefined) return <Refused error={query.error} retry={() => query.refetch()} />;
  const results = query.data.pages.flatMap(({ results }) => results);
  if (results.length === 0) return <NothingFound isFiltered={isNarrowed(search)} />;
  return (
    <div data-stale={query.isPlaceholderData || undefined} className={classes.found}>
      <VisuallyHidden role="status">{`${results.length}${query.hasNextPage ? " or more" : ""} recordings found`}</VisuallyHidden>
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

/** A query that the server can't make sense of is the person's to mend; anything else is ours. */
function Refused({ error, retry }: { error: unknown; retry: () => void }) {
  const fault = error instanceof ApiError ? fieldErrors(error).q : undefined;
  if (fault === undefined) return <ErrorState error={error} retry={retry} />;
  return (
    <EmptyState title="This can't be looked for" icon={<IconSearchOff size={30} stroke={1.5} />}>
      <p>The search {fault.charAt(0).toLowerCase() + fault.slice(1)}.</p>
      <Hints />
    </EmptyState>
  );
}

function NothingAsked() {
  return (
    <EmptyState title="Search everything that was said" icon={<IconSearch size={30} stroke={1.5} />}>
      <p>Titles, tags, people, highlights and every word of the transcripts you may see.</p>
      <Hints />
    </EmptyState>
  );
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  const navigate = page.useNavigate();
  return (
    <EmptyState
      title="Nothing was found"
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
          ? "No recording you may see has all of these words and fits the filters."
          : "No recording you may see has all of these words. Fewer words find more."}
      </p>
      <Hints />
    </EmptyState>
  );
}

const hints = [
  ['"signed on Friday"', "these words in this order"],
  ["contr*", "words that begin like this"],
  ["budget -marketing", "not where this word occurs"],
] as const;

function Hints() {
  return (
    <Table withRowBorders={false} verticalSpacing={4} ta="left" aria-label="Ways to search">
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
