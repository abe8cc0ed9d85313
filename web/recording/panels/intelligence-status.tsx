import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Loader, Progress, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import {
  actionItemsQuery,
  type IntelligenceState,
  intelligenceStateQuery,
  isInProgress,
  rerunIntelligence,
} from "../../api/recording/intelligence.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { ModelMissing, useModelState } from "../../ask/model-missing.tsx";
import { useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { useRecording } from "../context.ts";
import { WriteAgainDialog } from "./write-again.tsx";

/** The state of the language model's work on this recording; undefined while loading. */
export function useIntelligenceState(): IntelligenceState | undefined {
  const { id } = useRecording();
  const client = useQueryClient();
  const { data } = useQuery(intelligenceStateQuery(id));
  const before = useRef<boolean | null>(null);
  const isBusy = data === undefined ? null : isInProgress(data);
  const finished = data?.finished_datetime ?? null;
  useEffect(() => {
    // It has just finished, perhaps between the requests for the recording and for this state: fetch the results.
    const hasFinished = before.current === true || (before.current === null && isRecent(finished));
    if (hasFinished && isBusy === false) {
      void refreshRecording(client, id);
      void client.invalidateQueries({ queryKey: actionItemsQuery(id).queryKey });
    }
    before.current = isBusy;
  }, [isBusy, finished, client, id]);
  return data;
}

/** Longer than a recording that doesn't change is shown without being requested again. */
const recentMs = 120_000;

function isRecent(datetime: string | null): boolean {
  return datetime !== null && Math.abs(Date.now() - Date.parse(datetime)) < recentMs;
}

/** The state of the language model, with a button to write again. */
export function IntelligenceStatus({ state }: { state: IntelligenceState | undefined }) {
  const { t } = useLingui();
  const { view } = useRecording();
  const model = useModelState();
  if (state === undefined || state.status === "none") return null;
  // It continues once there is a model.
  if (model !== "ready" && (state.status === "pending" || state.status === "waiting"))
    return (
      <Text size="sm" role="status">
        <ModelMissing subject="intelligence" state={model} />
      </Text>
    );
  if (isInProgress(state))
    return (
      <Stack gap={6}>
        <Group gap="xs" wrap="nowrap" role="status">
          <Loader size="xs" aria-hidden />
          <Text size="sm">
            <RunText state={state} />
          </Text>
        </Group>
        {state.status === "running" ? (
          <Progress value={state.progress} aria-label={t`Progress of the language model`} />
        ) : null}
      </Stack>
    );
  return (
    <Group justify="space-between" gap="xs">
      {state.status === "failed" ? (
        <Group gap={6} wrap="nowrap" role="alert">
          <IconAlertTriangle size={18} stroke={1.6} aria-hidden />
          <Text size="sm">
            <RunText state={state} />
          </Text>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          <ServerText text={state.notes.join(" ")} />
        </Text>
      )}
      {!view.can.change ? null : state.status === "failed" ? (
        <RunModel text={t`Try again`} />
      ) : (
        <WriteAgain state={state} />
      )}
    </Group>
  );
}

/** Why there is nothing. */
export function Reason({ state }: { state: IntelligenceState | undefined }) {
  const model = useModelState();
  if (state?.status === "none" && model !== "ready")
    return <ModelMissing subject="intelligence" state={model} />;
  return state === undefined || state.status === "done" ? null : <RunText state={state} />;
}

/** What a run does, or what it waits for or failed with, in the server's words where the app has none. */
function RunText({ state }: { state: IntelligenceState }) {
  const { status, message, last_error: error, next_attempt_datetime: next } = state;
  const time = next === null ? null : whenInLine(next);
  if (error === null) return <ServerText text={message} />;
  const reason = <ServerText text={error} />;
  switch (status) {
    case "running":
      return <Trans>Retrying after a failure: {reason}</Trans>;
    case "waiting":
      return <Trans>Waiting: {reason}</Trans>;
    case "failed":
      return time === null ? (
        <Trans>Failed: {reason}</Trans>
      ) : (
        <Trans>
          Failed: {reason} Next attempt: {time}
        </Trans>
      );
    default:
      return <ServerText text={message} />;
  }
}

/** Has the model do its work, as it was asked for the last time. */
export function RunModel({ text }: { text: string }) {
  const { id } = useRecording();
  const client = useQueryClient();
  const again = useAction({
    run: () => rerunIntelligence(id),
    onDone: (state) => client.setQueryData(intelligenceStateQuery(id).queryKey, state),
  });
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={<IconRefresh size={16} stroke={1.6} aria-hidden />}
      loading={again.isPending}
      onClick={() => again.mutate()}
    >
      {text}
    </Button>
  );
}

function WriteAgain({ state }: { state: IntelligenceState }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconRefresh size={16} stroke={1.6} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        <Trans>Write again</Trans>
      </Button>
      {isOpen ? <WriteAgainDialog state={state} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
