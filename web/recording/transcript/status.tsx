import { t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Progress, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconFileText, IconLoader2, IconPlayerStop } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../../api/client/api-error.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { percent } from "../../common/format/numbers.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { EmptyState } from "../../common/states.tsx";
import classes from "../../transcript/transcript.module.css";
import { useRecording } from "../context.ts";
import { TranscribeAgainDialog, UploadTranscriptDialog } from "../dialogs.ts";

const page = getRouteApi("/signed-in/recordings/$recordingId");

/** Explains why there is no transcript, and offers to add one. */
export function NoTranscript() {
  const { t } = useLingui();
  const { view, hasMedia } = useRecording();
  const [isSupplying, supplying] = useDisclosure();
  const state = view.transcript.transcription;
  if (state !== null && state.status !== "done") return <TranscriptionStatus />;
  const { edit_transcript: canEdit } = view.can;
  return (
    <>
      <EmptyState
        title={state?.status === "done" ? t`No speech detected` : t`No transcript yet`}
        icon={<IconFileText size={30} stroke={1.5} />}
        action={
          canEdit ? (
            <Group gap="sm" justify="center">
              <Button size="xs" onClick={supplying.open}>
                <Trans>Add transcript</Trans>
              </Button>
              {hasMedia && view.can.transcribe ? <TranscribeButton label={t`Transcribe`} /> : null}
            </Group>
          ) : undefined
        }
      >
        {state?.status === "done"
          ? t`No speech was recognized in this recording.`
          : t`This recording has no transcript.`}
        <NotSetUp />
      </EmptyState>
      {state === null ? null : <UnclearPassages count={state.unclear_passages} />}
      <UploadTranscriptDialog isOpen={isSupplying} onClose={supplying.close} />
    </>
  );
}

/** Why a recording with media was not transcribed, for those who could ask for it. */
function NotSetUp() {
  const { view, hasMedia } = useRecording();
  const { session } = page.useRouteContext();
  if (!hasMedia || !view.can.change || view.can.transcribe) return null;
  return session.manages_system ? (
    <>
      {" "}
      <Trans>
        Transcription is not set up on this server. <Link to="/settings/transcription">Set it up</Link>
      </Trans>
    </>
  ) : (
    <>
      {" "}
      <Trans>Transcription is not set up on this server. Ask its admin to set it up.</Trans>
    </>
  );
}

/** Says that the transcript leaves something out. */
function UnclearPassages({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Text size="sm" c="dimmed" m="md" ta="center">
      <Plural value={count} one="# passage without clear speech" other="# passages without clear speech" />
    </Text>
  );
}

/** What a running transcription does. */
function progressText(stage: "audio" | "words" | "speakers", share: string): string {
  switch (stage) {
    case "audio":
      return t`Reading the audio… ${share}`;
    case "words":
      return t`Transcribing… ${share}`;
    case "speakers":
      return t`Identifying speakers… ${share}`;
  }
}

/** Transcription progression, if one is queued, running or failed. */
export function TranscriptionStatus() {
  const { t } = useLingui();
  const { view } = useRecording();
  const state = view.transcript.transcription;
  if (state === null) return null;
  if (state.status === "done") return <UnclearPassages count={state.unclear_passages} />;
  if (state.canceled !== null) return <Canceled by={state.canceled.by} />;
  if (state.status === "failed")
    return (
      <Alert m="md" color="red" icon={<IconAlertTriangle aria-hidden />} title={t`Transcription failed`}>
        <Text size="sm" mb="sm">
          {state.last_error === null ? (
            <Trans>The speech model returned no reason.</Trans>
          ) : (
            <ServerText text={state.last_error} />
          )}
        </Text>
        {view.can.transcribe ? (
          <Group gap="sm">
            <TranscribeButton label={t`Try again`} />
            <ChangeLanguageButton />
          </Group>
        ) : null}
      </Alert>
    );
  return (
    <Alert
      m="md"
      variant="light"
      icon={<IconLoader2 className={classes.turning ?? ""} aria-hidden />}
      title={
        state.status === "running"
          ? progressText(state.stage ?? "audio", percent(state.progress / 100))
          : t`Transcription queued`
      }
      role="status"
    >
      {state.status === "running" ? (
        <Progress value={state.progress} aria-label={t`Transcription progress`} mb="xs" />
      ) : null}
      <Text size="sm">
        {state.last_error !== null ? (
          <>
            <Trans>The last attempt failed. Retrying automatically.</Trans>{" "}
            <ServerText text={state.last_error} />
          </>
        ) : state.waits_for !== null ? (
          <ServerText text={state.waits_for} />
        ) : (
          <Trans>You can leave; it'll appear here.</Trans>
        )}
      </Text>
      {view.can.change ? <CancelButton /> : null}
    </Alert>
  );
}

/** @param by the user's name; null: it was not a user. */
function Canceled({ by }: { by: string | null }) {
  const { t } = useLingui();
  const { view } = useRecording();
  return (
    <Alert m="md" color="gray" icon={<IconPlayerStop aria-hidden />} title={t`Transcription canceled`}>
      <Text size="sm" mb={view.can.transcribe ? "sm" : 0}>
        {by === null ? t`Canceled with a workspace token.` : t`Canceled by ${by}.`}
      </Text>
      {view.can.transcribe ? (
        <Group gap="sm">
          <TranscribeButton label={t`Transcribe again`} />
          <ChangeLanguageButton />
        </Group>
      ) : null}
    </Alert>
  );
}

function CancelButton() {
  const { t } = useLingui();
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => actions.cancelTranscription(),
    // Also when it has just ended.
    onSettled: () => refreshRecording(client, id),
    onError: (error) =>
      notifications.show({
        color: "red",
        title: t`Couldn't cancel transcription`,
        message: error instanceof ApiError ? error.message : t`Something went wrong.`,
      }),
  });
  return (
    <Button mt="sm" size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
      <Trans>Cancel transcription</Trans>
    </Button>
  );
}

function ChangeLanguageButton() {
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="subtle" onClick={dialog.open}>
        <Trans>Change language</Trans>
      </Button>
      <TranscribeAgainDialog isOpen={isOpen} onClose={dialog.close} />
    </>
  );
}

function TranscribeButton({ label }: { label: string }) {
  const { t } = useLingui();
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: () => actions.transcribeAgain(),
    onSuccess: () => refreshRecording(client, id),
    onError: (error) =>
      notifications.show({
        color: "red",
        title: t`Couldn't start transcription`,
        message: error instanceof ApiError ? error.message : t`Something went wrong.`,
      }),
  });
  return (
    <Button size="xs" variant="light" loading={ask.isPending} onClick={() => ask.mutate()}>
      {label}
    </Button>
  );
}
