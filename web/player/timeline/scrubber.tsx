import { useLingui } from "@lingui/react/macro";
import { DirectionProvider, Slider } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { fileQuery, type Storyboard, type Waveform } from "../../api/recording/recording.ts";
import { clock } from "../../common/format/time.ts";
import { lazyPart } from "../../common/load-part.tsx";
import { type MediaSource, usePlaybackState, usePlayerContext } from "../context.ts";
import classes from "../player.module.css";
import { percent, span } from "../span.ts";
import { StoryboardTile } from "./storyboard-tile.tsx";
import { WaveformPicture } from "./waveform.tsx";

/** Arrow keys move by this much, Page keys by six times as much. */
const stepMs = 5000;

/** Loaded for a recording that has any. */
const Markers = lazyPart(async () => (await import("./markers.tsx")).Markers, null);

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
      {player.chapters.length + player.markers.length + (player.comments?.marks.length ?? 0) > 0 ? (
        <Markers durationMs={durationMs} />
      ) : null}
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

/** Centered over the position, but within the bar. */
function previewPosition(share: number): { left: string } {
  return { left: `clamp(82px, ${percent(share)}, calc(100% - 82px))` };
}
