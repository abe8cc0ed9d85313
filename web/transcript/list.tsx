import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, VisuallyHidden } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ComponentType, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Segment, Transcript } from "../api/recording/recording.ts";
import { useClipboard } from "../common/clipboard.ts";
import { lazyPart } from "../common/load-part.tsx";
import { segmentAt } from "../common/segments.ts";
import { colorsOf, segmentSpeakerKey } from "../common/speakers.ts";
import { placeWords, type SegmentWords, wordAtOffset } from "../common/words.ts";
import { type PlayerContextValue, usePlaybackState, usePlayerContext } from "../player/context.ts";
import { type ClipRange, clipOfLines, type Lines } from "./clip-range.ts";
import { type EditorProps, Row, type RowActions } from "./row.tsx";
import classes from "./transcript.module.css";
import { useClipMarks } from "./use-clip-marks.ts";
import type { Finding } from "./use-find.ts";
import { useFollow } from "./use-follow.ts";
import { useSpokenWord } from "./use-spoken-word.ts";

const SelectionToolbar = lazyPart(
  async () => (await import("./selection-toolbar.tsx")).SelectionToolbar,
  null,
);

export interface ListHandle {
  readonly firstShown: () => number;
  readonly show: (index: number) => void;
}

/** Editing tools for lines; each is null for users without the permission. */
export interface LineTools {
  readonly clip: ((range: ClipRange) => void) | null;
  readonly speaker: ((segment: Segment) => void) | null;
  readonly Editor: ComponentType<EditorProps> | null;
  /** `index` of the segment with unsaved text; its editor is open initially. */
  readonly unsaved: number | null;
}

/** Rows rendered beyond the visible ones. */
const overscan = 8;
const lineHeight = 24;
const rowPadding = 14;
const headHeight = 30;

/** The lines of a transcript, virtualized: only visible ones are in the document. */
export function TranscriptList(props: {
  transcript: Transcript;
  words: SegmentWords;
  finding: Finding;
  handle: RefObject<ListHandle | null>;
  tools: LineTools;
}) {
  const { t } = useLingui();
  const { transcript, words, finding, handle, tools } = props;
  const { clip, speaker, Editor } = tools;
  const { segments } = transcript;
  const { hasMedia, goTo, onGoTo, copyLink, chapters, comments } = usePlayerContext();
  const commented = useMemo(
    () => Map.groupBy(comments?.marks ?? [], ({ timestamp }) => Math.max(0, segmentAt(segments, timestamp))),
    [segments, comments],
  );
  const headings = useMemo(() => headingsOf(segments, chapters), [segments, chapters]);
  const copy = useClipboard();
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const [edited, setEdited] = useState<number | null>(tools.unsaved);
  const [lines, setLines] = useState<Lines | null>(null);
  const isPlaying = usePlaybackState((state) => state.isPlaying);
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
      return (
        lines * lineHeight +
        rowPadding +
        (isFirst(index) ? headHeight : 0) +
        (headings.has(index) ? headHeight : 0)
      );
    },
    overscan,
    // A guess for the first rendering, so that measuring the list adds few lines to it.
    initialRect: { width: 400, height: 500 },
    // The focused line must not be hidden by the floating button (WCAG 2.4.11).
    scrollPaddingEnd: 64,
    // The focusable row stays in the document when scrolled out of view.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return shown.includes(cursor) || cursor >= range.count
        ? shown
        : [...shown, cursor].sort((a, b) => a - b);
    },
  });
  const { isFollowing, setFollowing } = useFollow(list, virtualizer, active, hasMedia);
  useHandle(handle, virtualizer, setFollowing);
  const hasSelection = useHasSelection(list);
  useSpokenWord(list, segments, words);
  useClipMarks(list, segments, words);
  const unsavedRow = segments.findIndex(({ index }) => index === tools.unsaved);
  useInitialScroll({ virtualizer, active, unsavedRow, setFollowing, isOn: !hasMedia });
  useEffect(
    () =>
      onGoTo((ms) => {
        const index = Math.max(0, segmentAt(segments, ms));
        setCursor(index);
        setFollowing(hasMedia);
        // While following, the list scrolls automatically.
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

  // A reference: the words arrive after the lines, which need not be rendered again for them.
  const latestWords = useRef(words);
  latestWords.current = words;
  const actions = useMemo(
    (): RowActions => ({
      goTo: ({ start }) => goTo(start),
      goToWord: (segment, offset) => {
        const placed = placeWords(segment, latestWords.current?.[segments.indexOf(segment)]);
        const word = wordAtOffset(placed, offset);
        goTo(word?.start ?? segment.start);
      },
      clip: (segment) => {
        const index = segments.indexOf(segment);
        const range = clipOfLines(segments, index, index);
        if (range !== null) clip?.(range);
      },
      copyLink: ({ start }) => copyLink(start),
      copyText: (line) => copy.words([line]),
      edit: Editor === null ? null : ({ index }) => setEdited(index),
      Editor,
      closeEdit: () => setEdited(null),
      openComment: comments?.open,
      speaker,
      canClip: clip !== null,
      hasMedia,
    }),
    [goTo, clip, copy, copyLink, comments?.open, Editor, segments, speaker, hasMedia],
  );
  const items = virtualizer.getVirtualItems();
  const { startIndex, endIndex } = virtualizer.range ?? { startIndex: 0, endIndex: 0 };
  const isCursorNear = cursor >= startIndex - overscan && cursor <= endIndex + overscan;
  const isAbove = active >= 0 && active < startIndex;
  return (
    <div className={classes.frame} ref={frame}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles key events of the lines inside. */}
      <div className={classes.list} ref={list} onKeyDown={onRowKey} data-moving>
        {/* biome-ignore lint/a11y/noRedundantRoles: some screen readers ignore lists without markers. */}
        <ol role="list" aria-label={t`Transcript`} style={{ height: virtualizer.getTotalSize() }}>
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
                  heading={headings.get(index)}
                  comments={commented.get(index)}
                  isFirst={isFirst(index)}
                  color={colors.get(segmentSpeakerKey(segment)) ?? "indigo"}
                  isActive={index === active}
                  isSelected={lines !== null && (index - lines.begin) * (index - lines.end) <= 0}
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
      {hasSelection || lines !== null ? (
        <SelectionToolbar
          list={frame}
          segments={segments}
          words={words}
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
      ) : null}
      <VisuallyHidden role="status">
        {lines === null
          ? ""
          : plural(
              { count: Math.abs(lines.end - lines.begin) + 1 },
              { one: "# line selected", other: "# lines selected" },
            )}
      </VisuallyHidden>
      {isPlaying && !isFollowing && lines === null ? (
        <Button
          className={classes.follow ?? ""}
          size="xs"
          radius="xl"
          leftSection={
            isAbove ? <IconArrowUp size={16} aria-hidden /> : <IconArrowDown size={16} aria-hidden />
          }
          onClick={() => setFollowing(true)}
        >
          <Trans>Follow</Trans>
        </Button>
      ) : null}
    </div>
  );
}

/** Whether anything in an element has been selected. */
function useHasSelection(element: RefObject<HTMLElement | null>): boolean {
  const [hasSelection, setSelection] = useState(false);
  useEffect(() => {
    const read = (): void => {
      if (element.current?.contains(window.getSelection()?.anchorNode ?? null)) setSelection(true);
    };
    document.addEventListener("selectionchange", read);
    return () => document.removeEventListener("selectionchange", read);
  }, [element]);
  return hasSelection;
}

/** The chapters' titles, by the line above which each stands: the first one that starts in the chapter. */
function headingsOf(
  segments: readonly Segment[],
  chapters: PlayerContextValue["chapters"],
): Map<number, string> {
  const headings = new Map<number, string>();
  let index = 0;
  for (const { title, start } of chapters) {
    while (index < segments.length - 1 && (segments[index]?.start ?? 0) < start) index += 1;
    const other = headings.get(index);
    headings.set(index, other === undefined ? title : `${other} · ${title}`);
  }
  return headings;
}

/** Scrolls once to the URL's position, unless playback is followed, or to the line with unsaved text. */
function useInitialScroll(props: {
  virtualizer: Virtualizer<HTMLDivElement, Element>;
  active: number;
  /** -1: none. */
  unsavedRow: number;
  setFollowing: (isFollowing: boolean) => void;
  isOn: boolean;
}): void {
  const { virtualizer, active, unsavedRow, setFollowing, isOn } = props;
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current) return;
    isDone.current = true;
    if (active <= 0 && unsavedRow >= 0) {
      setFollowing(false);
      virtualizer.scrollToIndex(unsavedRow, { align: "center" });
    } else if (isOn && active > 0) virtualizer.scrollToIndex(active, { align: "center" });
  }, [virtualizer, active, unsavedRow, setFollowing, isOn]);
}

/** Lets the search bar scroll the list. */
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

/** Up, Down, Home and End move between lines; with Shift they select lines. E edits. */
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
    // Synchronous, so that the next key event sees the new focus.
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
