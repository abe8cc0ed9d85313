import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { LibraryItem } from "../api/library.ts";
import { day } from "../common/format/time.ts";
import classes from "./library.module.css";
import { RecordingCard } from "./recording-card.tsx";
import { RecordingRow } from "./recording-row.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { type Selection, useSelection } from "./use-selection.ts";

/** Items of one line of the list or grid, with the index of the first, and the day that begins there. */
interface Line {
  readonly start: number;
  readonly items: readonly LibraryItem[];
  readonly heading: string | null;
}

const minCardWidth = 260;
const gap = 16;

/** Lines near the end of what is loaded at which the next page is requested. */
const linesAhead = 20;

/** Recordings as list or grid, of which only what is near the viewport is in the document. */
export function RecordingList(props: {
  items: readonly LibraryItem[];
  count: number;
  isGrid: boolean;
  isByDay: boolean;
  /** Called when the end of the items comes near. */
  onEnd: () => void;
}) {
  const { items, count, isGrid, isByDay, onEnd } = props;
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>();
  const frame = useRef<HTMLDivElement>(null);
  const ref = useMergedRef(sizeRef, frame);
  const columns = isGrid ? Math.max(1, Math.floor((width + gap) / (minCardWidth + gap))) : 1;
  const lines = useMemo(() => linesOf(items, columns, isByDay), [items, columns, isByDay]);
  const selection = useSelection(items);
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (isGrid ? 300 : 108) + (lines[index]?.heading == null ? 0 : 44),
    getItemKey: (index) => `${lines[index]?.items[0]?.recording.id} ${columns}`,
    overscan: 6,
    scrollMargin: frame.current?.offsetTop ?? 0,
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
  const total = { height: virtualizer.getTotalSize() };
  return (
    <div ref={ref} data-selecting={selection.ids.size > 0 || undefined} className={classes.frame}>
      {isGrid ? (
        <div className={classes.lines} style={total}>
          {placed.map(({ key, line, attributes }) => (
            <div key={key} {...attributes}>
              <DayHeading line={line} />
              <ul
                className={classes.grid}
                style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
                aria-label="Recordings"
              >
                {line.items.map((item, offset) => (
                  <li key={item.recording.id}>
                    <RecordingCard {...propsOf(item, line.start + offset, selection)} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      ) : (
        <ul className={classes.lines} style={total} aria-label="Recordings">
          {placed.map(({ key, line, attributes }) => (
            <li key={key} {...attributes} aria-setsize={count} aria-posinset={line.start + 1}>
              <DayHeading line={line} />
              {line.items.map((item) => (
                <RecordingRow key={item.recording.id} {...propsOf(item, line.start, selection)} />
              ))}
            </li>
          ))}
        </ul>
      )}
      <SelectionBar selection={selection} />
    </div>
  );
}

function propsOf(item: LibraryItem, index: number, selection: Selection) {
  return {
    item,
    isSelected: selection.ids.has(item.recording.id),
    onSelect: (isRange: boolean) => selection.toggle(index, isRange),
  };
}

function DayHeading({ line: { heading } }: { line: Line }) {
  return heading === null ? null : <h2 className={classes.day}>{heading}</h2>;
}

/** Cuts the items into lines; a new day begins a new line with a heading. */
function linesOf(items: readonly LibraryItem[], columns: number, isByDay: boolean): Line[] {
  const lines: { start: number; items: LibraryItem[]; heading: string | null }[] = [];
  const now = new Date();
  let before: string | null = null;
  for (const [index, item] of items.entries()) {
    const name = isByDay ? dayKey(item) : null;
    const line = lines.at(-1);
    if (line !== undefined && name === before && line.items.length < columns) line.items.push(item);
    else
      lines.push({
        start: index,
        items: [item],
        heading: name === before ? null : day(item.recording.start_datetime, now),
      });
    before = name;
  }
  return lines;
}

function dayKey({ recording }: LibraryItem): string {
  const date = new Date(recording.start_datetime);
  return `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
}
