import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Loader, Text, VisuallyHidden } from "@mantine/core";
import { useIdle } from "@mantine/hooks";
import { IconPlayerPlayFilled, IconRefresh } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { Transcript } from "../api/recording/recording.ts";
import { lazyPart } from "../common/load-part.tsx";
import { type SegmentWords, spokenRanges } from "../common/words.ts";
import { captionsOf } from "./captions.ts";
import { type MediaSource, usePlaybackState, usePlayerContext } from "./context.ts";
import { Controls } from "./controls.tsx";
import { CurrentLine } from "./current-line.tsx";
import classes from "./player.module.css";
import { Scrubber } from "./timeline/scrubber.tsx";

const ClipBar = lazyPart(async () => (await import("./clip-bar.tsx")).ClipBar, null);

/** The media element with custom controls. */
export function Player(props: {
  source: MediaSource;
  transcript: Transcript | undefined;
  /** The times of the transcript's words. */
  words?: SegmentWords;
  /** Refetches the media URLs. @returns the current one. */
  refreshSource: () => Promise<string | undefined>;
  /** Fills its container, with the controls over the video. */
  isFilling?: boolean;
  /** Shown above the video, and hidden with the controls. */
  head?: ReactNode;
  /** More buttons in the row of controls. */
  tools?: ReactNode;
}) {
  const { t } = useLingui();
  const { source, transcript, words = null, refreshSource, isFilling = false, head, tools } = props;
  useSpokenRanges(transcript, words);
  const hasClip = usePlaybackState((state) => state.clip !== null);
  const frame = useRef<HTMLDivElement>(null);
  const isOverlaid = isFilling && source.isVideo;
  return (
    <section
      className={classes.player}
      ref={frame}
      aria-label={t`Player`}
      data-player
      data-audio={source.isVideo ? undefined : true}
      data-filling={isFilling || undefined}
    >
      {isOverlaid ? <AutoHide frame={frame} /> : null}
      {head}
      <Stage source={source} transcript={transcript} words={words} refreshSource={refreshSource} />
      {hasClip ? <ClipBar /> : null}
      <div className={classes.below} {...(isOverlaid ? { "data-mantine-color-scheme": "dark" } : {})}>
        <Scrubber source={source} />
        <Controls frame={frame} isVideo={source.isVideo} tools={tools} />
      </div>
    </section>
  );
}

/** Controls over a playing video hide after this long without input. */
const idleMs = 2500;

function AutoHide({ frame }: { frame: RefObject<HTMLElement | null> }) {
  const isIdle = useIdle(idleMs, { initialState: false });
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  useEffect(() => {
    frame.current?.toggleAttribute("data-quiet", isIdle && isPlaying);
  }, [frame, isIdle, isPlaying]);
  return null;
}

/** Tells the playback when someone speaks, if it skips silence: a long recording has tens of thousands of words. */
function useSpokenRanges(transcript: Transcript | undefined, words: SegmentWords): void {
  const { playback } = usePlayerContext();
  const segments = usePlaybackState((state) => state.skipsSilence) ? transcript?.segments : undefined;
  useEffect(
    () => playback.setSpoken(segments === undefined ? [] : spokenRanges(segments, words)),
    [playback, segments, words],
  );
}

interface StageProps {
  readonly source: MediaSource;
  readonly transcript: Transcript | undefined;
  readonly words: SegmentWords;
  readonly refreshSource: () => Promise<string | undefined>;
}

function Stage({ source, transcript, words, refreshSource }: StageProps) {
  const { t } = useLingui();
  const { src, isVideo, poster } = source;
  const { title, playback } = usePlayerContext();
  const element = useRef<HTMLMediaElement | null>(null);
  const lastTry = useRef(Number.NEGATIVE_INFINITY);
  const hasFailed = usePlaybackState((state) => state.hasFailed);
  const hasCaptions = usePlaybackState((state) => state.hasCaptions);
  const track = useCaptions(isVideo && hasCaptions ? transcript : undefined, words);
  useEffect(() => (element.current === null ? undefined : playback.attach(element.current)), [playback]);
  useEffect(() => {
    // The browser resets the mode for each new track.
    for (const text of element.current?.textTracks ?? []) text.mode = track === null ? "disabled" : "showing";
  }, [track]);
  const mediaProps = {
    preload: "metadata",
    title,
    ...(src === undefined ? {} : { src }),
  } as const;
  return (
    <div className={isVideo ? classes.stage : classes.soundStage}>
      {isVideo ? (
        <>
          <video
            {...mediaProps}
            ref={element as RefObject<HTMLVideoElement>}
            className={classes.video}
            playsInline
            {...(poster === null ? {} : { poster })}
            onClick={playback.toggle}
          >
            {track === null ? null : (
              <track
                key={track}
                kind="captions"
                src={track}
                srcLang={transcript?.language ?? "und"}
                label={t`Transcript`}
                default
              />
            )}
          </video>
          {hasFailed ? null : <BigPlay />}
        </>
      ) : (
        <>
          <audio {...mediaProps} ref={element as RefObject<HTMLAudioElement>} />
          {hasCaptions ? <CurrentLine transcript={transcript} /> : null}
        </>
      )}
      {hasFailed ? <Failure lastTry={lastTry} src={src} refreshSource={refreshSource} /> : null}
      <Hint />
    </div>
  );
}

/** An object URL with the captions, replaced when the transcript changes. */
function useCaptions(transcript: Transcript | undefined, words: SegmentWords): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (transcript === undefined || transcript.segments.length === 0) return;
    const objectUrl = URL.createObjectURL(
      new Blob([captionsOf(transcript.segments, words)], { type: "text/vtt" }),
    );
    setUrl(objectUrl);
    return () => {
      setUrl(null);
      URL.revokeObjectURL(objectUrl);
    };
  }, [transcript, words]);
  return url;
}

function BigPlay() {
  const { t } = useLingui();
  const { playback } = usePlayerContext();
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  const isWaiting = usePlaybackState((state) => state.isPlaying && state.isWaiting);
  if (isWaiting)
    return <Loader className={classes.waiting ?? ""} color="white" role="img" aria-label={t`Loading`} />;
  if (isPlaying) return null;
  return (
    <ActionIcon
      className={classes.bigPlay ?? ""}
      variant="filled"
      radius="xl"
      size={64}
      // The controls below do the same for keyboard and screen reader.
      tabIndex={-1}
      aria-hidden
      onClick={playback.toggle}
    >
      <IconPlayerPlayFilled size={28} />
    </ActionIcon>
  );
}

/** A failure this soon after the last one is not caused by an expired URL. */
const retryAfterMs = 60_000;

/** URLs expire, so the first failure fetches a new one automatically; if that fails too, the user can try again. */
function Failure(props: {
  lastTry: RefObject<number>;
  src: string | undefined;
  refreshSource: () => Promise<string | undefined>;
}) {
  const { t } = useLingui();
  const { lastTry, src, refreshSource } = props;
  const { playback } = usePlayerContext();
  const [isTrying, setTrying] = useState(() => performance.now() - lastTry.current > retryAfterMs);
  const again = useRef<() => Promise<void>>(async () => undefined);
  again.current = async () => {
    lastTry.current = performance.now();
    setTrying(true);
    const now = await refreshSource();
    setTrying(false);
    if (now !== src) playback.keepPosition();
    else playback.reload();
  };
  const isFirst = useRef(isTrying);
  useEffect(() => {
    if (isFirst.current) void again.current();
    isFirst.current = false;
  }, []);
  if (isTrying)
    return <Loader className={classes.waiting ?? ""} color="gray" role="img" aria-label={t`Loading`} />;
  return (
    <div className={classes.failure} role="alert">
      <Text fw={600}>
        <Trans>Can't play this right now</Trans>
      </Text>
      <Text size="sm">
        <Trans>The connection was lost, or this browser doesn't support the format.</Trans>
      </Text>
      <Group mt="sm">
        <Button
          size="xs"
          variant="white"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => again.current()}
        >
          <Trans>Try again</Trans>
        </Button>
      </Group>
    </div>
  );
}

/** Shows what a shortcut just did. */
function Hint() {
  const hint = usePlaybackState((state) => state.hint);
  return (
    <>
      {hint === null ? null : (
        <span key={hint.number} className={classes.hint} aria-hidden>
          {hint.text}
        </span>
      )}
      <VisuallyHidden role="status">{hint?.text ?? ""}</VisuallyHidden>
    </>
  );
}
