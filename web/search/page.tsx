import { msg, plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Code, Group, Select, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconSearch, IconSearchOff } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../api/client/api-error.ts";
import { type Count, searchQuery } from "../api/library/search.ts";
import { fieldErrors } from "../common/actions.tsx";
import { countFilters, withoutEmpty } from "../common/lists/filters.tsx";
import { LoadMore } from "../common/lists/load-more.tsx";
import { lazyPart } from "../common/load-part.tsx";
import { PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { SearchFilters } from "./filters.tsx";
import { Result, ResultSkeleton } from "./result.tsx";
import classes from "./search.module.css";
import { filtersOf, type SearchParams } from "./search-params.ts";

const page = getRouteApi("/signed-in/search");

/** The server counts up to this many (contract/recordings/search.ts). */
const maxCounted = 1000;

const AskBox = lazyPart(async () => (await import("../ask/meetings-box.tsx")).SearchAskBox, null);

/** Search results for the query in the URL. */
export function SearchPage() {
  const { t } = useLingui();
  const search = page.useSearch();
  const query = search.q;
  const title = query === undefined ? t`Search` : t`Search: ${query}`;
  useTitle(title);
  return (
    <PageStack>
      <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
        {title}
      </Title>
      <SearchFilters />
      <AskBox search={search} />
      {search.q === undefined ? <NoQuery /> : <Results search={search} />}
    </PageStack>
  );
}

function Results({ search }: { search: SearchParams }) {
  const { t } = useLingui();
  const query = useInfiniteQuery({ ...searchQuery(search), placeholderData: keepPreviousData });
  if (query.isPending)
    return (
      <div className={classes.results} aria-busy="true">
        <VisuallyHidden role="status">
          <Trans>Searching</Trans>
        </VisuallyHidden>
        {Array.from({ length: 4 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
          <ResultSkeleton key={index} />
        ))}
      </div>
    );
  if (query.data === undefined) return <Refused error={query.error} retry={() => query.refetch()} />;
  const results = query.data.pages.flatMap(({ results }) => results);
  const [first] = query.data.pages;
  if (results.length === 0)
    return (
      <NoResults isFiltered={countFilters(filtersOf(search)) > 0} suggestion={first?.suggestion ?? null} />
    );
  return (
    <div data-stale={query.isPlaceholderData || undefined} className={classes.found}>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed" role="status">
          {countText(countOf(first?.count ?? null, results.length, query.hasNextPage))}
        </Text>
        <Sort />
      </Group>
      <ul className={classes.results} aria-label={t`Results`}>
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

const sorts = [
  { value: "relevance", label: msg`Most relevant` },
  { value: "newest", label: msg`Newest first` },
  { value: "oldest", label: msg`Oldest first` },
] as const;

function Sort() {
  const { t } = useLingui();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  return (
    <Select
      size="xs"
      w={140}
      aria-label={t`Sort`}
      allowDeselect={false}
      data={sorts.map(({ value, label }) => ({ value, label: t(label) }))}
      value={search.sort ?? "relevance"}
      onChange={(value) =>
        navigate({
          search: (before: SearchParams) =>
            withoutEmpty({ ...before, sort: value === "newest" || value === "oldest" ? value : undefined }),
          replace: true,
        })
      }
    />
  );
}

/** How many there are at least, of which so many are shown. */
function countOf(count: Count | null, shown: number, hasMore: boolean): Count | null {
  return count === null || count.value > shown ? count : { value: shown, is_exact: !hasMore };
}

/** The number of results; beyond what the server counts, it says so. */
function countText(count: Count | null): string {
  if (count === null) return "";
  const { value, is_exact: isExact } = count;
  if (isExact) return plural(value, { one: "# recording", other: "# recordings" });
  return value < maxCounted
    ? plural(value, { one: "At least # recording", other: "At least # recordings" })
    : plural(value, { one: "More than # recording", other: "More than # recordings" });
}

/** Shows how to fix an invalid query; other errors get the usual error state. */
function Refused({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useLingui();
  const violation = error instanceof ApiError ? fieldErrors(error).q : undefined;
  if (violation === undefined) return <ErrorState error={error} retry={retry} />;
  return (
    <EmptyState title={t`Invalid search`} icon={<IconSearchOff size={30} stroke={1.5} />}>
      <p>{violation.charAt(0).toUpperCase() + violation.slice(1)}</p>
      <Hints />
    </EmptyState>
  );
}

function NoQuery() {
  const { t } = useLingui();
  return (
    <EmptyState title={t`Search recordings and transcripts`} icon={<IconSearch size={30} stroke={1.5} />}>
      <p>
        <Trans>Searches titles, tags, people, highlights and transcripts you have access to.</Trans>
      </p>
      <Hints />
    </EmptyState>
  );
}

function NoResults({ isFiltered, suggestion }: { isFiltered: boolean; suggestion: string | null }) {
  const { t } = useLingui();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  return (
    <EmptyState
      title={t`No results`}
      icon={<IconSearchOff size={30} stroke={1.5} />}
      action={
        isFiltered ? (
          <Button
            variant="light"
            onClick={() =>
              navigate({ search: ({ q, sort }: SearchParams) => withoutEmpty({ q, sort }), replace: true })
            }
          >
            <Trans>Search without filters</Trans>
          </Button>
        ) : undefined
      }
    >
      {suggestion === null ? null : (
        <p>
          <Trans>
            Did you mean{" "}
            <Link to="/search" search={{ ...search, q: suggestion }}>
              {suggestion}
            </Link>
            ?
          </Trans>
        </p>
      )}
      <p>
        {isFiltered
          ? t`No results for all these words with these filters.`
          : t`No results for all these words. Try fewer.`}
      </p>
      <Hints />
    </EmptyState>
  );
}

const hints = [
  [msg`"signed on Friday"`, msg`exact phrase`],
  [msg`contr*`, msg`starts with`],
  [msg`budget -marketing`, msg`excludes this word`],
] as const;

function Hints() {
  const { t } = useLingui();
  return (
    <Table withRowBorders={false} verticalSpacing={4} ta="start" aria-label={t`Search syntax`}>
      <Table.Tbody>
        {hints.map(([example, meaning]) => (
          <Table.Tr key={t(example)}>
            <Table.Td>
              <Code style={{ whiteSpace: "nowrap" }}>{t(example)}</Code>
            </Table.Td>
            <Table.Td>
              <Text size="sm">{t(meaning)}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
