import { useLingui } from "@lingui/react/macro";
import { IconDotsVertical, IconStar, IconStarFilled } from "@tabler/icons-react";
import type { LibraryItem } from "../api/library/pages.ts";
import classes from "./library.module.css";
import { focusSelectionBar } from "./selection-bar.tsx";

/** What the rows and cards of a list do. The same object on each render, so that only changed rows render again. */
export interface ItemActions {
  /** @param isRange all from the last one that was selected or deselected. */
  readonly select: (index: number, isRange: boolean) => void;
  readonly setFavorite: (item: LibraryItem, isFavorite: boolean) => void;
  /** Opens or closes the item's menu, at its button. */
  readonly toggleMenu: (item: LibraryItem, button: HTMLElement) => void;
}

/** What a row or card gets. Rows are plain elements: a list mounts up to thirty of them between two frames. */
export interface ItemProps {
  readonly item: LibraryItem;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isMenuOpen: boolean;
  readonly actions: ItemActions;
}

/** Selects the recording; with Shift, all from the last one. Enter leads to the actions for the selected recordings. */
export function SelectBox({ item, index, isSelected, actions }: ItemProps) {
  const { t } = useLingui();
  const { title } = item.recording;
  return (
    // The label is a larger target; the name is the box's.
    <label className={classes.select}>
      <input
        type="checkbox"
        aria-label={t`Select ${title}`}
        aria-keyshortcuts="Enter"
        checked={isSelected}
        // A change event has no keys.
        onClick={(event) => actions.select(index, event.shiftKey)}
        onChange={() => undefined}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // Enter would press the button that gets the focus.
          event.preventDefault();
          focusSelectionBar();
        }}
      />
    </label>
  );
}

/** Favorite and menu of a recording. */
export function ItemButtons({ item, isMenuOpen, actions }: ItemProps) {
  const { t } = useLingui();
  const { is_favorite } = item;
  const { title } = item.recording;
  return (
    <div className={classes.actions}>
      <button
        type="button"
        className={`${classes.button} ${is_favorite ? classes.favorite : classes.onHover}`}
        aria-label={t`Favorite: ${title}`}
        aria-pressed={is_favorite}
        onClick={() => actions.setFavorite(item, !is_favorite)}
      >
        {is_favorite ? <IconStarFilled size={18} /> : <IconStar size={18} stroke={1.6} />}
      </button>
      <button
        type="button"
        className={`${classes.button} ${classes.onHover}`}
        aria-label={t`Actions for ${title}`}
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        onClick={(event) => actions.toggleMenu(item, event.currentTarget)}
      >
        <IconDotsVertical size={18} />
      </button>
    </div>
  );
}
