import type { ComponentType } from "react";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";
import type { BulkDialogProps } from "./bulk-action.ts";

/** The dialog of a change to one or more recordings. */
export const BulkDialog: ComponentType<BulkDialogProps> = lazyDialog({
  load: async () => (await import("./bulk-dialog.tsx")).BulkDialog,
  isOpen: ({ action }) => action !== null,
  closed: { action: null },
});
