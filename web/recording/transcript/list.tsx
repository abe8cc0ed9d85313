import { Button, VisuallyHidden } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ComponentType, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Segment, Transcript } from "../../api/recording.ts";
import { useClipboard } from "../clipboard.ts";
import type { ClipRange } from "../context.ts";
import { colorsOf, segmentSpeakerKey } from "../speakers.ts";
import { usePlaybackState, useWatching } from "../watching.ts";
import { segmentAt } from "./find.ts";
import { type EditorProps, Row, type RowActions } from "./row.tsx";
import { type Lines, SelectionToolbar } from "./selection.tsx";
import classes from "./transcript.module.css";
import type { Finding } from "./use-find.ts";
import { useFollow } from "./use-follow.ts";

export interface ListHandle {
  readonly firstShown: () => number;
  readonly show: (index: number) => void;
}

/** What can be done with lines beside reading and copying them; each null for whoever may not. */
export interface LineTools {
  readonly clip: ((range: ClipRange) => void) | null;
  readonly speaker: ((segment: Segment) => void) | null;
  readonly Editor: ComponentType<EditorProps> | null;
}

/** Rows beside those on the screen that are there already. */
const overscan = 8;
const lineHeight = 24;
const rowPadding = 14;
const headHeight = 30;

/** The lines of a transcript. Only those on the screen are in the document, however many there are. */
export function TranscriptList(props: {
  transcript: Transcript;
  finding: Finding;
  handle: RefObject<ListHandle | null>;
  tools: LineTools;
}) {
  const { transcript, finding, handle, tools } = props;
  const { clip, speaker, Editor } = tools;
  const { segments } = transcript;
  const { hasMedia, goTo, onGoTo, copyLink } = useWatching();
  const copy = useClipboard();
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const [edited, setEdited] = useState<number | null>(null);
  const [lines, setLines] = useState<Lines | null>(null);
  const active = usePlaybackState(({ timeMs }) => segmentAt(segments, timeMs));
  const colors = useMemo(() => colorsOf(transcript.speakers), [transcript]);
  const isFirst = (index: number): boolean => {
    const [segment, before] = [segments[index], segments[index - 1]];
    return (
      before === undefined ||
      segment === undefined ||
      segmentSpeakerKey(before) !== segmentSpeakerKey(segment)
    );
  };
  const virtualizer = useVirtualizer({
    count: segments.length,
    getScrollElement: () => list.current,
    estimateSize: (index) => {
      const letters = Math.max(20, ((list.current?.clientWidth ?? 400) - 110) / 7.6);
      const lines = Math.max(1, Math.ceil((segments[index]?.text.length ?? 0) / letters));
      return lines * lineHeight + rowPadding + (isFirst(index) ? headHeight : 0);
    },
    overscan,
    // The line with the focus is not to lie below what floats at the foot (WCAG 2.4.11).
    scrollPaddingEnd: 64,
    // It stays in the document wherever the list is scrolled, and can take the focus at once.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return shown.includes(cursor) || cursor >= range.count
        ? shown
        : [...shown, cursor].sort((a, b) => a - b);
    },
  });
  const { isFollowing, setFollowing } = useFollow(list, virtualizer, active, hasMedia);
  useHandle(handle, virtualizer, setFollowing);
  useBeginning(virtualizer, active, !hasMedia);
  useEffect(
    () =>
      onGoTo((ms) => {
        const index = Math.max(0, segmentAt(segments, ms));
        setCursor(index);
        setFollowing(hasMedia);
        // Followed, the list moves by itself; otherwise it is brought there once.
        if (!hasMedia) virtualizer.scrollToIndex(index, { align: "center" });
      }),
    [onGoTo, segments, hasMedia, virtualizer, setFollowing],
  );
  const { onRowKey, move } = useRowKeys({
    frame: list,
    virtualizer,
    segments,
    cursor,
    setCursor,
    setEdited: Editor === null ? null : setEdited,
    lines,
    setLines,
  });

  const actions = useMemo(
    (): RowActions => ({
      goTo: ({ start }) => goTo(start),
      clip: ({ start, end, text }) => clip?.({ startMs: start, endMs: end, text }),
      copyLink: ({ start }) => copyLink(start),
      copyText: (line) => copy.words([line]),
      edit: Editor === null ? null : ({ index }) => setEdited(index),
      Editor,
      closeEdit: () => setEdited(null),
      speaker,
      canClip: clip !== null,
      hasMedia,
    }),
    [goTo, clip, copy, copyLink, Editor, speaker, hasMedia],
  );
  const items = virtualizer.getVirtualItems();
  const { startIndex, endIndex } = virtualizer.range ?? { startIndex: 0, endIndex: 0 };
  const isCursorNear = cursor >= startIndex - overscan && cursor <= endIndex + overscan;
  const isAbove = active >= 0 && active < startIndex;
  return (
    <div className={classes.frame} ref={frame}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys come from the lines within. */}
      <div className={classes.list} ref={list} onKeyDown={onRowKey} data-moving>
        {/* biome-ignore lint/a11y/noRedundantRoles: a list without markers is none to some screen readers. */}
        <ol role="list" aria-label="Transcript" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const segment = segments[index];
            if (segment === undefined) return null;
            return (
              <li
                key={key}
                data-index={index}
                ref={virtualizer.measureElement}
                aria-posinset={index + 1}
                aria-setsize={segments.length}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row
                  segment={segment}
                  isFirst={isFirst(index)}
                  color={colors.get(segmentSpeakerKey(segment)) ?? "indigo"}
                  isActive={index === active}
                  isChosen={lines !== null && (index - lines.begin) * (index - lines.end) <= 0}
                  isCursor={index === (isCursorNear ? cursor : startIndex)}
                  hits={finding.bySegment.get(index)}
                  currentHit={finding.current?.index === index ? finding.current : null}
                  editedVersion={edited === segment.index ? transcript.transcript_version : null}
                  actions={actions}
                />
              </li>
            );
          })}
        </ol>
      </div>
      <SelectionToolbar
        list={frame}
        segments={segments}
        lines={lines}
        onLinesDone={() => {
          setLines(null);
          move(cursor);
        }}
        onClip={clip}
        onCopyLink={copyLink}
        onCopyText={(first, last, text) =>
          copy.words(
            first === last
              ? segments.slice(first, first + 1).map(({ start, speaker }) => ({ start, speaker, text }))
              : segments.slice(first, last + 1),
          )
        }
      />
      <VisuallyHidden role="status">
        {lines === null ? "" : `${Math.abs(lines.end - lines.begin) + 1} lines selected`}
      </VisuallyHidden>
      {hasMedia && !isFollowing && lines === null ? (
        <Button
          className={classes.follow ?? ""}
          size="xs"
          radius="xl"
          leftSection={
            isAbove ? <IconArrowUp size={16} aria-hidden /> : <IconArrowDown size={16} aria-hidden />
          }
          onClick={() => setFollowing(true)}
        >
          Follow
        </Button>
      ) : null}
    </div>
  );
}

/** Shows the moment of the address once, where nothing plays that would be followed. */
function useBeginning(
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  active: number,
  isOn: boolean,
): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current) return;
    isDone.current = true;
    if (isOn && active > 0) virtualizer.scrollToIndex(active, { align: "center" });
  }, [virtualizer, active, isOn]);
}

/** Lets the search beside the list move it. */
function useHandle(
  handle: RefObject<ListHandle | null>,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  setFollowing: (isFollowing: boolean) => void,
): void {
  useEffect(() => {
    handle.current = {
      firstShown: () => virtualizer.range?.startIndex ?? 0,
      show: (index) => {
        setFollowing(false);
        virtualizer.scrollToIndex(index, { align: "center" });
      },
    };
    return () => {
      handle.current = null;
    };
  }, [handle, virtualizer, setFollowing]);
}

/** Up and Down go from line to line, Home and End to the ends; with Shift they select the lines between. E edits. */
function useRowKeys(props: {
  frame: RefObject<HTMLDivElement | null>;
  virtualizer: Virtualizer<HTMLDivElement, Element>;
  segments: readonly Segment[];
  cursor: number;
  setCursor: (index: number) => void;
  setEdited: ((index: number) => void) | null;
  lines: Lines | null;
  setLines: (lines: Lines | null) => void;
}) {
  const { frame, virtualizer, segments, setCursor, setEdited, lines, setLines } = props;
  const move = (index: number): void => {
    // At once, so that the next key finds the focus where this one put it.
    flushSync(() => setCursor(index));
    const row = frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-cursor]`);
    row?.focus({ preventScroll: true });
    virtualizer.scrollToIndex(index, { align: "auto" });
  };
  const onRowKey = (event: React.KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest("input, textarea, [role=menu]") !== null) return;
    const item = target.closest<HTMLElement>("[data-index]");
    const index = Number(item?.dataset.index ?? props.cursor);
    const last = segments.length - 1;
    const goals: Record<string, number> = {
      ArrowDown: Math.min(last, index + 1),
      ArrowUp: Math.max(0, index - 1),
      Home: 0,
      End: last,
    };
    const goal = goals[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (goal !== undefined) {
      setLines(event.shiftKey ? { begin: lines?.begin ?? index, end: goal } : null);
      move(goal);
    } else if (event.key === "Escape" && lines !== null) setLines(null);
    else if (event.key.toLowerCase() === "e" && setEdited !== null)
      setEdited(segments[index]?.index ?? index);
    else return;
    event.preventDefault();
  };
  return { onRowKey, move };
}
