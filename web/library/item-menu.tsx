import { Trans, useLingui } from "@lingui/react/macro";
import { Menu } from "@mantine/core";
import { IconLink, IconShare, IconTag, IconTrash } from "@tabler/icons-react";
import { type Ref, useLayoutEffect } from "react";
import type { LibraryItem } from "../api/library/pages.ts";
import { useClipboard } from "../common/clipboard.ts";
import type { BulkAction } from "./bulk-action.ts";

/** An item whose menu is open, and the button that opened it. */
export interface OpenMenu {
  readonly item: LibraryItem;
  readonly button: HTMLElement;
}

/** The menu of one recording; all rows of a list share it. */
export function ItemMenu(props: {
  menu: OpenMenu | null;
  onClose: () => void;
  onAction: (action: BulkAction, item: LibraryItem) => void;
}) {
  const { t } = useLingui();
  const { menu, onClose, onAction } = props;
  const copy = useClipboard();
  if (menu === null) return null;
  const { item, button } = menu;
  const { title } = item.recording;
  return (
    <Menu
      key={item.recording.id}
      opened
      position="bottom-end"
      width={190}
      onClose={onClose}
      // Without: the menu is gone before it could fade out, and its focus with it.
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <Anchor button={button} />
      </Menu.Target>
      <Menu.Dropdown aria-label={t`Actions for ${title}`}>
        <Menu.Item
          leftSection={<IconLink size={16} />}
          onClick={() => void copy.text(item.recording.url, t`Link copied`)}
        >
          <Trans>Copy link</Trans>
        </Menu.Item>
        {item.can_change ? (
          <>
            <Menu.Item leftSection={<IconTag size={16} />} onClick={() => onAction("tag", item)}>
              <Trans>Add tag</Trans>
            </Menu.Item>
            <Menu.Item leftSection={<IconShare size={16} />} onClick={() => onAction("share", item)}>
              <Trans context="verb">Share</Trans>
            </Menu.Item>
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => onAction("delete", item)}
            >
              <Trans>Delete</Trans>
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Names an existing element as the menu's target. */
function Anchor({ button, ref }: { button: HTMLElement; ref?: Ref<HTMLElement> }) {
  useLayoutEffect(() => {
    if (typeof ref === "function") ref(button);
  }, [button, ref]);
  return null;
}
