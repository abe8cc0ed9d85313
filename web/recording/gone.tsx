import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Loader, VisuallyHidden } from "@mantine/core";
import { IconRestore, IconTrash, IconVideoOff } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ApiError } from "../api/client/api-error.ts";
import {
  refreshAfterTrash,
  restoreRecording,
  type TrashedRecording,
  trashedQuery,
} from "../api/library/trash.ts";
import { sessionQuery } from "../api/session.ts";
import { useAction } from "../common/actions.tsx";
import { whenInLine } from "../common/format/time.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { RequestAccess } from "./request-access.tsx";

/** Shown for a recording that the user can't see: it may be in the trash, where those who may restore it learn that. */
export function Gone({ wasHere, id }: { wasHere: boolean; id: string | null }) {
  const { t } = useLingui();
  const trashed = useQuery({ ...trashedQuery(id ?? ""), enabled: id !== null });
  if (trashed.isLoading) return <Loader role="img" aria-label={t`Loading`} />;
  if (trashed.isError && !(trashed.error instanceof ApiError && trashed.error.status === 404))
    return <ErrorState error={trashed.error} retry={() => trashed.refetch()} />;
  return (
    <>
      <VisuallyHidden component="h1">
        <Trans>Recording</Trans>
      </VisuallyHidden>
      {trashed.data === undefined ? (
        <NotFound wasHere={wasHere} id={id} />
      ) : (
        <InTrash recording={trashed.data} />
      )}
    </>
  );
}

function InTrash({ recording }: { recording: TrashedRecording }) {
  const { t } = useLingui();
  const isViewer = useQuery(sessionQuery).data?.user.role === "viewer";
  const client = useQueryClient();
  const { title } = recording;
  const time = whenInLine(recording.deleted_datetime);
  const name = recording.deleted_by?.name;
  const restore = useAction({
    run: () => restoreRecording(recording.id),
    done: t`Recording restored`,
    onDone: () => void refreshAfterTrash(client, null),
  });
  return (
    <EmptyState
      title={t`Recording in the trash`}
      icon={<IconTrash size={30} stroke={1.5} />}
      action={
        <>
          {isViewer ? null : (
            <Button
              me="xs"
              leftSection={<IconRestore size={18} aria-hidden />}
              loading={restore.isPending}
              onClick={() => restore.mutate()}
            >
              <Trans>Restore</Trans>
            </Button>
          )}
          <Button component={Link} to="/trash" variant="default">
            <Trans>Open trash</Trans>
          </Button>
        </>
      }
    >
      {name === undefined ? (
        <Trans>
          <b dir="auto">{title}</b> was deleted {time}.
        </Trans>
      ) : (
        <Trans>
          <b dir="auto">{title}</b> was deleted {time} by {name}.
        </Trans>
      )}
    </EmptyState>
  );
}

function NotFound({ wasHere, id }: { wasHere: boolean; id: string | null }) {
  const { t } = useLingui();
  return (
    <EmptyState
      title={wasHere ? t`Recording deleted` : t`Recording not found`}
      icon={<IconVideoOff size={30} stroke={1.5} />}
      action={
        id === null ? (
          <Button component={Link} to="/">
            <Trans>Back to library</Trans>
          </Button>
        ) : (
          <RequestAccess id={id} />
        )
      }
    >
      {wasHere
        ? t`It was deleted or is no longer shared with you.`
        : t`It was deleted, isn't shared with you, or the URL is wrong.`}
    </EmptyState>
  );
}
