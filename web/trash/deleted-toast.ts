import { t } from "@lingui/core/macro";
import { notifications } from "@mantine/notifications";
import type { QueryClient } from "@tanstack/react-query";
import { refreshAfterTrash, restoreRecording } from "../api/library/trash.ts";
import { showUndoToast } from "../common/undo-toast.tsx";

/** Says that a recording was deleted; one that went to the trash can be restored right there. */
export function showDeletedToast(
  client: QueryClient,
  { id, purge_datetime }: { readonly id: string; readonly purge_datetime: string | null },
): void {
  if (purge_datetime === null) notifications.show({ message: t`Recording permanently deleted` });
  else
    showUndoToast({
      message: t`Recording moved to trash`,
      undone: t`Recording restored`,
      undo: async () => {
        await restoreRecording(id);
        await refreshAfterTrash(client, null);
      },
    });
}
