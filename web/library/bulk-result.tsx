import { plural, t } from "@lingui/core/macro";
import { notifications } from "@mantine/notifications";
import { type BulkChange, type BulkResult, changeRecordings } from "../api/library/bulk.ts";
import type { LibraryItem } from "../api/library/pages.ts";
import { Failures } from "../common/failures.tsx";
import { number } from "../common/format/numbers.ts";
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
      title: isUnknown
        ? plural(failed.length, {
            one: "# recording may not have been changed",
            other: "# recordings may not have been changed",
          })
        : plural(failed.length, {
            one: "# recording couldn't be changed",
            other: "# recordings couldn't be changed",
          }),
      message: (
        <Failures failed={failed.map(({ id, reason }) => ({ id, reason, title: titles.get(id) ?? "" }))} />
      ),
      autoClose: false,
    });
  }
  if (done.length === 0) return;
  const { outcome, inverse } = describe(change, isRestorable);
  const message = outcomeText(outcome, done.length, rest.length);
  if (inverse === null || changed.length === 0) notifications.show({ message });
  else
    showUndoToast({
      message,
      undone:
        change.kind === "delete"
          ? plural(changed.length, { one: "# recording restored", other: "# recordings restored" })
          : t`Undone`,
      undo: async () => {
        const undone = await changeRecordings(changed, inverse);
        await refresh(change.kind === "delete" ? null : changed);
        const [first] = undone.failed;
        if (first === undefined) return undefined;
        const count = number(undone.done.length);
        const { reason } = first;
        return plural(changed.length, {
          one: `Undone for ${count} of # recording. Others failed: ${reason}`,
          other: `Undone for ${count} of # recordings. Others failed: ${reason}`,
        });
      },
    });
}

type Outcome = "tagged" | "shared" | "trashed" | "deleted" | "changed";

/** @param left recordings before which the change was stopped. */
function outcomeText(outcome: Outcome, count: number, left: number): string {
  const done = {
    tagged: () => plural(count, { one: "# recording tagged", other: "# recordings tagged" }),
    shared: () => plural(count, { one: "# recording shared", other: "# recordings shared" }),
    trashed: () => plural(count, { one: "# recording moved to trash", other: "# recordings moved to trash" }),
    deleted: () =>
      plural(count, { one: "# recording permanently deleted", other: "# recordings permanently deleted" }),
    changed: () => plural(count, { one: "# recording changed", other: "# recordings changed" }),
  }[outcome]();
  if (left === 0) return done;
  return plural(left, {
    one: `${done}. Stopped before the other #`,
    other: `${done}. Stopped before the other #`,
  });
}

/** What a change did to recordings, and what undoes it; null where nothing does. */
function describe(
  change: BulkChange,
  isRestorable: boolean,
): { outcome: Outcome; inverse: BulkChange | null } {
  switch (change.kind) {
    case "add_tag":
      return { outcome: "tagged", inverse: { kind: "remove_tag", tag: change.tag } };
    case "share_with_team":
      return { outcome: "shared", inverse: { kind: "unshare_from_team", team_id: change.team_id } };
    case "share_with_user":
      return { outcome: "shared", inverse: { kind: "unshare_from_user", user_id: change.user_id } };
    case "delete":
      return isRestorable
        ? { outcome: "trashed", inverse: { kind: "restore" } }
        : { outcome: "deleted", inverse: null };
    default:
      return { outcome: "changed", inverse: null };
  }
}
