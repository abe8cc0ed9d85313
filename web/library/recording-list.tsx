import { useLingui } from "@lingui/react/macro";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useWindowVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LibraryItem } from "../api/library/pages.ts";
import { day } from "../common/format/time.ts";
import type { BulkAction } from "./bulk-action.ts";
import { BulkDialog } from "./bulk-dialogs.ts";
import { ItemMenu, type OpenMenu } from "./item-menu.tsx";
import classes from "./library.module.css";
import { RecordingCard } from "./recording-card.tsx";
import { RecordingRow } from "./recording-row.tsx";
import type { ItemActions, ItemProps } from "./row-controls.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useFavorite } from "./use-favorite.ts";
import { useSelection } from "./use-selection.ts";

/** Items of one line of the list or grid, with the index of the first. */
interface Line {
  readonly start: number;
  readonly items: readonly LibraryItem[];
  /** The start of the first recording of a day. */
  readonly heading: string | null;
}

const minCardWidth = 260;
const gap = 16;

/** Lines near the end of what is loaded at which the next page is requested. */
const linesAhead = 20;

/** The sizes of the lines of the list that was left last: returning to it scrolls to the same recording. */
let lastSizes: VirtualItem[] = [];

/** A change whose dialog is open. */
interface OpenDialog {
  readonly action: BulkAction;
  readonly items: readonly LibraryItem[];
  /** Not the item of a menu. */
  readonly isOfSelection: boolean;
}

/** Recordings as list or grid, of which only what is near the viewport is in the document. */
export function RecordingList(props: {
  items: readonly LibraryItem[];
  /** Of all recordings; -1 if unknown. */
  count: number;
  isGrid: boolean;
  isByDay: boolean;
  /** Called when the end of the items comes near. */
  onEnd: () => void;
}) {
  const { t } = useLingui();
  const { items, count, isGrid, isByDay, onEnd } = props;
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>();
  const frame = useRef<HTMLDivElement>(null);
  const ref = useMergedRef(sizeRef, frame);
  const columns = isGrid ? Math.max(1, Math.floor((width + gap) / (minCardWidth + gap))) : 1;
  const lines = useMemo(() => linesOf(items, columns, isByDay), [items, columns, isByDay]);
  const selection = useSelection(items);
  const { actions, menu, closeMenu } = useItemActions(selection.toggle);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  // With a new function, the virtualizer would measure all lines again on each render.
  const keyOf = useCallback(
    (index: number) => `${lines[index]?.items[0]?.recording.id} ${columns}`,
    [lines, columns],
  );
  const propsOf = (item: LibraryItem, index: number): ItemProps => ({
    item,
    index,
    isSelected: selection.ids.has(item.recording.id),
    isMenuOpen: menu?.item.recording.id === item.recording.id,
    actions,
  });
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (isGrid ? 300 : 108) + (lines[index]?.heading == null ? 0 : 44),
    getItemKey: keyOf,
    overscan: 4,
    scrollMargin: frame.current?.offsetTop ?? 0,
    initialMeasurementsCache: lastSizes,
  });
  useEffect(
    () => () => {
      lastSizes = virtualizer.takeSnapshot();
    },
    [virtualizer],
  );
  // Scrolling may remove the row whose menu is open.
  useEffect(() => {
    if (menu !== null && !menu.button.isConnected) closeMenu();
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= lines.length - linesAhead) onEnd();
  }, [last, lines.length, onEnd]);
  const placed = shown.map(({ index, key, start }) => ({
    key,
    line: lines[index] as Line,
    attributes: {
      ref: virtualizer.measureElement,
      "data-index": index,
      className: classes.line,
      style: { transform: `translateY(${start - virtualizer.options.scrollMargin}px)` },
    },
  }));
  const Item = isGrid ? RecordingCard : RecordingRow;
  return (
    <div ref={ref} data-selecting={selection.ids.size > 0 || undefined} className={classes.frame}>
      {/* Before the list, which loads more rows while focus moves through it. */}
      <SelectionBar
        selection={selection}
        onAction={(action) => setDialog({ action, items: selection.items, isOfSelection: true })}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: its items are not its children. */}
      <div
        role="list"
        aria-label={t`Recordings`}
        className={classes.lines}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {placed.map(({ key, line, attributes }) => (
          <div key={key} {...attributes}>
            <div
              className={isGrid ? classes.grid : undefined}
              style={isGrid ? { gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` } : undefined}
            >
              {line.items.map((item, offset) => (
                // biome-ignore lint/a11y/useSemanticElements: as the list.
                <div
                  key={item.recording.id}
                  role="listitem"
                  className={classes.item}
                  aria-setsize={count}
                  aria-posinset={line.start + offset + 1}
                >
                  {offset > 0 || line.heading === null ? null : (
                    <h2 className={classes.day}>{day(line.heading)}</h2>
                  )}
                  <Item {...propsOf(item, line.start + offset)} />
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
      <ItemMenu
        menu={menu}
        onClose={closeMenu}
        onAction={(action, item) => setDialog({ action, items: [item], isOfSelection: false })}
      />
      <BulkDialog
        action={dialog?.action ?? null}
        items={dialog?.items ?? []}
        onClose={() => setDialog(null)}
        onDone={(left) => {
          if (dialog?.isOfSelection) selection.set(left);
        }}
      />
    </div>
  );
}

/** What the items do, and the one menu that they share. */
function useItemActions(toggle: (index: number, isRange: boolean) => void) {
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const setFavorite = useFavorite();
  const current = useRef({ toggle, setFavorite, menu });
  current.current = { toggle, setFavorite, menu };
  const [actions] = useState(
    (): ItemActions => ({
      select: (index, isRange) => current.current.toggle(index, isRange),
      setFavorite: (item, isFavorite) => current.current.setFavorite(item.recording.id, isFavorite),
      toggleMenu: (item, button) => setMenu((open) => (open?.button === button ? null : { item, button })),
    }),
  );
  const closeMenu = useCallback(() => {
    // Before a dialog opens, which returns focus to where it was.
    if (document.activeElement?.closest("[role=menu]"))
      current.current.menu?.button.focus({ preventScroll: true });
    setMenu(null);
  }, []);
  return { actions, menu, closeMenu };
}

/** Cuts the items into lines; a new day begins a new line with a heading. */
function linesOf(items: readonly LibraryItem[], columns: number, isByDay: boolean): Line[] {
  const lines: { start: number; items: LibraryItem[]; heading: string | null }[] = [];
  let before: string | null = null;
  for (const [index, item] of items.entries()) {
    const name = isByDay ? dayKey(item) : null;
    const line = lines.at(-1);
    if (line !== undefined && name === before && line.items.length < columns) line.items.push(item);
    else
      lines.push({
        start: index,
        items: [item],
        heading: name === before ? null : item.recording.start_datetime,
      });
    before = name;
  }
  return lines;
}

const dayKeys = new WeakMap<LibraryItem, string>();

/** Computed once for each item: each loaded page cuts all items into lines again. */
function dayKey(item: LibraryItem): string {
  const known = dayKeys.get(item);
  if (known !== undefined) return known;
  const date = new Date(item.recording.start_datetime);
  const key = `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
  dayKeys.set(item, key);
  return key;
}
