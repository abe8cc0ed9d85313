import { Button, Group, Paper } from "@mantine/core";
import { IconCopy, IconLink, IconScissors } from "@tabler/icons-react";
import { type RefObject, useEffect, useState } from "react";
import type { Segment } from "../../api/recording.ts";
import type { ClipRange } from "../context.ts";
import classes from "./transcript.module.css";

interface Selected extends ClipRange {
  readonly first: number;
  readonly last: number;
  /** Where the toolbar goes, in the list's own frame; null: at its foot. */
  readonly place: { readonly top: number; readonly left: number } | null;
}

/** Whole lines, chosen by keyboard, from where the choice began to where it has come to. */
export interface Lines {
  readonly begin: number;
  readonly end: number;
}

/** The moment of a word is a guess by its place in the text: a clip leaves room for it. */
const marginMs = 500;
const toolbarHeight = 44;
const toolbarHalfWidth = 150;

/** What can be done with the words or lines that the reader selected, right beside them. */
export function SelectionToolbar(props: {
  list: RefObject<HTMLElement | null>;
  segments: readonly Segment[];
  lines: Lines | null;
  /** Something was done with them. */
  onLinesDone: () => void;
  onClip: ((range: ClipRange) => void) | null;
  onCopyLink: (ms: number) => void;
  onCopyText: (first: number, last: number, text: string) => void;
}) {
  const { list, segments, lines, onLinesDone, onClip, onCopyLink, onCopyText } = props;
  const [words, setSelected] = useState<Selected | null>(null);
  useEffect(() => {
    // While the pointer is down the selection still grows.
    let isDown = false;
    const read = (): void => setSelected(isDown ? null : readSelection(list.current, segments));
    const down = (): void => {
      isDown = true;
    };
    const up = (): void => {
      isDown = false;
      // The browser settles a click's selection after the event.
      setTimeout(read);
    };
    document.addEventListener("selectionchange", read);
    document.addEventListener("pointerdown", down);
    document.addEventListener("pointerup", up);
    document.addEventListener("pointercancel", up);
    return () => {
      document.removeEventListener("selectionchange", read);
      document.removeEventListener("pointerdown", down);
      document.removeEventListener("pointerup", up);
      document.removeEventListener("pointercancel", up);
    };
  }, [list, segments]);
  const selected = lines === null ? words : ofLines(lines, segments);
  if (selected === null) return null;
  const done = (): void => {
    if (lines !== null) onLinesDone();
    window.getSelection()?.removeAllRanges();
    setSelected(null);
  };
  return (
    <Paper
      className={classes.toolbar ?? ""}
      shadow="md"
      withBorder
      role="toolbar"
      aria-label={lines === null ? "Selected words" : "Selected lines"}
      data-foot={selected.place === null || undefined}
      style={selected.place ?? {}}
      // Pressing a button must not end the selection.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
    >
      <Group gap={2} wrap="nowrap">
        {onClip === null ? null : (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconScissors size={16} aria-hidden />}
            onClick={() => {
              done();
              const margin = lines === null ? marginMs : 0;
              onClip({
                ...selected,
                startMs: Math.max(0, selected.startMs - margin),
                endMs: selected.endMs + margin,
              });
            }}
          >
            Clip
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<IconLink size={16} aria-hidden />}
          onClick={() => {
            onCopyLink(selected.startMs);
            done();
          }}
        >
          Copy link
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<IconCopy size={16} aria-hidden />}
          onClick={() => {
            onCopyText(selected.first, selected.last, selected.text);
            done();
          }}
        >
          Copy text
        </Button>
      </Group>
    </Paper>
  );
}

function readSelection(list: HTMLElement | null, segments: readonly Segment[]): Selected | null {
  const selection = window.getSelection();
  if (list === null || selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!list.contains(range.startContainer) || !list.contains(range.endContainer)) return null;
  const [from, to] = [placeOf(range, "start", segments), placeOf(range, "end", segments)];
  if (from === null || to === null) return null;
  const text = wordsOf(segments, from, to);
  if (text === "") return null;
  const box = range.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  const above = box.top - frame.top - toolbarHeight - 6;
  // Phones put their own menu above the words.
  const isAbove = above > 0 && !window.matchMedia("(pointer: coarse)").matches;
  const middle = box.left - frame.left + box.width / 2;
  const half = Math.min(toolbarHalfWidth, frame.width / 2 - 8);
  return {
    first: from.index,
    last: to.index,
    startMs: from.ms,
    endMs: to.ms,
    text,
    place: {
      top: isAbove ? above : Math.min(frame.height - toolbarHeight - 8, box.bottom - frame.top + 8),
      left: Math.min(frame.width - half - 8, Math.max(half + 8, middle)),
    },
  };
}

function ofLines({ begin, end }: Lines, segments: readonly Segment[]): Selected | null {
  const [first, last] = [Math.min(begin, end), Math.max(begin, end)];
  const chosen = segments.slice(first, last + 1);
  if (chosen[0] === undefined) return null;
  const startMs = chosen[0].start;
  const endMs = Math.max(...chosen.map((segment) => segment.end));
  return { first, last, startMs, endMs, text: chosen.map(({ text }) => text).join(" "), place: null };
}

interface Place {
  readonly index: number;
  /** Which letter of the segment's text. */
  readonly letter: number;
  readonly ms: number;
}

/**
 * Where one end of a selection lies, at the border of a word; the moment by how far into its text that is.
 * @returns null outside of the lines.
 */
function placeOf(range: Range, end: "start" | "end", segments: readonly Segment[]): Place | null {
  const node = end === "start" ? range.startContainer : range.endContainer;
  const offset = end === "start" ? range.startOffset : range.endOffset;
  const element = node instanceof Element ? node : node.parentElement;
  const item = element?.closest<HTMLElement>("[data-index]");
  const index = Number(item?.dataset.index ?? Number.NaN);
  const segment = segments[index];
  if (segment === undefined) return null;
  const text = item?.querySelector("[data-text]");
  let letter = end === "start" ? 0 : segment.text.length;
  if (text?.contains(node)) {
    const before = document.createRange();
    before.setStart(text, 0);
    before.setEnd(node, offset);
    letter = wordBorder(segment.text, before.toString().length, end);
  }
  const share = letter / Math.max(1, segment.text.length);
  return { index, letter, ms: Math.round(segment.start + share * (segment.end - segment.start)) };
}

/** Half a word is none: the border of the word that a place lies in. */
function wordBorder(text: string, letter: number, end: "start" | "end"): number {
  let at = letter;
  const isWithin = (): boolean => /\S\S/.test(text.slice(at - 1, at + 1));
  while (at > 0 && at < text.length && isWithin()) at += end === "start" ? -1 : 1;
  return at;
}

/** What was selected, without the times and names between the lines. */
function wordsOf(segments: readonly Segment[], from: Place, to: Place): string {
  return segments
    .slice(from.index, to.index + 1)
    .map(({ text }, i) =>
      text.slice(i === 0 ? from.letter : 0, from.index + i === to.index ? to.letter : text.length).trim(),
    )
    .join(" ")
    .trim();
}
