import { msg } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, CloseButton, Text } from "@mantine/core";
import { IconPackageExport, IconShare, IconTag, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";
import type { BulkAction } from "./bulk-action.ts";
import type { ExportDialogProps } from "./export/dialog.tsx";
import classes from "./library.module.css";
import type { Selection } from "./use-selection.ts";

const actions = [
  ["tag", msg`Add tag`, IconTag],
  ["share", msg({ context: "verb", message: "Share" }), IconShare],
  ["delete", msg`Delete`, IconTrash],
] as const;

const ExportDialog = lazyDialog<ExportDialogProps>({
  load: async () => (await import("./export/dialog.tsx")).ExportDialog,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});

/** Moves focus from a row to the selection bar, if recordings are selected. */
export function focusSelectionBar(): void {
  document.querySelector<HTMLElement>(`.${classes.bar} button`)?.focus({ preventScroll: true });
}

/** What can be done with the selected recordings. */
export function SelectionBar(props: { selection: Selection; onAction: (action: BulkAction) => void }) {
  const { t } = useLingui();
  const { items, isFull, set } = props.selection;
  const [isExporting, setExporting] = useState(false);
  const canChange = items.some(({ can_change }) => can_change);
  return (
    <>
      {items.length === 0 ? null : (
        <div className={classes.bar} role="toolbar" aria-label={t`Selected recordings`}>
          <Text size="sm" fw={600} role="status">
            {isFull ? (
              <Plural
                value={items.length}
                one="# recording selected (the maximum)"
                other="# recordings selected (the maximum)"
              />
            ) : (
              <Plural value={items.length} one="# recording selected" other="# recordings selected" />
            )}
          </Text>
          {(canChange ? actions : []).map(([name, label, Icon]) => (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              leftSection={<Icon size={16} aria-hidden />}
              onClick={() => props.onAction(name)}
            >
              {t(label)}
            </Button>
          ))}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPackageExport size={16} aria-hidden />}
            onClick={() => setExporting(true)}
          >
            <Trans>Export</Trans>
          </Button>
          <CloseButton aria-label={t`Clear selection`} onClick={() => set([])} />
        </div>
      )}
      <ExportDialog isOpen={isExporting} items={items} onClose={() => setExporting(false)} />
    </>
  );
}
