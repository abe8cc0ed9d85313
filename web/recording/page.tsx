import { useLingui } from "@lingui/react/macro";
import { useDisclosure } from "@mantine/hooks";
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../api/client/api-error.ts";
import { commentsQuery } from "../api/recording/comments.ts";
import {
  recordingActions,
  recordingQuery,
  type Transcript,
  transcriptQuery,
  type View,
} from "../api/recording/recording.ts";
import { useClipboard } from "../common/clipboard.ts";
import { latePart, lazyPart } from "../common/load-part.tsx";
import { momentOf, type RecordingTab } from "../common/recording-url.ts";
import { ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { useWider } from "../common/use-wider.ts";
import { createSeeking, PlayerContext } from "../player/context.ts";
import { createPlayback } from "../player/playback.ts";
import { ShortcutsHelp, useShortcuts } from "../player/shortcuts.ts";
import { SpeakerTimeline } from "../player/timeline/speaker-timeline.tsx";
import type { ClipRange } from "../transcript/clip-range.ts";
import { useLineStart } from "../transcript/use-line-start.ts";
import { type CommentTask, type PageContext, RecordingContext, useRecording } from "./context.ts";
import { ClipDialog } from "./dialogs.ts";
import { RecordingHeader } from "./header.tsx";
import { isOpen, markOf, threadsOf } from "./panels/comments/threads.ts";
import { Panels } from "./panels/panels.tsx";
import classes from "./recording.module.css";
import { RecordingPlayer } from "./recording-player.tsx";
import { RecordingSkeleton } from "./skeleton.tsx";
import { TranscriptPane } from "./transcript/pane.tsx";

const page = getRouteApi("/signed-in/recordings/$recordingId");

const Gone = lazyPart(async () => (await import("./gone.tsx")).Gone);

const MeetingQuestion = latePart(async () => (await import("./meeting/question.tsx")).MeetingQuestion);

const AskBox = latePart(async () => (await import("./ask-box.tsx")).RecordingAskBox);

/** The page of one recording: player, transcript and panels. */
export function RecordingPage() {
  const { recordingId } = page.useParams();
  // The key resets all state for another recording.
  return <OneRecording key={recordingId} id={recordingId} />;
}

function OneRecording({ id }: { id: string }) {
  const { t } = useLingui();
  const [isDeleted, setDeleted] = useState(false);
  const query = useQuery({ ...recordingQuery(id), enabled: !isDeleted });
  useTitle(query.data?.recording.title ?? t`Recording`);
  useRefetchAfterNotFound(id);
  // React renders so large a page in short tasks, between which the browser responds, while its skeleton is shown.
  const isReady = useDeferredValue(query.data !== undefined, false);
  const isGone =
    query.error instanceof ApiError && (query.error.status === 404 || query.error.status === 400);
  // Until the library is loaded: parts of the page would request what is gone.
  if (isDeleted) return null;
  if (isGone)
    return (
      <Gone
        wasHere={query.data !== undefined}
        // Not for URLs without a valid id.
        id={query.error instanceof ApiError && query.error.status === 404 ? id : null}
      />
    );
  if (query.data === undefined && query.isError)
    return <ErrorState error={query.error} retry={() => query.refetch()} />;
  if (query.data === undefined || !isReady) return <RecordingSkeleton />;
  return <Loaded id={id} view={query.data} onDeleted={() => setDeleted(true)} />;
}

/** Refetches the recording when a change fails with 404, so that the page shows that it is gone. */
function useRefetchAfterNotFound(id: string): void {
  const client = useQueryClient();
  useEffect(
    () =>
      client.getMutationCache().subscribe(({ type, mutation }) => {
        const error = type === "updated" ? mutation.state.error : null;
        if (error instanceof ApiError && error.status === 404)
          void client.invalidateQueries({ queryKey: recordingQuery(id).queryKey, exact: true });
      }),
    [client, id],
  );
}

function Loaded({ id, view, onDeleted }: { id: string; view: View; onDeleted: () => void }) {
  const { t } = page.useSearch();
  const { tab, setTab, commentTask } = useTab();
  const comments = useQuery(commentsQuery(id)).data;
  const openThreads = useMemo(() => threadsOf(comments ?? []).filter(isOpen), [comments]);
  const marks = useMemo(() => openThreads.flatMap(markOf), [openThreads]);
  const client = useQueryClient();
  const [playback] = useState(() => createPlayback(momentOf({ t })));
  const [clip, setClip] = useState<ClipRange | null>(null);
  const hasMedia = view.media !== null;
  const transcript = useQuery(transcriptQuery(id));
  const [seeking] = useState(() => createSeeking(playback));
  const copy = useClipboard();
  const context = useMemo(
    (): PageContext => ({
      id,
      view,
      actions: recordingActions(id),
      playback,
      hasMedia,
      createClip: setClip,
      openThreads,
      comments: { marks, open: (comment) => setTab("comments", { id: comment, seeks: false }) },
      commentTask,
      title: view.recording.title,
      durationMs: view.recording.duration_ms,
      hasTranscript: view.transcript.segments > 0,
      markers: view.recording.highlights ?? [],
      chapters: view.chapters,
      copyLink: (ms) => copy.link(view.recording.url, ms),
      ...seeking,
    }),
    [id, view, playback, hasMedia, seeking, copy, openThreads, marks, setTab, commentTask],
  );
  // The recording is polled; the transcript is refetched only when its version changes.
  const { version } = view.transcript;
  const shown = transcript.data?.transcript_version;
  useEffect(() => {
    if (shown !== undefined && shown < version)
      void client.invalidateQueries({ queryKey: transcriptQuery(id).queryKey });
  }, [client, id, shown, version]);
  // The URL changed to another position of the same recording.
  const before = useRef(t);
  useEffect(() => {
    if (before.current === t || t === undefined) return;
    before.current = t;
    context.goTo(momentOf({ t }) ?? 0);
  }, [t, context]);
  useLineStart(momentOf({ t }), transcript.data?.segments, context);
  return (
    <RecordingContext value={context}>
      <PlayerContext value={context}>
        <Layout transcript={transcript} onDeleted={onDeleted} tab={tab} setTab={setTab} />
        <ClipDialog clip={null} range={clip} onClose={() => setClip(null)} />
      </PlayerContext>
    </RecordingContext>
  );
}

type TranscriptResult = Pick<UseQueryResult<Transcript>, "data" | "error" | "refetch">;

function Layout(props: {
  transcript: TranscriptResult;
  onDeleted: () => void;
  tab: RecordingTab;
  setTab: (tab: RecordingTab, task?: CommentTask) => void;
}) {
  const { transcript, onDeleted, tab, setTab } = props;
  const { hasMedia, playback, view } = useRecording();
  const findField = useRef<HTMLInputElement>(null);
  const [isHelpOpen, help] = useDisclosure();
  const isWide = useWider("md");
  useShortcuts({
    onFind: () => {
      // The search field is inside the transcript panel, which must be open.
      flushSync(() => setTab("transcript"));
      findField.current?.focus();
      findField.current?.select();
    },
    onHelp: help.open,
    onComment: () => setTab("comments", { at: playback.getState().timeMs }),
  });
  return (
    <div className={classes.page} data-filling={isWide || undefined}>
      <div>
        <RecordingHeader onHelp={help.open} onDeleted={onDeleted} />
        {view.can.change ? <MeetingQuestion /> : null}
      </div>
      <div className={isWide && hasMedia ? classes.columns : classes.column}>
        <div className={classes.main}>
          {hasMedia ? (
            <div className={classes.player}>
              <RecordingPlayer transcript={transcript.data} />
            </div>
          ) : null}
          {transcript.data === undefined || transcript.data.segments.length === 0 ? null : (
            <>
              <div>
                <SpeakerTimeline transcript={transcript.data} />
              </div>
              <div className={classes.ask}>
                <AskBox />
              </div>
            </>
          )}
        </div>
        <div className={classes.panels}>
          <Panels
            transcript={transcript.data}
            transcriptPane={
              <TranscriptPane
                transcript={transcript.data}
                error={transcript.error}
                retry={() => transcript.refetch()}
                findField={findField}
              />
            }
            tab={tab}
            onTab={setTab}
          />
        </div>
      </div>
      <ShortcutsHelp isOpen={isHelpOpen} onClose={help.close} />
    </div>
  );
}

/** The open tab, and what that of comments is opened for. The URL follows the tab, without a step in the history for each choice. */
function useTab() {
  const { tab: inUrl, comment, t } = page.useSearch();
  const navigate = page.useNavigate();
  const [tab, setTab] = useState(inUrl);
  const [commentTask, setTask] = useState<CommentTask | null>(null);
  useEffect(() => setTab(inUrl), [inUrl]);
  useEffect(() => {
    if (comment !== undefined) setTask({ id: comment, seeks: t === undefined });
  }, [comment, t]);
  const choose = useCallback(
    (chosen: RecordingTab, task: CommentTask | null = null): void => {
      setTab(chosen);
      setTask(task);
      void navigate({
        search: ({ comment: _, ...search }) => ({ ...search, tab: chosen }),
        replace: true,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return { tab: tab ?? "transcript", setTab: choose, commentTask } as const;
}
