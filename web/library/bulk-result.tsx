import { t } from "@lingui/core/macro";
import { notifications } from "@mantine/notifications";
import { type BulkChange, type BulkResult, changeRecordings } from "../api/library/bulk.ts";
import type { LibraryItem } from "../api/library/pages.ts";
import { Failures } from "../common/failures.tsx";
import { counted } from "../common/format/count.ts";
import { showUndoToast } from "../common/undo-toast.tsx";

/** Says which recordings were changed, with a button that undoes it, and which were not. */
export function showBulkResult(options: {
  readonly result: BulkResult;
  readonly change: BulkChange;
  readonly items: readonly LibraryItem[];
  /** Whether deleted recordings are in the trash. */
  readonly isRestorable: boolean;
  /** @param ids null for restored recordings. */
  readonly refresh: (ids: readonly string[] | null) => Promise<void>;
}): void {
  const { result, change, items, isRestorable, refresh } = options;
  const { done, changed, failed, rest } = result;
  if (failed.length > 0) {
    const titles = new Map(items.map(({ recording }) => [recording.id, recording.title]));
    const isUnknown = failed.some((one) => one.isUnknown);
    notifications.show({
      color: "red",
      title: `${counted(failed.length, "recording")} ${isUnknown ? t`may not have been` : "couldn't be"} changed`,
      message: (
        <Failures failed={failed.map(({ id, reason }) => ({ id, reason, title: titles.get(id) ?? "" }))} />
      ),
      autoClose: false,
    });
  }
  if (done.length === 0) return;
  const what = counted(done.length, "recording");
  const stopped = rest.length === 0 ? "" : `. Stopped before the other ${rest.length.toLocaleString()}`;
  const { outcome, inverse } = describe(change, isRestorable);
  const message = `${what} ${outcome}${stopped}`;
  if (inverse === null || changed.length === 0) notifications.show({ message });
  else
    showUndoToast({
      message,
      undone: change.kind === "delete" ? `${counted(changed.length, "recording")} restored` : t`Undone`,
      undo: async () => {
        const undone = await changeRecordings(changed, inverse);
        await refresh(change.kind === "delete" ? null : changed);
        const [first] = undone.failed;
        if (first === undefined) return undefined;
        return `Undone for ${undone.done.length} of ${counted(changed.length, "recording")}. Others failed: ${first.reason}`;
      },
    });
}

/** What a change did to recordings, and what undoes it; null where nothing does. */
function describe(
  change: BulkChange,
  isRestorable: boolean,
): { outcome: string; inverse: BulkChange | null } {
  switch (change.kind) {
    case "add_tag":
      return { outcome: "tagged", inverse: { kind: "remove_tag", tag: change.tag } };
    case "share_with_team":
      return { outcome: "shared", inverse: { kind: "unshare_from_team", team_id: change.team_id } };
    case "share_with_user":
      return { outcome: "shared", inverse: { kind: "unshare_from_user", user_id: change.user_id } };
    case "delete":
      return isRestorable
        ? { outcome: t`moved to trash`, inverse: { kind: "restore" } }
        : { outcome: t`permanently deleted`, inverse: null };
    default:
      return { outcome: "changed", inverse: null };
  }
}
