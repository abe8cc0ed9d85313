import { Button } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Segment, Transcript } from "../../api/recording.ts";
import { useClipboard } from "../clipboard.ts";
import { usePlaybackState, useRecording } from "../context.ts";
import { colorsOf, segmentSpeakerKey } from "../speakers.ts";
import { segmentAt } from "./find.ts";
import { Row, type RowActions } from "./row.tsx";
import { SelectionToolbar } from "./selection.tsx";
import classes from "./transcript.module.css";
import type { Finding } from "./use-find.ts";
import { useFollow } from "./use-follow.ts";

export interface ListHandle {
  readonly firstShown: () => number;
  readonly show: (index: number) => void;
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
  onSpeaker: (segment: Segment) => void;
}) {
  const { transcript, finding, handle, onSpeaker } = props;
  const { segments } = transcript;
  const { view, hasMedia, goTo, onGoTo, makeClip } = useRecording();
  const copy = useClipboard();
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const [edited, setEdited] = useState<number | null>(null);
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
  const onRowKey = useRowKeys({ frame: list, virtualizer, segments, cursor, setCursor, setEdited });

  const { recording, can } = view;
  const actions = useMemo(
    (): RowActions => ({
      goTo: ({ start }) => goTo(start),
      clip: ({ start, end, text }) => makeClip({ startMs: start, endMs: end, text }),
      copyLink: ({ start }) => copy.link(recording.url, start),
      copyText: ({ start, speaker, text }) => copy.words([{ start, speaker, text }]),
      edit: can.edit_transcript ? ({ index }) => setEdited(index) : null,
      closeEdit: () => setEdited(null),
      speaker: can.edit_transcript ? onSpeaker : null,
      canClip: can.add_highlights,
      hasMedia,
    }),
    [goTo, makeClip, copy, recording.url, can.edit_transcript, can.add_highlights, onSpeaker, hasMedia],
  );
  const items = virtualizer.getVirtualItems();
  const isAbove = active >= 0 && active < (virtualizer.range?.startIndex ?? 0);
  return (
    <div className={classes.frame} ref={frame}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys come from the lines within. */}
      <div className={classes.list} ref={list} onKeyDown={onRowKey}>
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
                  isCursor={index === cursor || (items[0]?.index === index && !isShown(items, cursor))}
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
        onClip={can.add_highlights ? makeClip : null}
        onCopyLink={(ms) => copy.link(recording.url, ms)}
        onCopyText={(first, last, text) =>
          copy.words(
            first === last
              ? segments.slice(first, first + 1).map(({ start, speaker }) => ({ start, speaker, text }))
              : segments.slice(first, last + 1),
          )
        }
      />
      {hasMedia && !isFollowing ? (
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

function isShown(items: readonly { readonly index: number }[], index: number): boolean {
  return index >= (items[0]?.index ?? 0) && index <= (items.at(-1)?.index ?? 0);
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

/** Up and Down go from line to line, Home and End to the ends, E edits. */
function useRowKeys(props: {
  frame: RefObject<HTMLDivElement | null>;
  virtualizer: Virtualizer<HTMLDivElement, Element>;
  segments: readonly Segment[];
  cursor: number;
  setCursor: (index: number) => void;
  setEdited: (index: number) => void;
}) {
  const { view } = useRecording();
  const { frame, virtualizer, segments, setCursor, setEdited } = props;
  const focusTimer = useRef(0);
  useEffect(() => () => cancelAnimationFrame(focusTimer.current), []);
  const move = useCallback(
    (index: number): void => {
      setCursor(index);
      virtualizer.scrollToIndex(index, { align: "auto" });
      // A row that was off the screen comes into the document a few frames later.
      let tries = 0;
      const focus = (): void => {
        const row = frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-cursor]`);
        if (row) row.focus({ preventScroll: true });
        else if (tries++ < 30) focusTimer.current = requestAnimationFrame(focus);
      };
      cancelAnimationFrame(focusTimer.current);
      focusTimer.current = requestAnimationFrame(focus);
    },
    [virtualizer, frame, setCursor],
  );
  return (event: React.KeyboardEvent): void => {
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
    if (goal !== undefined) move(goal);
    else if (event.key.toLowerCase() === "e" && view.can.edit_transcript)
      setEdited(segments[index]?.index ?? index);
    else return;
    event.preventDefault();
  };
}
