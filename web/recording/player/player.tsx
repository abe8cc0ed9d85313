import { ActionIcon, Button, Group, Loader, Text, VisuallyHidden } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPlayFilled, IconRefresh } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { mediaQuery, type Transcript } from "../../api/recording.ts";
import { ErrorState } from "../../common/states.tsx";
import { usePlaybackState, useRecording } from "../context.ts";
import { captionsOf } from "./captions.ts";
import { Controls } from "./controls.tsx";
import classes from "./player.module.css";
import { Scrubber } from "./scrubber.tsx";
import { SpokenLine } from "./spoken-line.tsx";

/** The element that plays, with controls of our own around it. */
export function Player({ transcript }: { transcript: Transcript | undefined }) {
  const { id, view } = useRecording();
  const media = useQuery(mediaQuery(id));
  const frame = useRef<HTMLDivElement>(null);
  const isVideo = view.media?.content_type === "video/mp4";
  if (media.isError && media.data === undefined)
    return <ErrorState error={media.error} retry={() => media.refetch()} />;
  if (media.data?.media === null)
    return (
      <div className={classes.message} role="alert">
        <IconAlertTriangle size={28} stroke={1.5} aria-hidden />
        <Text fw={600}>The file of this recording is missing</Text>
        <Text size="sm">Its transcript and everything else are here. Ask whoever runs this server.</Text>
      </div>
    );
  return (
    <section
      className={classes.player}
      ref={frame}
      aria-label="Player"
      data-audio={isVideo ? undefined : true}
    >
      <Stage src={media.data?.media?.url} isVideo={isVideo} transcript={transcript} />
      <Scrubber media={media.data} isVideo={isVideo} />
      <Controls frame={frame} isVideo={isVideo} />
    </section>
  );
}

function Stage(props: { src: string | undefined; isVideo: boolean; transcript: Transcript | undefined }) {
  const { src, isVideo, transcript } = props;
  const { view, playback } = useRecording();
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
    title: view.recording.title,
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
            {...(view.recording.thumbnail_url === null ? {} : { poster: view.recording.thumbnail_url })}
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
      {hasFailed ? <Failure lastTry={lastTry} /> : null}
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
  const { playback } = useRecording();
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  const isWaiting = usePlaybackState((state) => state.isPlaying && state.isWaiting);
  if (isWaiting) return <Loader className={classes.waiting ?? ""} color="white" aria-label="Loading" />;
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
function Failure({ lastTry }: { lastTry: RefObject<number> }) {
  const { id, playback } = useRecording();
  const client = useQueryClient();
  const [isTrying, setTrying] = useState(() => performance.now() - lastTry.current > restMs);
  const again = useRef<() => Promise<void>>(async () => undefined);
  again.current = async () => {
    lastTry.current = performance.now();
    setTrying(true);
    const before = client.getQueryData(mediaQuery(id).queryKey)?.media?.url;
    await client.refetchQueries({ queryKey: mediaQuery(id).queryKey });
    const now = client.getQueryData(mediaQuery(id).queryKey)?.media?.url;
    if (now !== before) playback.keepPlace();
    setTrying(false);
  };
  const isFirst = useRef(isTrying);
  useEffect(() => {
    if (isFirst.current) again.current();
    isFirst.current = false;
  }, []);
  if (isTrying) return <Loader className={classes.waiting ?? ""} color="gray" aria-label="Loading" />;
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
