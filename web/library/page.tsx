import { Button, Group, Loader, SegmentedControl, Title, VisuallyHidden } from "@mantine/core";
import { IconLayoutGrid, IconList, IconPlayerRecord, IconUpload, IconVideo } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { recordingsQuery } from "../api/recordings.ts";
import { useLoadMore } from "../common/lists/use-load-more.ts";
import { lazyPart } from "../common/load-part.tsx";
import { PageStack } from "../common/page-stack.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { useOpenRecorder } from "../record/context.tsx";
import { LibraryFilters } from "./filters.tsx";
import classes from "./library.module.css";
import { RecordingCard, RecordingCardSkeleton } from "./recording-card.tsx";
import { RecordingRow, RecordingRowSkeleton } from "./recording-row.tsx";
import { isFiltered, type LibrarySearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/");

const FirstSteps = lazyPart(async () => (await import("./first-steps.tsx")).FirstSteps);

/** All recordings the user can see, newest first. */
export function LibraryPage() {
  useTitle("Library");
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const { view, ...filter } = search;
  const isGrid = view === "grid";
  const { data } = useInfiniteQuery(recordingsQuery(filter));
  // Until there is a recording, there is nothing to filter or to arrange.
  const isEmpty = !isFiltered(search) && data?.pages.every(({ recordings }) => recordings.length === 0);
  if (isEmpty)
    return (
      <PageStack>
        <Title order={1} size="h2">
          Library
        </Title>
        <NoRecordings />
      </PageStack>
    );
  return (
    <PageStack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Library
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={isGrid ? "grid" : "list"}
          onChange={(value) =>
            navigate({
              search: (before) => ({ ...before, view: value === "grid" ? ("grid" as const) : undefined }),
              replace: true,
            })
          }
          data={[
            { value: "list", label: <ViewLabel icon={<IconList size={16} aria-hidden />} text="List" /> },
            {
              value: "grid",
              label: <ViewLabel icon={<IconLayoutGrid size={16} aria-hidden />} text="Grid" />,
            },
          ]}
        />
      </Group>
      <LibraryFilters />
      <Recordings key={JSON.stringify(filter)} isGrid={isGrid} />
    </PageStack>
  );
}

function ViewLabel({ icon, text }: { icon: React.ReactNode; text: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      {icon}
      {text}
    </Group>
  );
}

function Recordings({ isGrid }: { isGrid: boolean }) {
  const search = page.useSearch();
  const { view: _view, ...filter } = search;
  const query = useInfiniteQuery(recordingsQuery(filter));
  const more = useLoadMore(() => {
    if (query.hasNextPage && !query.isFetchingNextPage) query.fetchNextPage();
  });
  const [Item, Skeleton] = isGrid
    ? ([RecordingCard, RecordingCardSkeleton] as const)
    : ([RecordingRow, RecordingRowSkeleton] as const);
  const layout = isGrid ? classes.grid : classes.list;
  if (query.isPending)
    return (
      <div className={layout} aria-busy="true">
        <VisuallyHidden role="status">Loading recordings</VisuallyHidden>
        {Array.from({ length: 8 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
          <Skeleton key={index} />
        ))}
      </div>
    );
  if (query.isError && query.data === undefined)
    return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const recordings = query.data.pages.flatMap(({ recordings }) => recordings);
  if (recordings.length === 0) return <NoMatches />;
  return (
    <>
      <ul className={layout} aria-label="Recordings">
        {recordings.map((recording) => (
          <li key={recording.id}>
            <Item recording={recording} />
          </li>
        ))}
      </ul>
      <div ref={more}>
        {query.isFetchingNextPage ? (
          <Group justify="center" p="md">
            <Loader size="sm" role="img" aria-label="Loading more" />
          </Group>
        ) : null}
        {query.isFetchNextPageError ? (
          <ErrorState error={query.error} retry={() => query.fetchNextPage()} />
        ) : null}
      </div>
    </>
  );
}

function NoRecordings() {
  const { session } = page.useRouteContext();
  const record = useOpenRecorder();
  return (
    <>
      <EmptyState
        title="No recordings yet"
        icon={<IconVideo size={30} stroke={1.5} />}
        action={
          <Group justify="center">
            <Button leftSection={<IconPlayerRecord size={18} aria-hidden />} onClick={record}>
              Record a meeting
            </Button>
            <Button component={Link} to="/uploads" variant="light" leftSection={<IconUpload size={18} />}>
              Upload a recording
            </Button>
          </Group>
        }
      >
        Recordings you make, attend, or that are shared with you appear here.
      </EmptyState>
      {session.user.role === "admin" ? <FirstSteps session={session} /> : null}
    </>
  );
}

function NoMatches() {
  const navigate = page.useNavigate();
  return (
    <EmptyState
      title="No matching recordings"
      action={
        <Button
          variant="light"
          onClick={() =>
            navigate({
              search: ({ view }: LibrarySearch) => (view === undefined ? {} : { view }),
              replace: true,
            })
          }
        >
          Show all recordings
        </Button>
      }
    >
      No recordings match these filters.
    </EmptyState>
  );
}
