import type { LibraryItem } from "../api/library/pages.ts";

export type BulkAction = "tag" | "share" | "delete";

export interface BulkDialogProps {
  /** Null: closed. */
  readonly action: BulkAction | null;
  readonly items: readonly LibraryItem[];
  readonly onClose: () => void;
  /** @param left the recordings that were not changed. */
  readonly onDone: (left: readonly string[]) => void;
}
