import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, SegmentedControl, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconMessageCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Comment, commentsQuery } from "../../../api/recording/comments.ts";
import { EmptyState, ErrorState } from "../../../common/states.tsx";
import { useRecording } from "../../context.ts";
import classes from "./comments.module.css";
import { NewComment } from "./new-comment.tsx";
import { ThreadView } from "./thread.tsx";
import { isOpen, threadsOf } from "./threads.ts";

/** Threads rendered at first, and more at each click. */
const step = 50;

/** The comments on the recording, and the field for a new one. */
export function CommentsPanel() {
  const { id, view } = useRecording();
  const query = useQuery(commentsQuery(id));
  if (query.data === undefined)
    return query.isError ? (
      <ErrorState error={query.error} retry={() => query.refetch()} />
    ) : (
      <Stack aria-busy="true">
        <VisuallyHidden role="status">
          <Trans>Loading comments</Trans>
        </VisuallyHidden>
        <Skeleton height={80} radius="md" />
        <Skeleton height={120} radius="md" />
      </Stack>
    );
  return (
    <Stack gap="md">
      {view.can.comment ? <NewComment /> : null}
      <Threads comments={query.data} />
    </Stack>
  );
}

function Threads({ comments }: { comments: readonly Comment[] }) {
  const { t } = useLingui();
  const { view } = useRecording();
  const { filter, setFilter, shown, opened, isMissing, count, showMore } = useThreads(comments);
  if (comments.length === 0 && !isMissing)
    return (
      <EmptyState title={t`No comments`} icon={<IconMessageCircle size={30} stroke={1.5} />}>
        {view.can.comment
          ? t`Comments are visible to everyone who can see this recording, and never on public links.`
          : t`Viewers can read comments, but not write them.`}
      </EmptyState>
    );
  return (
    <>
      {isMissing ? (
        <Text role="status">
          <Trans>This comment was deleted.</Trans>
        </Text>
      ) : null}
      <SegmentedControl
        size="xs"
        aria-label={t`Show`}
        value={filter}
        onChange={(value) => setFilter(value === "resolved" ? "resolved" : "open")}
        data={[
          {
            value: "open",
            label: t({
              message: `Open (${{ count: count.open }})`,
              comment: "comments that are not resolved",
            }),
          },
          { value: "resolved", label: t`Resolved (${{ count: count.resolved }})` },
        ]}
      />
      {count[filter] === 0 ? (
        <Text c="dimmed" ta="center" py="xl">
          {filter === "open" ? t`No open comments` : t`No resolved comments`}
        </Text>
      ) : (
        <ul className={classes.threads} aria-label={t`Comments`}>
          {shown.map((thread) => (
            <ThreadView key={thread.root.id} thread={thread} opened={opened} />
          ))}
        </ul>
      )}
      {shown.length < count[filter] ? (
        <Group justify="center">
          <Button variant="default" onClick={showMore}>
            <Trans>Show more</Trans>
          </Button>
        </Group>
      ) : null}
    </>
  );
}

/** The threads to show, among which is the one that a mark or the URL opened. */
function useThreads(comments: readonly Comment[]) {
  const { commentTask: task, goTo } = useRecording();
  const [filter, setFilter] = useState<"open" | "resolved">("open");
  const [size, setSize] = useState(step);
  const threads = useMemo(() => threadsOf(comments), [comments]);
  const wanted = task !== null && "id" in task ? task : null;
  const found = wanted === null ? undefined : comments.find(({ id }) => id === wanted.id);
  const rootId = found?.parent_id ?? found?.id;
  const done = useRef<object | null>(null);
  useEffect(() => {
    if (wanted === null || done.current === wanted) return;
    done.current = wanted;
    const thread = threads.find(({ root }) => root.id === rootId);
    if (thread === undefined) return;
    setFilter(isOpen(thread) ? "open" : "resolved");
    const among = threads.filter((one) => isOpen(one) === isOpen(thread));
    setSize((before) => Math.max(before, among.indexOf(thread) + 1));
    if (wanted.seeks && thread.root.timestamp !== null) goTo(thread.root.timestamp);
  }, [wanted, threads, rootId, goTo]);
  const matching = threads.filter((thread) => isOpen(thread) === (filter === "open"));
  const open = threads.filter(isOpen).length;
  return {
    filter,
    setFilter,
    shown: matching.slice(0, size),
    opened: found === undefined ? null : wanted,
    isMissing: wanted !== null && found === undefined,
    count: { open, resolved: threads.length - open },
    showMore: () => setSize(size + step),
  };
}
