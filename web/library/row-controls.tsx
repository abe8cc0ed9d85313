import { ActionIcon, Menu } from "@mantine/core";
import {
  IconDotsVertical,
  IconLink,
  IconShare,
  IconStar,
  IconStarFilled,
  IconTag,
  IconTrash,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type LibraryItem, setFavorite } from "../api/library.ts";
import { useAction } from "../common/actions.tsx";
import { useClipboard } from "../common/clipboard.ts";
import type { BulkAction } from "./bulk-action.ts";
import { BulkDialog } from "./bulk-dialogs.ts";
import classes from "./library.module.css";

/** What the parts of a row or card get. */
export interface ItemProps {
  readonly item: LibraryItem;
  readonly isSelected: boolean;
  readonly onSelect: (isRange: boolean) => void;
}

/** Selects the recording; with Shift, all from the last one. */
export function SelectBox({ item, isSelected, onSelect }: ItemProps) {
  return (
    <input
      type="checkbox"
      className={classes.select}
      aria-label={`Select ${item.recording.title}`}
      checked={isSelected}
      // A change event has no keys.
      onClick={(event) => onSelect(event.shiftKey)}
      onChange={() => undefined}
    />
  );
}

/** Favorite and menu of a recording. */
export function ItemActions({ item }: Pick<ItemProps, "item">) {
  const { recording, is_favorite, can_change } = item;
  const client = useQueryClient();
  const copy = useClipboard();
  const [action, setAction] = useState<BulkAction | null>(null);
  const favorite = useAction({
    run: () => setFavorite(recording.id, !is_favorite),
    onDone: () => client.invalidateQueries({ queryKey: ["recordings"] }),
  });
  return (
    <div className={classes.actions}>
      <ActionIcon
        className={is_favorite ? "" : (classes.onHover ?? "")}
        variant="subtle"
        color={is_favorite ? "yellow.8" : "gray"}
        aria-label={`Favorite: ${recording.title}`}
        aria-pressed={is_favorite}
        loading={favorite.isPending}
        onClick={() => favorite.mutate()}
      >
        {is_favorite ? <IconStarFilled size={18} /> : <IconStar size={18} stroke={1.6} />}
      </ActionIcon>
      <Menu position="bottom-end" width={190}>
        <Menu.Target>
          <ActionIcon
            className={classes.onHover ?? ""}
            variant="subtle"
            color="gray"
            aria-label={`Actions for ${recording.title}`}
          >
            <IconDotsVertical size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconLink size={16} />}
            onClick={() => void copy.text(recording.url, "Link copied")}
          >
            Copy link
          </Menu.Item>
          {can_change ? (
            <>
              <Menu.Item leftSection={<IconTag size={16} />} onClick={() => setAction("tag")}>
                Add tag
              </Menu.Item>
              <Menu.Item leftSection={<IconShare size={16} />} onClick={() => setAction("share")}>
                Share
              </Menu.Item>
              <Menu.Item
                c="var(--mantine-color-error)"
                leftSection={<IconTrash size={16} />}
                onClick={() => setAction("delete")}
              >
                Delete
              </Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <BulkDialog action={action} items={[item]} onClose={() => setAction(null)} onDone={() => undefined} />
    </div>
  );
}
