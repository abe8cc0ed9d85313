import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Paper } from "@mantine/core";
import { IconCopy, IconLink, IconScissors } from "@tabler/icons-react";
import { type RefObject, useEffect, useState } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { placeWords, type SegmentWords } from "../common/words.ts";
import { type ClipRange, clipOfLines, type Lines } from "./clip-range.ts";
import classes from "./transcript.module.css";

interface Selected extends ClipRange {
  readonly first: number;
  readonly last: number;
  /** Whether the times are those of words. */
  readonly hasExactStart: boolean;
  readonly hasExactEnd: boolean;
  /** The toolbar's position within the list; null for the bottom. */
  readonly position: { readonly top: number; readonly left: number } | null;
}

/** Where word times are estimated from the text, clips get a margin, within the selected lines. */
const marginMs = 500;
const toolbarHeight = 44;
const toolbarHalfWidth = 150;

/** Actions for the selected words or lines, next to the selection. */
export function SelectionToolbar(props: {
  list: RefObject<HTMLElement | null>;
  segments: readonly Segment[];
  words: SegmentWords;
  lines: Lines | null;
  /** Called after an action on the selected lines. */
  onLinesDone: () => void;
  onClip: ((range: ClipRange) => void) | null;
  onCopyLink: (ms: number) => void;
  onCopyText: (first: number, last: number, text: string) => void;
}) {
  const { t } = useLingui();
  const { list, segments, words, lines, onLinesDone, onClip, onCopyLink, onCopyText } = props;
  const [selectedWords, setSelected] = useState<Selected | null>(null);
  useEffect(() => {
    // The selection may still change while the pointer is down; it may have been pressed before this was loaded.
    let isDown = document.querySelector(":active") !== null;
    const read = (): void => setSelected(isDown ? null : readSelection(list.current, segments, words));
    const down = (): void => {
      isDown = true;
    };
    const up = (): void => {
      isDown = false;
      // The browser updates the selection after the event.
      setTimeout(read);
    };
    read();
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
  }, [list, segments, words]);
  const selected = lines === null ? selectedWords : ofLines(lines, segments);
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
      aria-label={lines === null ? t`Selected words` : t`Selected lines`}
      data-foot={selected.position === null || undefined}
      style={selected.position ?? {}}
      // Pressing a button must not clear the selection.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
    >
      <Group gap={2}>
        {onClip === null ? null : (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconScissors size={16} aria-hidden />}
            onClick={() => {
              done();
              onClip(lines === null ? withMargin(selected, segments) : selected);
            }}
          >
            <Trans context="verb">Clip</Trans>
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
          <Trans>Copy link</Trans>
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
          <Trans>Copy text</Trans>
        </Button>
      </Group>
    </Paper>
  );
}

function readSelection(
  list: HTMLElement | null,
  segments: readonly Segment[],
  words: SegmentWords,
): Selected | null {
  const selection = window.getSelection();
  if (list === null || selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!list.contains(range.startContainer) || !list.contains(range.endContainer)) return null;
  const [from, to] = [endpointOf(range, "start", segments, words), endpointOf(range, "end", segments, words)];
  if (from === null || to === null) return null;
  const text = wordsOf(segments, from, to);
  if (text === "") return null;
  const box = range.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  const above = box.top - frame.top - toolbarHeight - 6;
  // Phones show their own menu above the selection.
  const isAbove = above > 0 && !window.matchMedia("(pointer: coarse)").matches;
  const middle = box.left - frame.left + box.width / 2;
  const half = Math.min(toolbarHalfWidth, frame.width / 2 - 8);
  return {
    first: from.index,
    last: to.index,
    startMs: from.ms,
    endMs: to.ms,
    hasExactStart: from.isExact,
    hasExactEnd: to.isExact,
    text,
    position: {
      top: isAbove ? above : Math.min(frame.height - toolbarHeight - 8, box.bottom - frame.top + 8),
      left: Math.min(frame.width - half - 8, Math.max(half + 8, middle)),
    },
  };
}

/** Adds the margin, without reaching into the lines before or after. */
function withMargin(selected: Selected, segments: readonly Segment[]): Selected {
  const { first, last, startMs, endMs } = selected;
  const from = segments[first]?.start ?? 0;
  const until = segments[last + 1]?.start ?? Number.POSITIVE_INFINITY;
  return {
    ...selected,
    startMs: selected.hasExactStart ? startMs : Math.min(startMs, Math.max(from, startMs - marginMs)),
    endMs: selected.hasExactEnd ? endMs : Math.max(endMs, Math.min(until, endMs + marginMs)),
  };
}

function ofLines({ begin, end }: Lines, segments: readonly Segment[]): Selected | null {
  const [first, last] = [Math.min(begin, end), Math.max(begin, end)];
  const clip = clipOfLines(segments, first, last);
  return clip === null
    ? null
    : { ...clip, first, last, hasExactStart: true, hasExactEnd: true, position: null };
}

interface Endpoint {
  readonly index: number;
  /** Index in the segment's text. */
  readonly offset: number;
  readonly ms: number;
  /** Whether this is the time of a word. */
  readonly isExact: boolean;
}

/**
 * One end of a selection, extended to a word boundary, with the word's time or, where that is not known, a time estimated
 * from the offset in the text.
 * @returns null outside the lines.
 */
function endpointOf(
  range: Range,
  end: "start" | "end",
  segments: readonly Segment[],
  words: SegmentWords,
): Endpoint | null {
  const node = end === "start" ? range.startContainer : range.endContainer;
  const nodeOffset = end === "start" ? range.startOffset : range.endOffset;
  const element = node instanceof Element ? node : node.parentElement;
  const item = element?.closest<HTMLElement>("[data-index]");
  const index = Number(item?.dataset.index ?? Number.NaN);
  const segment = segments[index];
  if (segment === undefined) return null;
  const text = item?.querySelector("[data-text]");
  let offset = end === "start" ? 0 : segment.text.length;
  if (text?.contains(node)) {
    const before = document.createRange();
    before.setStart(text, 0);
    before.setEnd(node, nodeOffset);
    offset = wordBoundary(segment.text, before.toString().length, end);
  }
  const word = placeWords(segment, words?.[index]).find(
    ({ from, to }) => offset === (end === "start" ? from : to),
  );
  if (word !== undefined) return { index, offset, ms: word[end], isExact: true };
  const share = offset / Math.max(1, segment.text.length);
  const ms = Math.round(segment.start + share * (segment.end - segment.start));
  return { index, offset, ms, isExact: false };
}

/** Extends an offset to the boundary of its word. */
function wordBoundary(text: string, offset: number, end: "start" | "end"): number {
  let at = offset;
  const isWithin = (): boolean => /\S\S/.test(text.slice(at - 1, at + 1));
  while (at > 0 && at < text.length && isWithin()) at += end === "start" ? -1 : 1;
  return at;
}

/** The selected text, without times and speaker names. */
function wordsOf(segments: readonly Segment[], from: Endpoint, to: Endpoint): string {
  return segments
    .slice(from.index, to.index + 1)
    .map(({ text }, i) =>
      text.slice(i === 0 ? from.offset : 0, from.index + i === to.index ? to.offset : text.length).trim(),
    )
    .join(" ")
    .trim();
}
