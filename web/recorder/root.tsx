import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Meeting } from "../api/calendars.ts";
import { noteInput } from "../api/client/idle.ts";
import { type Session, sessionQuery } from "../api/session.ts";
import { type Choice, NoSourceError, openSources } from "./capture/sources.ts";
import { transfers } from "./outbox/transfers.ts";
import { RecorderPanel } from "./panel.tsx";
import { type Details, type Recorder, startRecorder } from "./recorder.ts";
import { RecoveryNotice } from "./recovery.tsx";
import { SetupDialog } from "./setup-dialog.tsx";

/** A recording stops this long before the server's limit, so that its file stays within it. */
const limitMarginMs = 3000;
const maxShareOfBytes = 0.98;

interface RootProps {
  readonly session: Session;
  readonly isOpen: boolean;
  /** The meeting that the dialog is filled in from. */
  readonly meeting: Meeting | null;
  readonly onClose: () => void;
}

/** The recorder: its dialog, the controls of the running recording, and what earlier visits left. */
export function RecorderRoot({ session, isOpen, meeting, onClose }: RootProps) {
  const { t } = useLingui();
  const userId = session.user.id;
  const live = useRecording(userId, onClose);
  const states = useSyncExternalStore(transfers.subscribe, transfers.list);
  useBeforeUnload(live.recorder !== null || states.some(({ status }) => status !== "failed"));
  useWakeLock(live.recorder !== null);
  useKeptSession(live.recorder !== null);
  return (
    <>
      <SetupDialog
        opened={isOpen && live.recorder === null}
        meeting={meeting}
        onClose={onClose}
        onStart={live.start}
        isStarting={live.isStarting}
        error={live.error}
      />
      <RecoveryNotice userId={userId} />
      {states.map(({ uploadId, title, status, reason }) =>
        status === "failed" && uploadId !== live.recorder?.uploadId ? (
          <Alert key={uploadId} color="red" variant="light" mb="md" title={t`Couldn't upload ${title}`}>
            <Trans>
              {{ reason: reason?.() ?? "" }} The part that isn't uploaded yet is kept in this browser.
            </Trans>
            <Button size="xs" ms="sm" variant="default" onClick={() => transfers.retry(uploadId)}>
              <Trans>Try again</Trans>
            </Button>
          </Alert>
        ) : null,
      )}
      {live.recorder === null ? null : (
        <RecorderPanel
          recorder={live.recorder}
          elapsedMs={live.elapsedMs}
          transfer={states.find(({ uploadId }) => uploadId === live.recorder?.uploadId)}
          warning={live.warning}
          isStopping={live.isStopping}
          onStop={() => live.stop(null)}
          onDiscard={live.discard}
        />
      )}
    </>
  );
}

/** The one recording that this tab makes at a time. */
function useRecording(userId: string, onStarted: () => void) {
  const { t } = useLingui();
  const [recorder, setRecorder] = useState<Recorder | null>(null);
  const [isStarting, setStarting] = useState(false);
  const [isStopping, setStopping] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [warning, setWarning] = useState<string | null>(null);
  const [elapsedMs, setElapsed] = useState(0);
  const current = useRef<Recorder | null>(null);
  const stopping = useRef(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();

  const show = (next: Recorder | null): void => {
    current.current = next;
    stopping.current = false;
    setRecorder(next);
    setStopping(false);
  };

  async function stop(reason: string | null): Promise<void> {
    const one = current.current;
    if (one === null || stopping.current) return;
    stopping.current = true;
    setStopping(true);
    if (reason !== null) notifications.show({ color: "red", title: t`Recording stopped`, message: reason });
    await one.stop();
    show(null);
    if (one.outbox.total() === 0) return discardStored(one.uploadId);
    void transfers.finish(one.uploadId, one.moments());
    await navigate({ to: "/record/$uploadId", params: { uploadId: one.uploadId } });
  }

  async function discard(): Promise<void> {
    const one = current.current;
    if (one === null || stopping.current) return;
    stopping.current = true;
    setStopping(true);
    await one.stop();
    show(null);
    await discardStored(one.uploadId);
  }

  async function start(choice: Choice, details: Details): Promise<void> {
    setStarting(true);
    setError(null);
    setWarning(null);
    setElapsed(0);
    // The user may stop sharing before the recording has started.
    const early: (string | null)[] = [];
    try {
      const sources = await openSources(choice);
      const one = await startRecorder(sources, details, userId, {
        onEnded(reason) {
          if (current.current === null) early.push(reason);
          else void stop(reason);
        },
        onWarning: setWarning,
        onTime(ms) {
          setElapsed((before) => (Math.floor(before / 1000) === Math.floor(ms / 1000) ? before : ms));
          const limit = current.current === null ? null : limitReached(current.current, ms);
          if (limit !== null) void stop(limit);
        },
      }).catch((failure: unknown) => {
        sources.stop();
        throw failure;
      });
      // Loaded now: after an upgrade the server no longer has the code of this page's version.
      void import("./finish-page.tsx").catch(() => undefined);
      transfers.begin(one, { isStarted: false, queryClient });
      show(one);
      if (sources.lacksSharedSound)
        setWarning(
          t`You are sharing without sound. To record sound, stop, and share a tab or screen with its sound.`,
        );
      onStarted();
      const [ended] = early;
      if (ended !== undefined) await stop(ended);
    } catch (failure) {
      setError(
        failure instanceof NoSourceError || failure instanceof Error
          ? failure.message
          : t`Recording failed to start.`,
      );
    } finally {
      setStarting(false);
    }
  }

  return {
    recorder,
    isStarting,
    isStopping,
    error,
    warning,
    elapsedMs,
    stop,
    discard: () => void discard(),
    start: (choice: Choice, details: Details) => void start(choice, details),
  };
}

async function discardStored(uploadId: string): Promise<void> {
  try {
    await transfers.discard(uploadId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    notifications.show({
      color: "red",
      title: t`Couldn't discard the recording`,
      message: `${reason} ${t`Reload the page to discard it.`}`,
    });
  }
}

function limitReached(recorder: Recorder, ms: number): string | null {
  if (ms >= recorder.maxMs - limitMarginMs)
    return t`The maximum duration is reached. The recording is being saved.`;
  if (recorder.outbox.total() >= recorder.maxBytes * maxShareOfBytes)
    return t`The maximum size is reached. The recording is being saved.`;
  return null;
}

/** Asks before the window is closed. */
function useBeforeUnload(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isBusy]);
}

/** A recording counts as use of the session: its user speaks and may touch nothing for hours. */
function useKeptSession(isNeeded: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => {
      noteInput();
      void client.prefetchQuery({ ...sessionQuery, staleTime: 0 });
    }, 60_000);
    return () => clearInterval(timer);
  }, [isNeeded, client]);
}

/** Keeps the screen on; browsers release the lock whenever the tab is hidden. */
function useWakeLock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded || navigator.wakeLock === undefined) return;
    let lock: WakeLockSentinel | null = null;
    const request = (): void => {
      if (document.visibilityState !== "visible") return;
      navigator.wakeLock.request("screen").then(
        (granted) => {
          lock = granted;
        },
        () => undefined,
      );
    };
    request();
    document.addEventListener("visibilitychange", request);
    return () => {
      document.removeEventListener("visibilitychange", request);
      void lock?.release();
    };
  }, [isNeeded]);
}
