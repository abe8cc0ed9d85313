import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LibraryItem } from "../api/library/pages.ts";

/** Most recordings that can be selected: what one bulk change takes. */
const maxSelected = 1000;

/** The selected recordings. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly items: readonly LibraryItem[];
  /** Selects or deselects an item. @param isRange all from the last one that was selected or deselected. */
  toggle(index: number, isRange: boolean): void;
  /** Whether no more can be selected. */
  readonly isFull: boolean;
  /** Replaces the selection. */
  set(ids: readonly string[]): void;
}

/** Selection in a list. Items that are gone are no longer selected; Escape clears it. */
export function useSelection(items: readonly LibraryItem[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string | null>(null);
  const set = useCallback((ids: readonly string[]) => setIds(new Set(ids)), []);
  useEffect(() => {
    if (ids.size === 0) return;
    const onKey = (event: KeyboardEvent) => {
      const isInside = (event.target as Element | null)?.closest(
        "[role=dialog], [role=menu], input[type=text]",
      );
      if (event.key === "Escape" && !event.defaultPrevented && !isInside) set([]);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [ids.size, set]);
  const selected = useMemo(() => items.filter(({ recording }) => ids.has(recording.id)), [items, ids]);
  const shown = useMemo(() => new Set(selected.map(({ recording }) => recording.id)), [selected]);
  const toggle = (index: number, isRange: boolean) => {
    const from = isRange ? items.findIndex(({ recording }) => recording.id === anchor.current) : -1;
    const [start, end] = from === -1 ? [index, index] : [Math.min(from, index), Math.max(from, index)];
    const clicked = items[index]?.recording.id ?? null;
    const isOn = clicked !== null && !ids.has(clicked);
    anchor.current = clicked;
    const next = new Set(shown);
    for (const { recording } of items.slice(start, end + 1))
      if (!isOn) next.delete(recording.id);
      else if (next.size < maxSelected) next.add(recording.id);
    setIds(next);
  };
  return { ids: shown, items: selected, isFull: shown.size >= maxSelected, toggle, set };
}
