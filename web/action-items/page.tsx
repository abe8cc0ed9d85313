import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, Select, Skeleton, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconChecklist, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import dayjs from "dayjs";
import { allActionItemsQuery, type ItemFilter, type ListedItem } from "../api/action-items.ts";
import { usersQuery } from "../api/directory.ts";
import { tickActionItem } from "../api/recording/intelligence.ts";
import { ModelMissing, useModelState } from "../ask/model-missing.tsx";
import { useAction } from "../common/actions.tsx";
import { clock, dayAndTime, shortDate } from "../common/format/time.ts";
import filters from "../common/lists/filters.module.css";
import {
  countFilters,
  DaysFilter,
  Filters,
  MeetingTypeFilter,
  TeamFilter,
  withoutEmpty,
} from "../common/lists/filters.tsx";
import { TypedFilter } from "../common/lists/typed-filter.tsx";
import { PageStack } from "../common/page-frame.tsx";
import { secondsOf } from "../common/recording-url.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import type { ItemsSearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/action-items");

/** The action items of all meetings the user can see, their own and open ones first. */
export function ActionItemsPage() {
  const { t } = useLingui();
  useTitle(t`Action items`);
  return (
    <PageStack>
      <Title order={1} size="h2">
        <Trans>Action items</Trans>
      </Title>
      <search>
        <ItemFilters />
      </search>
      <Items />
    </PageStack>
  );
}

/** The filters, stored in the URL. */
function ItemFilters() {
  const { t } = useLingui();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const users = useQuery(usersQuery).data?.users ?? [];
  const count = countFilters(search);
  const set = (change: ItemsSearch) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <Filters
      count={count}
      clear={
        count > 0 ? { text: t`Clear filters`, run: () => navigate({ search: {}, replace: true }) } : null
      }
    >
      <div className={filters.wide}>
        <TypedFilter
          label={t`Search action items`}
          placeholder={t`Search action items`}
          icon={<IconSearch size={16} stroke={1.6} aria-hidden />}
          value={search.text ?? ""}
          onChange={(text) => set({ text })}
        />
      </div>
      <Select
        aria-label={t`Assignee`}
        allowDeselect={false}
        searchable
        data={[
          { value: "me", label: t`My items` },
          { value: "everyone", label: t`Everyone` },
          { value: "none", label: t`Not assigned` },
          ...users.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={search.assignee ?? "me"}
        onChange={(assignee) => set({ assignee: assignee === "me" ? undefined : (assignee ?? undefined) })}
      />
      <Select
        aria-label={t`State`}
        allowDeselect={false}
        data={[
          { value: "open", label: t({ context: "state", message: "Open" }) },
          { value: "completed", label: t({ context: "task", message: "Done" }) },
          { value: "all", label: t`Open and done` },
        ]}
        value={search.state ?? "open"}
        onChange={(state) => set({ state: state === "completed" || state === "all" ? state : undefined })}
      />
      <TeamFilter value={search.team} onChange={(team) => set({ team })} />
      <MeetingTypeFilter value={search.type} onChange={(type) => set({ type })} />
      <DaysFilter value={search} onChange={set} />
    </Filters>
  );
}

function toFilter({ assignee = "me", state, team, type, from, to, text }: ItemsSearch): ItemFilter {
  return {
    ...(assignee === "everyone" ? {} : { assignee }),
    ...(state === "all" ? {} : { state: state ?? "pending" }),
    team,
    meeting_type: type,
    from: from === undefined ? undefined : dayjs(from).toISOString(),
    to: to === undefined ? undefined : dayjs(to).add(1, "day").toISOString(),
    text,
  };
}

function Items() {
  const { t } = useLingui();
  const search = page.useSearch();
  const query = useInfiniteQuery(allActionItemsQuery(toFilter(search)));
  const model = useModelState();
  if (query.isPending)
    return (
      <div aria-busy="true">
        <VisuallyHidden role="status">
          <Trans>Loading action items</Trans>
        </VisuallyHidden>
        <Skeleton height={320} radius="lg" />
      </div>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const items = query.data.pages.flatMap((one) => one.action_items);
  if (items.length === 0)
    return countFilters(search) > 0 ? (
      <EmptyState title={t`No matching action items`} />
    ) : (
      <EmptyState
        title={model === "ready" ? t`Nothing to do` : t`No action items`}
        icon={<IconChecklist size={30} stroke={1.5} />}
      >
        {model === "ready" ? (
          t`Open action items that meetings assign to you appear here.`
        ) : (
          <ModelMissing subject="items" state={model} />
        )}
      </EmptyState>
    );
  const meetings = Map.groupBy(items, ({ recording }) => recording.id);
  return (
    <Stack gap="xl">
      {[...meetings].map(([id, ofMeeting]) => (
        <Meeting key={id} items={ofMeeting} />
      ))}
      {query.hasNextPage ? (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            <Trans>Show more</Trans>
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function Meeting({ items }: { items: readonly ListedItem[] }) {
  const [first] = items;
  if (first === undefined) return null;
  const { id, title, start_datetime: start } = first.recording;
  return (
    <section>
      <Title order={2} size="h4" mb="xs" dir="auto">
        <Link to="/recordings/$recordingId" params={{ recordingId: id }}>
          {title}
        </Link>{" "}
        <Text span size="sm" c="dimmed">
          {dayAndTime(start)}
        </Text>
      </Title>
      <ul style={{ listStyle: "none", margin: 0, padding: 0 }}>
        {items.map((item) => (
          <Item key={item.id} item={item} />
        ))}
      </ul>
    </section>
  );
}

/** An item stays where it is when it is ticked, so that a mistake can be undone. */
function Item({ item }: { item: ListedItem }) {
  const { t } = useLingui();
  const tick = useAction({ run: (done: boolean) => tickActionItem(item.recording.id, item.id, done) });
  const isDone = tick.isPending || tick.isSuccess ? tick.variables : item.status === "completed";
  const time = clock(item.timestamp);
  const due = item.due_date === null ? null : shortDate(new Date(`${item.due_date}T00:00`));
  const facts = [item.assignee?.name, due === null ? undefined : t`Due ${due}`];
  return (
    <li>
      <Group gap="sm" wrap="nowrap" align="flex-start" py={6}>
        <Checkbox
          flex={1}
          miw={0}
          checked={isDone}
          disabled={!item.can_complete || tick.isPending}
          label={
            <span dir="auto" style={isDone ? { textDecoration: "line-through" } : undefined}>
              {item.text}
            </span>
          }
          description={[...facts, item.quote === "" ? undefined : `“${item.quote}”`]
            .filter((fact) => fact !== undefined)
            .join(" · ")}
          onChange={(event) => tick.mutate(event.currentTarget.checked)}
        />
        <Link
          to="/recordings/$recordingId"
          params={{ recordingId: item.recording.id }}
          search={{ t: secondsOf(item.timestamp) }}
          aria-label={t`${time}, open this moment`}
        >
          {time}
        </Link>
      </Group>
    </li>
  );
}
