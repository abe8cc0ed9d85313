import { ActionIcon, Button, Group, Loader, Text, VisuallyHidden } from "@mantine/core";
import { useIdle } from "@mantine/hooks";
import { IconPlayerPlayFilled, IconRefresh } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { Transcript } from "../../api/recording.ts";
import { type Film, usePlaybackState, useWatching } from "../watching.ts";
import { captionsOf } from "./captions.ts";
import { ClipBar } from "./clip-bar.tsx";
import { Controls } from "./controls.tsx";
import classes from "./player.module.css";
import { Scrubber } from "./scrubber.tsx";
import { SpokenLine } from "./spoken-line.tsx";

/** The element that plays, with controls of our own around it. */
export function Player(props: {
  film: Film;
  transcript: Transcript | undefined;
  /** Asks for new addresses. @returns the one that plays now. */
  renew: () => Promise<string | undefined>;
  /** Takes all of the place there is, with its controls over the picture. */
  isFilling?: boolean;
  /** What stands over the picture, and goes with the controls. */
  head?: ReactNode;
  /** More buttons in the row of controls. */
  tools?: ReactNode;
}) {
  const { film, transcript, renew, isFilling = false, head, tools } = props;
  const frame = useRef<HTMLDivElement>(null);
  const isLaidOver = isFilling && film.isVideo;
  return (
    <section
      className={classes.player}
      ref={frame}
      aria-label="Player"
      data-audio={film.isVideo ? undefined : true}
      data-filling={isFilling || undefined}
    >
      {isLaidOver ? <Quiet frame={frame} /> : null}
      {head}
      <Stage film={film} transcript={transcript} renew={renew} />
      <ClipBar />
      <div className={classes.below} {...(isLaidOver ? { "data-mantine-color-scheme": "dark" } : {})}>
        <Scrubber film={film} />
        <Controls frame={frame} isVideo={film.isVideo} tools={tools} />
      </div>
    </section>
  );
}

/** Controls over a picture go when it plays and nobody moves. */
const restlessMs = 2500;

function Quiet({ frame }: { frame: RefObject<HTMLElement | null> }) {
  const isIdle = useIdle(restlessMs, { initialState: false });
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  useEffect(() => {
    frame.current?.toggleAttribute("data-quiet", isIdle && isPlaying);
  }, [frame, isIdle, isPlaying]);
  return null;
}

interface StageProps {
  readonly film: Film;
  readonly transcript: Transcript | undefined;
  readonly renew: () => Promise<string | undefined>;
}

function Stage({ film, transcript, renew }: StageProps) {
  const { src, isVideo, poster } = film;
  const { title, playback } = useWatching();
  const element = useRef<HTMLMediaElement | null>(null);
  const lastTry = useRef(Number.NEGATIVE_INFINITY);
  const hasFailed = usePlaybackState((state) => state.hasFailed);
  const hasCaptions = usePlaybackState((state) => state.hasCaptions);
  const track = useCaptions(isVideo && hasCaptions ? transcript : undefined);
  useEffect(() => (element.current === null ? undefined : playback.attach(element.current)), [playback]);
  useEffect(() => {
    // A track is shown by its mode, which the element decides anew for each new track.
    for (const text of element.current?.textTracks ?? []) text.mode = track === null ? "disabled" : "showing";
  }, [track]);
  const shared = {
    preload: "metadata",
    title,
    ...(src === undefined ? {} : { src }),
  } as const;
  return (
    <div className={isVideo ? classes.stage : classes.soundStage}>
      {isVideo ? (
        <>
          <video
            {...shared}
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
                label="Transcript"
                default
              />
            )}
          </video>
          {hasFailed ? null : <BigPlay />}
        </>
      ) : (
        <>
          <audio {...shared} ref={element as RefObject<HTMLAudioElement>} />
          {hasCaptions ? <SpokenLine transcript={transcript} /> : null}
        </>
      )}
      {hasFailed ? <Failure lastTry={lastTry} src={src} renew={renew} /> : null}
      <Hint />
    </div>
  );
}

/** The captions as an address that a track can load; made anew when the transcript changes. */
function useCaptions(transcript: Transcript | undefined): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (transcript === undefined || transcript.segments.length === 0) return;
    const made = URL.createObjectURL(new Blob([captionsOf(transcript.segments)], { type: "text/vtt" }));
    setAddress(made);
    return () => {
      setAddress(null);
      URL.revokeObjectURL(made);
    };
  }, [transcript]);
  return address;
}

function BigPlay() {
  const { playback } = useWatching();
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  const isWaiting = usePlaybackState((state) => state.isPlaying && state.isWaiting);
  if (isWaiting)
    return <Loader className={classes.waiting ?? ""} color="white" role="img" aria-label="Loading" />;
  if (isPlaying) return null;
  return (
    <ActionIcon
      className={classes.bigPlay ?? ""}
      variant="filled"
      radius="xl"
      size={64}
      // The controls below have the same for keyboard and screen reader.
      tabIndex={-1}
      aria-hidden
      onClick={playback.toggle}
    >
      <IconPlayerPlayFilled size={28} />
    </ActionIcon>
  );
}

/** A failure sooner after the last one than this is not that of a link that expired. */
const restMs = 60_000;

/** Links to the file expire: a failure gets a fresh one by itself, but what fails again at once asks the person. */
function Failure(props: {
  lastTry: RefObject<number>;
  src: string | undefined;
  renew: () => Promise<string | undefined>;
}) {
  const { lastTry, src, renew } = props;
  const { playback } = useWatching();
  const [isTrying, setTrying] = useState(() => performance.now() - lastTry.current > restMs);
  const again = useRef<() => Promise<void>>(async () => undefined);
  again.current = async () => {
    lastTry.current = performance.now();
    setTrying(true);
    const now = await renew();
    setTrying(false);
    if (now !== src) playback.keepPlace();
    else playback.reload();
  };
  const isFirst = useRef(isTrying);
  useEffect(() => {
    if (isFirst.current) again.current();
    isFirst.current = false;
  }, []);
  if (isTrying)
    return <Loader className={classes.waiting ?? ""} color="gray" role="img" aria-label="Loading" />;
  return (
    <div className={classes.failure} role="alert">
      <Text fw={600}>This can't be played just now</Text>
      <Text size="sm">The connection was lost, or this browser doesn't know the format.</Text>
      <Group mt="sm">
        <Button
          size="xs"
          variant="white"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => again.current()}
        >
          Try again
        </Button>
      </Group>
    </div>
  );
}

/** What a key just did. */
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
