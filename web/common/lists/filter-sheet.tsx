import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Drawer, Stack } from "@mantine/core";
import type { ReactNode } from "react";

export interface FilterSheetProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Filters in a sheet at the bottom of a phone's screen. */
export function FilterSheet({ isOpen, onClose, children }: FilterSheetProps) {
  const { t } = useLingui();
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="bottom"
      title={t`Filters`}
      styles={{ inner: { alignItems: "flex-end" }, content: { height: "auto", maxHeight: "85dvh" } }}
      closeButtonProps={{ "aria-label": t`Close` }}
      attributes={{ header: { role: "presentation" } }}
    >
      <Stack gap="sm">
        {children}
        <Button onClick={onClose}>
          <Trans>Done</Trans>
        </Button>
      </Stack>
    </Drawer>
  );
}
