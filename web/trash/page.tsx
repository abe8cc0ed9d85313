import { plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
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
import { number } from "../common/format/numbers.ts";
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
  const { t } = useLingui();
  useTitle(t`Trash`);
  const days = useQuery(workspaceQuery).data?.trash_days;
  return (
    <PageStack>
      <div>
        <Group justify="space-between">
          <Title order={1} size="h2">
            <Trans>Trash</Trans>
          </Title>
          <EmptyTrash />
        </Group>
        <Text c="dimmed" size="sm">
          <HowLong days={days} />
        </Text>
      </div>
      <Trashed />
    </PageStack>
  );
}

/** How long recordings stay. @param days undefined while the number loads. */
function HowLong({ days }: { days: number | undefined }) {
  if (days === 0) return <Trans>The trash is turned off: recordings are deleted permanently at once.</Trans>;
  if (days === undefined)
    return <Trans>Deleted recordings stay here for a while, then they are deleted permanently.</Trans>;
  return (
    <Plural
      value={days}
      one="Deleted recordings stay here for # day, then they are deleted permanently."
      other="Deleted recordings stay here for # days, then they are deleted permanently."
    />
  );
}

/** The size of the trash, and a button that empties it. */
function EmptyTrash() {
  const { t } = useLingui();
  const { data } = useInfiniteQuery(trashQuery);
  const isViewer = useQuery(sessionQuery).data?.user.role === "viewer";
  const client = useQueryClient();
  // The server may leave out the total of a large trash.
  const { total = null, recordings = [], cursor } = data?.pages[0] ?? {};
  const [last] = recordings;
  if (last === undefined) return null;
  const isAllHeld = cursor === null && recordings.every(({ is_held }) => is_held);
  const size = total && sizeText(total.recordings, bytes(total.bytes));
  const count = total?.recordings ?? (cursor === null ? recordings.length : null);
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed" role="status">
        {size}
      </Text>
      {isViewer || isAllHeld ? null : (
        <ConfirmButton
          text={t`Empty trash`}
          button={{ size: "xs", variant: "light" }}
          title={t`Empty trash?`}
          label={t`Delete permanently`}
          // Not what is deleted while this is shown.
          run={async () => {
            try {
              const deleted = await emptyTrash(new Date(Date.parse(last.deleted_datetime) + 1).toISOString());
              return { deleted, left: count === null ? 0 : count - deleted };
            } finally {
              // Also after an error: recordings may have been deleted before it.
              await client.invalidateQueries({ queryKey: ["trash"] });
            }
          }}
          done={emptied}
        >
          {size === null ? (
            <Trans>
              Permanently deletes all recordings you can restore, with their files, transcripts and
              highlights. Recordings on legal hold stay.
            </Trans>
          ) : (
            <Trans>
              Permanently deletes all recordings you can restore ({size}), with their files, transcripts and
              highlights. Recordings on legal hold stay.
            </Trans>
          )}
        </ConfirmButton>
      )}
    </Group>
  );
}

function sizeText(recordings: number, size: string): string {
  return plural(recordings, { one: `# recording, ${size}`, other: `# recordings, ${size}` });
}

function emptied({ deleted, left }: { deleted: number; left: number }): string {
  if (deleted === 0) return t`No recordings could be deleted: they are on legal hold`;
  if (left > 0) {
    const others = number(left);
    return plural(deleted, {
      one: `# recording permanently deleted, ${others} left in the trash`,
      other: `# recordings permanently deleted, ${others} left in the trash`,
    });
  }
  return plural(deleted, {
    one: "# recording permanently deleted",
    other: "# recordings permanently deleted",
  });
}

function Trashed() {
  const { t } = useLingui();
  const query = useInfiniteQuery(trashQuery);
  if (query.isPending) return <Skeleton height={260} radius="lg" aria-hidden />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const recordings = query.data.pages.flatMap((page) => page.recordings);
  if (recordings.length === 0)
    return (
      <EmptyState
        title={t`The trash is empty`}
        icon={<IconTrash size={30} stroke={1.5} />}
        action={
          <Button variant="light" component={Link} to="/">
            <Trans>Back to library</Trans>
          </Button>
        }
      >
        <Trans>Recordings that you delete appear here.</Trans>
      </EmptyState>
    );
  return (
    <>
      <ul className={rows.list} aria-label={t`Recordings in the trash`}>
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
  const { t } = useLingui();
  const { id, title, is_held } = recording;
  const role = useQuery(sessionQuery).data?.user.role;
  const [isHolding, setHolding] = useState(false);
  const client = useQueryClient();
  const restore = useAction({
    run: () => restoreRecording(id),
    done: t`Recording restored`,
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
          {" · "}
          <DeletedWhen recording={recording} />
        </Text>
        {is_held ? (
          <Badge variant="light" tt="none" fw={600}>
            <Trans>Legal hold: stays until released</Trans>
          </Badge>
        ) : (
          <Text size="sm" c="dimmed">
            <PurgedWhen at={recording.purge_datetime} />
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
                aria-label={t`Place hold: ${title}`}
                onClick={() => setHolding(true)}
              >
                <Trans>Place hold</Trans>
              </Button>
              <HoldDialog isOpen={isHolding} onClose={() => setHolding(false)} recording={recording} />
            </>
          ) : null}
          <Button
            variant="light"
            size="compact-sm"
            leftSection={<IconRestore size={16} aria-hidden />}
            aria-label={t`Restore ${title}`}
            loading={restore.isPending}
            onClick={() => restore.mutate()}
          >
            <Trans>Restore</Trans>
          </Button>
          {is_held ? null : (
            <ConfirmButton
              text={t`Delete now`}
              button={{ "aria-label": t`Delete now: ${title}` }}
              title={t`Delete permanently?`}
              label={t`Delete permanently`}
              run={() => purgeRecording(id)}
              done={t`Recording permanently deleted`}
              refresh={[["trash"]]}
            >
              <Trans>
                <b dir="auto">{title}</b> and its files, transcript and highlights can't be restored
                afterwards.
              </Trans>
            </ConfirmButton>
          )}
        </Group>
      )}
    </div>
  );
}

function DeletedWhen({ recording: { deleted_datetime, deleted_by } }: { recording: TrashedRecording }) {
  const when = (
    <time dateTime={deleted_datetime} title={fullTime(deleted_datetime)}>
      {whenInLine(deleted_datetime)}
    </time>
  );
  if (deleted_by === null) return <Trans>deleted {when}</Trans>;
  const { name } = deleted_by;
  return (
    <Trans>
      deleted {when} by {name}
    </Trans>
  );
}

function PurgedWhen({ at }: { at: string }) {
  const days = Math.ceil((Date.parse(at) - Date.now()) / 86_400_000);
  if (days <= 0) return <Trans>Deleted permanently soon</Trans>;
  return <Plural value={days} one="Deleted permanently in # day" other="Deleted permanently in # days" />;
}
