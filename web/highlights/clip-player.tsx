import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Loader, Slider, Text } from "@mantine/core";
import {
  IconBadgeCc,
  IconBadgeCcFilled,
  IconMaximize,
  IconMinimize,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconVolume,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { type HighlightBody, highlightQuery, mediaQuery } from "../api/highlights.ts";
import { clock, lengthInWords } from "../common/format/time.ts";
import { toggleFullScreen, useIsFullScreen } from "../player/full-screen.ts";
import { type Preferences, readPreferences, writePreferences } from "../player/preferences.ts";
import { SpeedMenu, Tool, VolumeControl } from "../player/tools.tsx";
import classes from "./highlights.module.css";
import { useCaptions } from "./use-captions.ts";

interface PlayerProps {
  readonly highlight: Pick<HighlightBody, "id" | "recording_id" | "text" | "timestamp" | "duration"> & {
    readonly thumbnail_url: string | null;
  };
  /** Plays immediately, if the browser allows it before a click. */
  readonly autoPlay?: boolean;
  /** Milliseconds from the start of the clip. */
  readonly onPosition?: (ms: number) => void;
  readonly onEnded?: () => void;
}

/** Plays a highlight's range of its recording; without media it shows the transcript. */
export function ClipPlayer(props: PlayerProps) {
  const { t } = useLingui();
  const { highlight } = props;
  const media = useQuery(mediaQuery(highlight.recording_id));
  if (media.isPending)
    return (
      <div className={classes.screen}>
        <Loader role="img" aria-label={t`Loading clip`} />
      </div>
    );
  if (media.isError)
    return (
      <div className={classes.screen} role="alert">
        <Text c="inherit">{media.error.message}</Text>
      </div>
    );
  const file = media.data.media;
  return file === null ? (
    <TranscriptClip {...props} />
  ) : (
    <Player key={highlight.id} {...props} url={file.url} isVideo={file.content_type === "video/mp4"} />
  );
}

function Player({
  highlight,
  autoPlay = false,
  onPosition,
  onEnded,
  url,
  isVideo,
}: PlayerProps & { url: string; isVideo: boolean }) {
  const { t } = useLingui();
  const { timestamp, duration } = highlight;
  const element = useRef<HTMLVideoElement>(null);
  const [position, setPosition] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const captions = useCaptions(highlight.recording_id);
  const frame = useRef<HTMLDivElement>(null);
  const { preferences, prefer } = usePreferences(element, captions);
  const hasEnded = useRef(false);
  const seek = (ms: number) => {
    hasEnded.current = false;
    setPosition(ms);
    onPosition?.(ms);
    if (element.current !== null) element.current.currentTime = (timestamp + ms) / 1000;
  };
  const follow = () => {
    const video = element.current;
    if (video === null || video.seeking) return;
    const at = Math.min(duration, Math.max(0, video.currentTime * 1000 - timestamp));
    setPosition(at);
    onPosition?.(at);
    if ((at < duration && !video.ended) || hasEnded.current) return;
    hasEnded.current = true;
    video.pause();
    onEnded?.();
  };
  useEveryFrame(isPlaying, follow);
  const toggle = () => {
    const video = element.current;
    if (video === null) return;
    if (!video.paused) return video.pause();
    if (position >= duration - 50) seek(0);
    // Refused by the browser or interrupted by a pause: the button already shows the paused state.
    void video.play().catch(() => undefined);
  };
  return (
    <div ref={frame} className={classes.player}>
      {isBroken ? (
        <div className={classes.screen} role="alert">
          <Text c="inherit">
            <Trans>This browser can't play the clip.</Trans>
          </Text>
        </div>
      ) : (
        <div className={classes.screen} data-audio={!isVideo || undefined}>
          {isVideo ? null : <IconVolume size={56} stroke={1.2} aria-hidden />}
          <video
            ref={element}
            src={url}
            poster={isVideo ? (highlight.thumbnail_url ?? undefined) : undefined}
            preload="metadata"
            playsInline
            aria-label={highlight.text}
            onClick={toggle}
            onLoadedMetadata={(event) => {
              event.currentTarget.currentTime = timestamp / 1000;
              if (autoPlay) void event.currentTarget.play().catch(() => undefined);
            }}
            onPlay={() => setPlaying(true)}
            onPause={() => setPlaying(false)}
            onEnded={follow}
            onError={() => setBroken(true)}
          >
            <track kind="captions" src={captions} label={t`Transcript`} />
          </video>
        </div>
      )}
      <Group gap="sm" wrap="nowrap" className={classes.controls ?? ""}>
        <ActionIcon
          variant="filled"
          radius="xl"
          size="lg"
          aria-label={isPlaying ? t`Pause` : t`Play`}
          onClick={toggle}
        >
          {isPlaying ? <IconPlayerPauseFilled size={18} /> : <IconPlayerPlayFilled size={18} />}
        </ActionIcon>
        <Slider
          className={classes.grow ?? ""}
          size="sm"
          min={0}
          max={duration}
          step={100}
          value={position}
          onChange={seek}
          label={clock(position)}
          thumbLabel={t`Position in the clip of ${{ length: lengthInWords(duration) }}`}
        />
        <Text size="sm" style={{ flex: "none", fontVariantNumeric: "tabular-nums" }}>
          {clock(position)} / {clock(duration)}
        </Text>
        <ClipTools
          preferences={preferences}
          prefer={prefer}
          hasCaptions={isVideo && captions !== undefined}
          frame={isVideo ? frame : null}
        />
      </Group>
    </div>
  );
}

/** The settings of all players on this device, applied to a media element. */
function usePreferences(element: RefObject<HTMLVideoElement | null>, captions: string | undefined) {
  const [preferences, setPreferences] = useState(readPreferences);
  const { rate, volume, isMuted, hasCaptions } = preferences;
  // biome-ignore lint/correctness/useExhaustiveDependencies: loading the captions resets their mode.
  useEffect(() => {
    const video = element.current;
    if (video === null) return;
    // Loading resets the rate to the default.
    video.defaultPlaybackRate = rate;
    video.playbackRate = rate;
    video.volume = volume;
    video.muted = isMuted;
    for (const track of video.textTracks) track.mode = hasCaptions ? "showing" : "disabled";
  }, [element, rate, volume, isMuted, hasCaptions, captions]);
  const prefer = (change: Partial<Preferences>): void => {
    const next = { ...preferences, ...change };
    setPreferences(next);
    writePreferences(next);
  };
  return { preferences, prefer };
}

function ClipTools(props: {
  preferences: Preferences;
  prefer: (change: Partial<Preferences>) => void;
  hasCaptions: boolean;
  /** What full screen shows; null for sound. */
  frame: RefObject<HTMLDivElement | null> | null;
}) {
  const { t } = useLingui();
  const { preferences, prefer, hasCaptions, frame } = props;
  const { rate, volume, isMuted } = preferences;
  const isFullScreen = useIsFullScreen();
  return (
    <Group gap={2} wrap="nowrap">
      <VolumeControl
        volume={volume}
        isMuted={isMuted}
        onVolume={(value) => prefer({ volume: value, isMuted: value === 0 })}
        onToggleMute={() =>
          prefer({ isMuted: !isMuted, ...(isMuted && volume === 0 ? { volume: 0.5 } : {}) })
        }
      />
      <SpeedMenu rate={rate} onRate={(value) => prefer({ rate: value })} />
      {hasCaptions ? (
        <Tool
          label={preferences.hasCaptions ? t`Hide captions` : t`Show captions`}
          onClick={() => prefer({ hasCaptions: !preferences.hasCaptions })}
        >
          {preferences.hasCaptions ? <IconBadgeCcFilled size={20} /> : <IconBadgeCc size={20} stroke={1.6} />}
        </Tool>
      ) : null}
      {frame === null ? null : (
        <Tool
          label={isFullScreen ? t`Exit full screen` : t`Full screen`}
          onClick={() => toggleFullScreen(frame.current)}
        >
          {isFullScreen ? <IconMinimize size={20} stroke={1.6} /> : <IconMaximize size={20} stroke={1.6} />}
        </Tool>
      )}
    </Group>
  );
}

function TranscriptClip({ highlight }: PlayerProps) {
  const { t } = useLingui();
  const query = useQuery(highlightQuery(highlight.id));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={classes.written} tabIndex={0} aria-label={t`Transcript`}>
      {query.isPending ? (
        <Loader size="sm" role="img" aria-label={t`Loading`} />
      ) : (
        <Text style={{ whiteSpace: "pre-line" }}>{query.data?.transcript || t`No speech in this clip.`}</Text>
      )}
    </section>
  );
}

/** Calls `act` on each animation frame while `isOn`; `timeupdate` is too rare to stop a clip at its end. */
function useEveryFrame(isOn: boolean, act: () => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    if (!isOn) return;
    let frame = requestAnimationFrame(function tick() {
      latest.current();
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [isOn]);
}
