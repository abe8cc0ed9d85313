import { Button, CloseButton, Text } from "@mantine/core";
import { IconPackageExport, IconShare, IconTag, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";
import { counted } from "../common/format/count.ts";
import type { BulkAction } from "./bulk-action.ts";
import { BulkDialog } from "./bulk-dialogs.ts";
import type { ExportDialogProps } from "./export/dialog.tsx";
import classes from "./library.module.css";
import type { Selection } from "./use-selection.ts";

const actions = [
  ["tag", "Add tag", IconTag],
  ["share", "Share", IconShare],
  ["delete", "Delete", IconTrash],
] as const;

const ExportDialog = lazyDialog<ExportDialogProps>({
  load: async () => (await import("./export/dialog.tsx")).ExportDialog,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});

/** What can be done with the selected recordings. */
export function SelectionBar({ selection: { items, clear } }: { selection: Selection }) {
  const [action, setAction] = useState<BulkAction | null>(null);
  const [isExporting, setExporting] = useState(false);
  return (
    <>
      {items.length === 0 ? null : (
        <div className={classes.bar} role="toolbar" aria-label="Selected recordings">
          <Text size="sm" fw={600} role="status">
            {counted(items.length, "recording")} selected
          </Text>
          {actions.map(([name, label, Icon]) => (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              leftSection={<Icon size={16} aria-hidden />}
              onClick={() => setAction(name)}
            >
              {label}
            </Button>
          ))}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPackageExport size={16} aria-hidden />}
            onClick={() => setExporting(true)}
          >
            Export
          </Button>
          <CloseButton aria-label="Clear selection" onClick={clear} />
        </div>
      )}
      <ExportDialog isOpen={isExporting} items={items} onClose={() => setExporting(false)} />
      <BulkDialog action={action} items={items} onClose={() => setAction(null)} onDone={clear} />
    </>
  );
}
