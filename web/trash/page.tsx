import { Badge, Button, Group, Skeleton, Text, Title } from "@mantine/core";
import { IconRestore, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  emptyTrash,
  purgeRecording,
  refreshAfterTrash,
  restoreRecording,
  type TrashedRecording,
  trashQuery,
} from "../api/library/trash.ts";
import { sessionQuery } from "../api/session.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
import { useAction } from "../common/actions.tsx";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";
import { bytes } from "../common/format/bytes.ts";
import { counted } from "../common/format/count.ts";
import { clock, dayAndTime, fullTime, lengthInWords, whenInLine } from "../common/format/time.ts";
import { ConfirmButton } from "../common/forms/confirm.tsx";
import { LoadMore } from "../common/lists/load-more.tsx";
import rows from "../common/lists/rows.module.css";
import { PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import type { HoldDialogProps } from "./hold-dialog.tsx";
import classes from "./trash.module.css";

const HoldDialog = lazyDialog<HoldDialogProps>({
  load: async () => (await import("./hold-dialog.tsx")).HoldDialog,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});

/** Deleted recordings that the user can restore. */
export function TrashPage() {
  useTitle("Trash");
  const days = useQuery(workspaceQuery).data?.trash_days;
  return (
    <PageStack>
      <div>
        <Group justify="space-between">
          <Title order={1} size="h2">
            Trash
          </Title>
          <EmptyTrash />
        </Group>
        <Text c="dimmed" size="sm">
          {days === 0
            ? "The trash is turned off: recordings are deleted permanently at once."
            : `Deleted recordings stay here for ${days === undefined ? "a while" : counted(days, "day")}, then they are deleted permanently.`}
        </Text>
      </div>
      <Trashed />
    </PageStack>
  );
}

/** The size of the trash, and a button that empties it. */
function EmptyTrash() {
  const { data } = useInfiniteQuery(trashQuery);
  const isViewer = useQuery(sessionQuery).data?.user.role === "viewer";
  const client = useQueryClient();
  // The server may leave out the total of a large trash.
  const { total = null, recordings = [], cursor } = data?.pages[0] ?? {};
  const [last] = recordings;
  if (last === undefined) return null;
  const isAllHeld = cursor === null && recordings.every(({ is_held }) => is_held);
  const size = total && `${counted(total.recordings, "recording")}, ${bytes(total.bytes)}`;
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed" role="status">
        {size}
      </Text>
      {isViewer || isAllHeld ? null : (
        <ConfirmButton
          text="Empty trash"
          button={{ size: "xs", variant: "light" }}
          title="Empty trash?"
          label="Delete permanently"
          // Not what is deleted while this is shown.
          run={async () => {
            try {
              const deleted = await emptyTrash(new Date(Date.parse(last.deleted_datetime) + 1).toISOString());
              return { deleted, left: total === null ? 0 : total.recordings - deleted };
            } finally {
              // Also after an error: recordings may have been deleted before it.
              await client.invalidateQueries({ queryKey: ["trash"] });
            }
          }}
          done={emptied}
        >
          Permanently deletes all recordings you can restore{size && ` (${size})`}, with their files,
          transcripts and highlights. Recordings on legal hold stay.
        </ConfirmButton>
      )}
    </Group>
  );
}

function emptied({ deleted, left }: { deleted: number; left: number }): string {
  if (deleted === 0) return "No recordings could be deleted: they are on legal hold";
  const stay = left > 0 ? `, ${left.toLocaleString()} left in the trash` : "";
  return `${counted(deleted, "recording")} permanently deleted${stay}`;
}

function Trashed() {
  const query = useInfiniteQuery(trashQuery);
  if (query.isPending) return <Skeleton height={260} radius="lg" aria-hidden />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const recordings = query.data.pages.flatMap((page) => page.recordings);
  if (recordings.length === 0)
    return (
      <EmptyState
        title="The trash is empty"
        icon={<IconTrash size={30} stroke={1.5} />}
        action={
          <Button variant="light" component={Link} to="/">
            Back to library
          </Button>
        }
      >
        Recordings that you delete appear here.
      </EmptyState>
    );
  return (
    <>
      <ul className={rows.list} aria-label="Recordings in the trash">
        {recordings.map((recording) => (
          <li key={recording.id}>
            <TrashedRow recording={recording} />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </>
  );
}

function TrashedRow({ recording }: { recording: TrashedRecording }) {
  const { id, title, is_held, deleted_by } = recording;
  const role = useQuery(sessionQuery).data?.user.role;
  const [isHolding, setHolding] = useState(false);
  const client = useQueryClient();
  const restore = useAction({
    run: () => restoreRecording(id),
    done: "Recording restored",
    onDone: () => void refreshAfterTrash(client, null),
  });
  return (
    <div className={classes.row}>
      <div>
        <Text fw={600} dir="auto" style={{ overflowWrap: "anywhere" }}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
            {dayAndTime(recording.start_datetime)}
          </time>
          {" · "}
          <span role="img" aria-label={lengthInWords(recording.duration_ms)}>
            {clock(recording.duration_ms)}
          </span>
          {" · deleted "}
          <time dateTime={recording.deleted_datetime} title={fullTime(recording.deleted_datetime)}>
            {whenInLine(recording.deleted_datetime)}
          </time>
          {deleted_by === null ? null : ` by ${deleted_by.name}`}
        </Text>
        {is_held ? (
          <Badge variant="light" tt="none" fw={600}>
            Legal hold: stays until released
          </Badge>
        ) : (
          <Text size="sm" c="dimmed">
            Deleted permanently {inDays(recording.purge_datetime)}
          </Text>
        )}
      </div>
      {role === "viewer" ? null : (
        <Group gap="xs">
          {role === "admin" && !is_held ? (
            <>
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                aria-label={`Place hold: ${title}`}
                onClick={() => setHolding(true)}
              >
                Place hold
              </Button>
              <HoldDialog isOpen={isHolding} onClose={() => setHolding(false)} recording={recording} />
            </>
          ) : null}
          <Button
            variant="light"
            size="compact-sm"
            leftSection={<IconRestore size={16} aria-hidden />}
            aria-label={`Restore ${title}`}
            loading={restore.isPending}
            onClick={() => restore.mutate()}
          >
            Restore
          </Button>
          {is_held ? null : (
            <ConfirmButton
              text="Delete now"
              button={{ "aria-label": `Delete now: ${title}` }}
              title="Delete permanently?"
              label="Delete permanently"
              run={() => purgeRecording(id)}
              done="Recording permanently deleted"
              refresh={[["trash"]]}
            >
              <b dir="auto">{title}</b> and its files, transcript and highlights can't be restored afterwards.
            </ConfirmButton>
          )}
        </Group>
      )}
    </div>
  );
}

/** `in 12 days`. */
function inDays(iso: string): string {
  const days = Math.ceil((Date.parse(iso) - Date.now()) / 86_400_000);
  return days <= 0 ? "soon" : `in ${counted(days, "day")}`;
}
