import type { LibraryItem } from "../api/library.ts";

export type BulkAction = "tag" | "share" | "delete";

export interface BulkDialogProps {
  /** Null: closed. */
  readonly action: BulkAction | null;
  readonly items: readonly LibraryItem[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}
