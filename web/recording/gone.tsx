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
  const trashed = useQuery({ ...trashedQuery(id ?? ""), enabled: id !== null });
  if (trashed.isLoading) return <Loader role="img" aria-label="Loading" />;
  if (trashed.isError && !(trashed.error instanceof ApiError && trashed.error.status === 404))
    return <ErrorState error={trashed.error} retry={() => trashed.refetch()} />;
  return (
    <>
      <VisuallyHidden component="h1">Recording</VisuallyHidden>
      {trashed.data === undefined ? (
        <NotFound wasHere={wasHere} id={id} />
      ) : (
        <InTrash recording={trashed.data} />
      )}
    </>
  );
}

function InTrash({ recording }: { recording: TrashedRecording }) {
  const isViewer = useQuery(sessionQuery).data?.user.role === "viewer";
  const client = useQueryClient();
  const restore = useAction({
    run: () => restoreRecording(recording.id),
    done: "Recording restored",
    onDone: () => void refreshAfterTrash(client, null),
  });
  return (
    <EmptyState
      title="Recording in the trash"
      icon={<IconTrash size={30} stroke={1.5} />}
      action={
        <>
          {isViewer ? null : (
            <Button
              mr="xs"
              leftSection={<IconRestore size={18} aria-hidden />}
              loading={restore.isPending}
              onClick={() => restore.mutate()}
            >
              Restore
            </Button>
          )}
          <Button component={Link} to="/trash" variant="default">
            Open trash
          </Button>
        </>
      }
    >
      <b dir="auto">{recording.title}</b> was deleted {whenInLine(recording.deleted_datetime)}
      {recording.deleted_by === null ? "" : ` by ${recording.deleted_by.name}`}.
    </EmptyState>
  );
}

function NotFound({ wasHere, id }: { wasHere: boolean; id: string | null }) {
  return (
    <EmptyState
      title={wasHere ? "Recording deleted" : "Recording not found"}
      icon={<IconVideoOff size={30} stroke={1.5} />}
      action={
        id === null ? (
          <Button component={Link} to="/">
            Back to library
          </Button>
        ) : (
          <RequestAccess id={id} />
        )
      }
    >
      {wasHere
        ? "It was deleted or is no longer shared with you."
        : "It was deleted, isn't shared with you, or the URL is wrong."}
    </EmptyState>
  );
}
