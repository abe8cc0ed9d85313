import { notifications } from "@mantine/notifications";
import type { QueryClient } from "@tanstack/react-query";
import { refreshAfterTrash, restoreRecording } from "../api/trash.ts";
import { counted } from "../common/format/count.ts";
import { showUndoToast } from "../common/undo-toast.tsx";

/** Says that recordings were deleted; those that went to the trash can be restored right there. */
export function showDeletedToast(
  client: QueryClient,
  deleted: readonly { readonly id: string; readonly purge_datetime: string | null }[],
): void {
  const restorable = deleted.filter(({ purge_datetime }) => purge_datetime !== null);
  const what = deleted.length === 1 ? "Recording" : counted(deleted.length, "recording");
  if (restorable.length === 0) {
    notifications.show({ message: `${what} permanently deleted` });
    return;
  }
  showUndoToast({
    message: `${what} moved to trash`,
    undone: `${what} restored`,
    undo: async () => {
      const failures: unknown[] = [];
      for (const { id } of restorable) await restoreRecording(id).catch((error) => failures.push(error));
      await refreshAfterTrash(client);
      if (failures.length === restorable.length) throw failures[0];
      const restored = counted(restorable.length - failures.length, "recording");
      return failures.length === 0
        ? undefined
        : `${restored} restored, ${failures.length} could not be restored`;
    },
  });
}
