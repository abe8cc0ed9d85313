import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import {
  ActionIcon,
  Button,
  Group,
  SegmentedControl,
  Select,
  Text,
  Title,
  VisuallyHidden,
} from "@mantine/core";
import {
  IconLayoutGrid,
  IconList,
  IconPlayerRecord,
  IconStar,
  IconStarFilled,
  IconUpload,
  IconVideo,
} from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { libraryQuery } from "../api/library/list.ts";
import { sessionQuery } from "../api/session.ts";
import { countFilters, withoutEmpty } from "../common/lists/filters.tsx";
import { loadNextPage, NextPageState } from "../common/lists/load-more.tsx";
import rows from "../common/lists/rows.module.css";
import { latePart, lazyPart } from "../common/load-part.tsx";
import { PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { useOpenRecorder } from "../recorder/context.tsx";
import { LibraryFilters } from "./filters.tsx";
import classes from "./library.module.css";
import { RecordingCardSkeleton } from "./recording-card.tsx";
import { RecordingList } from "./recording-list.tsx";
import { RecordingRowSkeleton } from "./recording-row.tsx";
import { filtersOf, type LibrarySearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/");

const FirstSteps = lazyPart(async () => (await import("./first-steps.tsx")).FirstSteps);

const LibraryMeetings = lazyPart(
  async () => (await import("../meetings/library-meetings.tsx")).LibraryMeetings,
  null,
);

const NextMeetings = lazyPart(async () => (await import("../meetings/next-meetings.tsx")).NextMeetings, null);

const SetupReminder = latePart(async () => (await import("./setup-reminder.tsx")).SetupReminder);

const AskBox = latePart(async () => (await import("../ask/meetings-box.tsx")).LibraryAskBox);

/** All recordings the user can see. */
export function LibraryPage() {
  const { t } = useLingui();
  useTitle(t`Library`);
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const { view, ...filter } = search;
  const isGrid = view === "grid";
  const session = useQuery(sessionQuery).data;
  // The space is taken before the meetings are known, so that the list stays where it is.
  const hasMeetings = session?.has_calendars === true && session.user.role !== "viewer";
  const { data } = useInfiniteQuery(libraryQuery(filter));
  // Until there is a recording, there is nothing to filter or to arrange.
  const isEmpty =
    countFilters(filtersOf(search)) === 0 && data?.pages.every(({ recordings }) => recordings.length === 0);
  if (isEmpty)
    return (
      <PageStack>
        <Title order={1} size="h2">
          <Trans>Library</Trans>
        </Title>
        <NoRecordings />
      </PageStack>
    );
  return (
    <PageStack>
      <Group justify="space-between">
        <Group gap="sm" align="baseline">
          <Title order={1} size="h2">
            <Trans>Library</Trans>
          </Title>
          <Count count={data?.pages[0]?.count ?? null} />
          {session?.manages_system ? <SetupReminder /> : null}
        </Group>
        <Group gap="sm">
          <ActionIcon
            size={30}
            variant="default"
            aria-label={t`Favorites only`}
            title={t`Favorites only`}
            aria-pressed={search.favorite === true}
            onClick={() =>
              navigate({
                search: (before: LibrarySearch) =>
                  withoutEmpty({ ...before, favorite: search.favorite ? undefined : true }),
                replace: true,
              })
            }
          >
            {search.favorite ? (
              <IconStarFilled size={16} color="var(--mantine-color-yellow-8)" />
            ) : (
              <IconStar size={16} />
            )}
          </ActionIcon>
          <Select
            size="xs"
            w={130}
            aria-label={t`Sort`}
            allowDeselect={false}
            data={[
              { value: "newest", label: t`Newest first` },
              { value: "oldest", label: t`Oldest first` },
              { value: "title", label: t`By title` },
            ]}
            value={search.sort ?? "newest"}
            onChange={(sort) =>
              navigate({
                search: (before) => ({
                  ...before,
                  sort: sort === "oldest" || sort === "title" ? (sort as "oldest" | "title") : undefined,
                }),
                replace: true,
              })
            }
          />
          <SegmentedControl
            size="xs"
            aria-label={t`View`}
            value={isGrid ? "grid" : "list"}
            onChange={(value) =>
              navigate({
                search: (before) => ({ ...before, view: value === "grid" ? ("grid" as const) : undefined }),
                replace: true,
              })
            }
            data={[
              {
                value: "list",
                label: <ViewLabel icon={<IconList size={16} aria-hidden />} text={t`List`} />,
              },
              {
                value: "grid",
                label: <ViewLabel icon={<IconLayoutGrid size={16} aria-hidden />} text={t`Grid`} />,
              },
            ]}
          />
        </Group>
      </Group>
      <LibraryFilters />
      <div className={classes.ask}>
        <AskBox filter={filter} />
      </div>
      {hasMeetings ? (
        <div className={classes.meetings}>
          <NextMeetings />
        </div>
      ) : null}
      <Recordings key={JSON.stringify(filter)} isGrid={isGrid} />
    </PageStack>
  );
}

/** The number of recordings that the server counted; it stops at 100,000. */
function Count({ count }: { count: number | null }) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {count === null ? "" : countText(count)}
    </Text>
  );
}

function countText(count: number): string {
  if (count >= 100_000) return plural(count, { one: "# recording or more", other: "# recordings or more" });
  return plural(count, { one: "# recording", other: "# recordings" });
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
  const query = useInfiniteQuery(libraryQuery(filter));
  const items = useMemo(() => query.data?.pages.flatMap(({ recordings }) => recordings) ?? [], [query.data]);
  if (query.isPending) return <Loading isGrid={isGrid} />;
  if (query.isError && query.data === undefined)
    return <ErrorState error={query.error} retry={() => query.refetch()} />;
  if (items.length === 0) return <NoMatches />;
  return (
    <>
      <RecordingList
        items={items}
        count={query.data?.pages[0]?.count ?? (query.hasNextPage ? -1 : items.length)}
        isGrid={isGrid}
        isByDay={search.sort !== "title"}
        onEnd={() => loadNextPage(query)}
      />
      <NextPageState query={query} />
    </>
  );
}

function Loading({ isGrid }: { isGrid: boolean }) {
  const Skeleton = isGrid ? RecordingCardSkeleton : RecordingRowSkeleton;
  return (
    <div className={isGrid ? classes.grid : rows.list} aria-busy="true">
      <VisuallyHidden role="status">
        <Trans>Loading recordings</Trans>
      </VisuallyHidden>
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
        <Skeleton key={index} />
      ))}
    </div>
  );
}

function NoRecordings() {
  const { t } = useLingui();
  const { session } = page.useRouteContext();
  const record = useOpenRecorder();
  const isViewer = session.user.role === "viewer";
  return (
    <>
      <EmptyState
        title={t`No recordings yet`}
        icon={<IconVideo size={30} stroke={1.5} />}
        action={
          isViewer ? undefined : (
            <Group justify="center">
              <Button leftSection={<IconPlayerRecord size={18} aria-hidden />} onClick={() => record()}>
                <Trans>Record a meeting</Trans>
              </Button>
              <Button component={Link} to="/uploads" variant="light" leftSection={<IconUpload size={18} />}>
                <Trans>Upload a recording</Trans>
              </Button>
            </Group>
          )
        }
      >
        {isViewer ? (
          <Trans>Recordings you attend, or that are shared with you appear here.</Trans>
        ) : (
          <Trans>Recordings you make, attend, or that are shared with you appear here.</Trans>
        )}
      </EmptyState>
      {isViewer ? null : <LibraryMeetings />}
      {session.user.role === "admin" ? <FirstSteps session={session} /> : null}
    </>
  );
}

function NoMatches() {
  const { t } = useLingui();
  const navigate = page.useNavigate();
  return (
    <EmptyState
      title={t`No matching recordings`}
      action={
        <Button
          variant="light"
          onClick={() =>
            navigate({
              search: ({ view, sort }: LibrarySearch) => withoutEmpty({ view, sort }),
              replace: true,
            })
          }
        >
          <Trans>Show all recordings</Trans>
        </Button>
      }
    >
      <Trans>No recordings match these filters.</Trans>
    </EmptyState>
  );
}
