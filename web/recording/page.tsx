import { Button, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconVideoOff } from "@tabler/icons-react";
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../api/client.ts";
import {
  recordingActions,
  recordingQuery,
  type Transcript,
  transcriptQuery,
  type View,
} from "../api/recording.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { useClipboard } from "./clipboard.ts";
import { type ClipRange, type PageContext, RecordingContext, useRecording } from "./context.ts";
import { ClipDialog } from "./dialogs.ts";
import { RecordingHeader } from "./header.tsx";
import { Panels } from "./panels/panels.tsx";
import { KeysHelp, useKeys } from "./player/keys.ts";
import { Lanes } from "./player/lanes.tsx";
import { createPlayback } from "./player/playback.ts";
import classes from "./recording.module.css";
import { RecordingPlayer } from "./recording-player.tsx";
import { RecordingSkeleton } from "./skeleton.tsx";
import { TranscriptPane } from "./transcript/transcript.tsx";
import { createMoments, WatchingContext } from "./watching.ts";

const page = getRouteApi("/signed-in/recordings/$recordingId");

/** One recording: watch, read, find, mark, share. */
export function RecordingPage() {
  const { recordingId } = page.useParams();
  // Another recording is another page: nothing of the one before may linger.
  return <OneRecording key={recordingId} id={recordingId} />;
}

function OneRecording({ id }: { id: string }) {
  const [isDeleted, setDeleted] = useState(false);
  const query = useQuery({ ...recordingQuery(id), enabled: !isDeleted });
  useTitle(query.data?.recording.title ?? "Recording");
  useLookAfterRefusal(id);
  const isGone =
    query.error instanceof ApiError && (query.error.status === 404 || query.error.status === 400);
  if (isGone && !isDeleted) return <Gone wasHere={query.data !== undefined} />;
  if (query.data === undefined)
    return query.isError ? (
      <ErrorState error={query.error} retry={() => query.refetch()} />
    ) : (
      <RecordingSkeleton />
    );
  return <Loaded id={id} view={query.data} onDeleted={() => setDeleted(true)} />;
}

/** Whatever was refused because the recording is not there any more: the page itself then says so. */
function useLookAfterRefusal(id: string): void {
  const client = useQueryClient();
  useEffect(
    () =>
      client.getMutationCache().subscribe(({ type, mutation }) => {
        const error = type === "updated" ? mutation.state.error : null;
        if (error instanceof ApiError && error.status === 404)
          client.invalidateQueries({ queryKey: recordingQuery(id).queryKey, exact: true });
      }),
    [client, id],
  );
}

function Gone({ wasHere }: { wasHere: boolean }) {
  return (
    <>
      <VisuallyHidden component="h1">Recording</VisuallyHidden>
      <EmptyState
        title={wasHere ? "This recording is gone" : "No such recording"}
        icon={<IconVideoOff size={30} stroke={1.5} />}
        action={
          <Button component={Link} to="/">
            To the library
          </Button>
        }
      >
        {wasHere
          ? "Somebody deleted it, or stopped sharing it with you."
          : "It was deleted, it was never shared with you, or the address is wrong."}
      </EmptyState>
    </>
  );
}

function Loaded({ id, view, onDeleted }: { id: string; view: View; onDeleted: () => void }) {
  const { t } = page.useSearch();
  const client = useQueryClient();
  const [playback] = useState(() => createPlayback(t === undefined ? undefined : t * 1000));
  const [clip, setClip] = useState<ClipRange | null>(null);
  const hasMedia = view.media !== null;
  const transcript = useQuery(transcriptQuery(id));
  const [moments] = useState(() => createMoments(playback));
  const copy = useClipboard();
  const context = useMemo(
    (): PageContext => ({
      id,
      view,
      actions: recordingActions(id),
      playback,
      hasMedia,
      makeClip: setClip,
      title: view.recording.title,
      durationMs: view.recording.duration_ms,
      hasWords: view.transcript.segments > 0,
      marks: view.recording.highlights ?? [],
      copyLink: (ms) => copy.link(view.recording.url, ms),
      ...moments,
    }),
    [id, view, playback, hasMedia, moments, copy],
  );
  // The view is looked at again and again; the transcript only when the view says that it changed.
  const { version } = view.transcript;
  const shown = transcript.data?.transcript_version;
  useEffect(() => {
    if (shown !== undefined && shown < version)
      client.invalidateQueries({ queryKey: transcriptQuery(id).queryKey });
  }, [client, id, shown, version]);
  // The address changed while the page was open: a link to another moment of the same recording.
  const before = useRef(t);
  useEffect(() => {
    if (before.current === t || t === undefined) return;
    before.current = t;
    context.goTo(t * 1000);
  }, [t, context]);
  return (
    <RecordingContext value={context}>
      <WatchingContext value={context}>
        <Layout transcript={transcript} onDeleted={onDeleted} />
        <ClipDialog clip={null} range={clip} onClose={() => setClip(null)} />
      </WatchingContext>
    </RecordingContext>
  );
}

type TranscriptResult = Pick<UseQueryResult<Transcript>, "data" | "error" | "refetch">;

function Layout({ transcript, onDeleted }: { transcript: TranscriptResult; onDeleted: () => void }) {
  const { hasMedia } = useRecording();
  const findField = useRef<HTMLInputElement>(null);
  const [tab, setTab] = useState<string | null>(null);
  const [isHelpOpen, help] = useDisclosure();
  const isWide = useMediaQuery("(min-width: 62em)", true, { getInitialValueInEffect: false });
  const hasTwoColumns = isWide && hasMedia;
  useKeys({
    onFind: () => {
      const select = (): void => {
        findField.current?.focus();
        findField.current?.select();
      };
      // Where the words have no column of their own, the field comes with their panel.
      flushSync(() => setTab("transcript"));
      select();
    },
    onHelp: help.open,
  });
  const words = (
    <TranscriptPane
      transcript={transcript.data}
      error={transcript.error}
      retry={() => transcript.refetch()}
      findField={findField}
    />
  );
  return (
    <div className={classes.page} data-filling={isWide || undefined}>
      <RecordingHeader onHelp={help.open} onDeleted={onDeleted} />
      <div className={hasTwoColumns ? classes.columns : classes.column}>
        <div className={classes.main}>
          {hasMedia ? (
            <div className={classes.player}>
              <RecordingPlayer transcript={transcript.data} />
            </div>
          ) : null}
          {transcript.data === undefined || transcript.data.segments.length === 0 ? null : (
            <div className={classes.lanes}>
              <Lanes transcript={transcript.data} />
            </div>
          )}
          <div className={classes.panels}>
            <Panels
              transcript={transcript.data}
              words={hasTwoColumns ? null : words}
              tab={tab}
              onTab={setTab}
            />
          </div>
        </div>
        {hasTwoColumns ? <div className={classes.words}>{words}</div> : null}
      </div>
      <KeysHelp isOpen={isHelpOpen} onClose={help.close} />
    </div>
  );
}
