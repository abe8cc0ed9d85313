import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { DirectionProvider, Slider, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { fileQuery, type Storyboard, type Waveform } from "../api/recording/recording.ts";
import { clock } from "../common/format/time.ts";
import { type MediaSource, usePlaybackState, usePlayerContext } from "./context.ts";
import classes from "./player.module.css";
import { StoryboardTile } from "./storyboard-tile.tsx";
import { WaveformPicture } from "./waveform.tsx";

/** Arrow keys move by this much, Page keys by six times as much. */
const stepMs = 5000;

const maxCommentMarkers = 150;

/** The seek bar: position, buffered ranges, highlights, and a preview on hover. */
export function Scrubber({ source }: { source: MediaSource }) {
  const { t } = useLingui();
  const { isVideo } = source;
  const { id, playback, ...player } = usePlayerContext();
  const [pointerMs, setPointerMs] = useState<number | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const strip = useRef<HTMLDivElement>(null);
  const timeMs = usePlaybackState((state) => state.timeMs);
  const durationMs = usePlaybackState((state) => state.durationMs) || player.durationMs;
  const buffered = usePlaybackState((state) => state.buffered);
  const storyboard = useQuery(fileQuery<Storyboard>(id, "storyboard", source.storyboard?.index_url));
  const waveform = useQuery(fileQuery<Waveform>(id, "waveform", isVideo ? null : source.waveformUrl));
  const previewMs = pointerMs ?? (hasFocus ? timeMs : null);

  const positionAt = (clientX: number): number => {
    const box = strip.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return 0;
    return Math.min(1, Math.max(0, (clientX - box.left) / box.width)) * durationMs;
  };
  const onKey = (event: React.KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowLeft: -stepMs,
      ArrowDown: -stepMs,
      ArrowRight: stepMs,
      ArrowUp: stepMs,
      PageDown: -6 * stepMs,
      PageUp: 6 * stepMs,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const step = steps[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    playback.seek(Math.min(durationMs, Math.max(0, timeMs + step)));
  };
  return (
    <div
      className={isVideo ? classes.scrubber : classes.soundScrubber}
      ref={strip}
      // Time runs from left to right in every language.
      dir="ltr"
      onPointerMove={(event) => event.pointerType !== "touch" && setPointerMs(positionAt(event.clientX))}
      onPointerLeave={() => setPointerMs(null)}
      onKeyDownCapture={onKey}
    >
      {isVideo ? null : (
        <WaveformPicture waveform={waveform.data} playedShare={Math.min(1, timeMs / durationMs)} />
      )}
      <div className={classes.rail}>
        {buffered.map(([start, end]) => (
          <span key={start} className={classes.buffered} style={span(start, end, durationMs)} />
        ))}
      </div>
      <DirectionProvider initialDirection="ltr" detectDirection={false}>
        <Slider
          className={classes.slider ?? ""}
          classNames={{ track: classes.track ?? "", bar: classes.bar ?? "", thumb: classes.thumb ?? "" }}
          min={0}
          max={Math.max(1, Math.round(durationMs))}
          step={1}
          value={Math.round(Math.min(timeMs, durationMs))}
          onChange={playback.seek}
          label={null}
          size={6}
          thumbSize={16}
          thumbLabel={t`Seek`}
          thumbValueText={t`${{ time: clock(timeMs) }} of ${{ length: clock(durationMs) }}`}
          thumbProps={{ onFocus: () => setFocus(true), onBlur: () => setFocus(false) }}
        />
      </DirectionProvider>
      <Markers durationMs={durationMs} />
      {previewMs === null ? null : (
        <div className={classes.preview} style={previewPosition(previewMs / durationMs)} aria-hidden>
          <StoryboardTile
            storyboard={storyboard.data}
            sheets={source.storyboard?.sheets}
            ms={previewMs}
            maxWidth={160}
          />
          <span className={classes.previewTime}>{clock(previewMs)}</span>
        </div>
      )}
    </div>
  );
}

/** A marker above the seek bar for each chapter, highlight and comment. */
function Markers({ durationMs }: { durationMs: number }) {
  const { markers, chapters, comments, playback } = usePlayerContext();
  // Comments that would cover each other share a marker.
  const near = Map.groupBy(comments?.marks ?? [], ({ timestamp }) =>
    Math.floor((timestamp / durationMs) * maxCommentMarkers),
  );
  const all = [
    ...chapters.map(({ title, start }) => ({
      kind: "chapter",
      ...{ text: title, start, end: start, onClick: () => playback.seek(start) },
    })),
    ...markers.map(({ text, timestamp: start, duration }) => ({
      kind: "highlight",
      ...{ text, start, end: start + duration },
      onClick: () => playback.playClip({ text, startMs: start, endMs: start + duration }),
    })),
    ...[...near.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : {
            kind: "comment",
            text:
              others.length === 0
                ? first.text
                : plural({ count: others.length + 1 }, { one: "# comment", other: "# comments" }),
            ...{ start: first.timestamp, end: first.timestamp },
            onClick: () => {
              playback.seek(first.timestamp);
              comments?.open(first.id);
            },
          },
    ),
  ];
  return (
    <div className={classes.markers} aria-hidden>
      {all.map(({ kind, text, start, end, onClick }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: highlights may be equal.
        <Tooltip key={i} withinPortal={false} label={`${clock(start)} · ${text}`} multiline maw={280}>
          {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: too small for keyboard focus; the lists of chapters, highlights and comments do the same. */}
          <span
            className={classes.marker}
            style={span(start, end, durationMs)}
            data-marker={kind}
            onClick={onClick}
          />
        </Tooltip>
      ))}
    </div>
  );
}

function span(start: number, end: number, durationMs: number): { left: string; width: string } {
  return { left: percent(start / durationMs), width: percent((end - start) / durationMs) };
}

/** Centered over the position, but within the bar. */
function previewPosition(share: number): { left: string } {
  return { left: `clamp(82px, ${percent(share)}, calc(100% - 82px))` };
}

function percent(share: number): string {
  return `${(Math.min(1, Math.max(0, share)) * 100).toFixed(3)}%`;
}
