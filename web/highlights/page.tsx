import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Modal, Skeleton, Title, VisuallyHidden } from "@mantine/core";
import { IconHighlight, IconSearch, IconTag } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { highlightQuery, highlightsQuery } from "../api/highlights.ts";
import filters from "../common/lists/filters.module.css";
import { countFilters, Filters, withoutEmpty } from "../common/lists/filters.tsx";
import rows from "../common/lists/rows.module.css";
import { TypedFilter } from "../common/lists/typed-filter.tsx";
import { PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { type Action, ActionDialogs } from "./action-dialogs.tsx";
import { ClipDetails } from "./clip-details.tsx";
import { HighlightRow } from "./highlight-row.tsx";
import type { HighlightsSearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/highlights");

/** Highlights of all recordings the user can see; `play` in the URL opens one. */
export function HighlightsPage() {
  const { t } = useLingui();
  useTitle(t`Highlights`);
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const [action, setAction] = useState<Action | null>(null);
  const { text, tag } = search;
  const { data } = useInfiniteQuery(highlightsQuery({ text, tag: tag?.trim() || undefined }));
  // Until there is a highlight, there is nothing to filter.
  const isEmpty =
    countFilters({ text, tag }) === 0 && data?.pages.every(({ highlights }) => highlights.length === 0);
  return (
    <PageStack>
      <Title order={1} size="h2">
        <Trans>Highlights</Trans>
      </Title>
      {isEmpty ? null : (
        <search>
          <HighlightFilters />
        </search>
      )}
      <Highlights onAction={setAction} />
      <ClipDialog
        highlightId={search.play}
        onClose={() => navigate({ search: (before) => ({ ...before, play: undefined }) })}
      />
      <ActionDialogs action={action} onClose={() => setAction(null)} />
    </PageStack>
  );
}

/** The filters, stored in the URL. */
function HighlightFilters() {
  const { t } = useLingui();
  const { text, tag } = page.useSearch();
  const navigate = page.useNavigate();
  const count = countFilters({ text, tag });
  const set = (change: HighlightsSearch) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <Filters
      count={count}
      clear={
        count > 0 ? { text: t`Clear filters`, run: () => set({ text: undefined, tag: undefined }) } : null
      }
    >
      <div className={filters.wide}>
        <TypedFilter
          label={t`Search highlights`}
          placeholder={t`Search highlights`}
          icon={<IconSearch size={16} stroke={1.6} aria-hidden />}
          value={text ?? ""}
          onChange={(text) => set({ text })}
        />
      </div>
      <TypedFilter
        label={t`Tag`}
        placeholder={t`Any tag`}
        icon={<IconTag size={16} stroke={1.6} aria-hidden />}
        value={tag ?? ""}
        onChange={(tag) => set({ tag })}
      />
    </Filters>
  );
}

function Highlights({ onAction }: { onAction: (action: Action) => void }) {
  const { t } = useLingui();
  const { text, tag } = page.useSearch();
  const isFiltered = text !== undefined || tag !== undefined;
  const query = useInfiniteQuery(highlightsQuery({ text, tag: tag?.trim() || undefined }));
  if (query.isPending)
    return (
      <div aria-busy="true">
        <VisuallyHidden role="status">
          <Trans>Loading highlights</Trans>
        </VisuallyHidden>
        <Skeleton height={320} radius="lg" />
      </div>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const highlights = query.data.pages.flatMap((one) => one.highlights);
  if (highlights.length === 0)
    return isFiltered ? (
      <EmptyState title={t`No matching highlights`}>
        <Link to="/highlights">
          <Trans>Show all highlights</Trans>
        </Link>
      </EmptyState>
    ) : (
      <EmptyState
        title={t`No highlights yet`}
        icon={<IconHighlight size={30} stroke={1.5} />}
        action={
          <Button component={Link} to="/">
            <Trans>Open library</Trans>
          </Button>
        }
      >
        <Trans>Play the highlights you create in recordings here, and add them to stories.</Trans>
      </EmptyState>
    );
  return (
    <>
      <ul className={rows.list} aria-label={t`Highlights`}>
        {highlights.map((highlight) => (
          <li key={highlight.id}>
            <HighlightRow highlight={highlight} onAction={onAction} />
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            <Trans>Show more</Trans>
          </Button>
        </Group>
      ) : null}
    </>
  );
}

function ClipDialog({ highlightId, onClose }: { highlightId: string | undefined; onClose: () => void }) {
  const { t } = useLingui();
  // Keeps the content while the dialog closes.
  const [shown, setShown] = useState(highlightId);
  if (highlightId !== undefined && highlightId !== shown) setShown(highlightId);
  const query = useQuery({ ...highlightQuery(shown ?? ""), enabled: shown !== undefined });
  return (
    <Modal
      opened={highlightId !== undefined}
      onClose={onClose}
      size="xl"
      title={query.data?.text ?? t`Highlight`}
    >
      {query.data !== undefined ? (
        <ClipDetails highlight={query.data} />
      ) : query.isError ? (
        <ErrorState error={query.error} />
      ) : (
        <Skeleton height={320} />
      )}
    </Modal>
  );
}
