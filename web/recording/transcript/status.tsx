import { Alert, Button, Group, Progress, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconFileText, IconLoader2 } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/client.ts";
import { refreshRecording } from "../../api/recording.ts";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { SupplyDialog } from "../dialogs.ts";
import classes from "./transcript.module.css";

/** Says why there are no words, and what can be done. */
export function NoTranscript() {
  const { view, hasMedia } = useRecording();
  const [isSupplying, supplying] = useDisclosure();
  const state = view.transcript.transcription;
  if (state !== null && state.status !== "done") return <TranscriptionStatus />;
  const { edit_transcript: mayEdit } = view.can;
  return (
    <>
      <EmptyState
        title={state?.status === "done" ? "No words" : "No transcript yet"}
        icon={<IconFileText size={30} stroke={1.5} />}
        action={
          mayEdit ? (
            <Group gap="sm" justify="center">
              <Button size="xs" onClick={supplying.open}>
                Add a transcript
              </Button>
              {hasMedia && view.can.transcribe ? <AskAgain label="Write the transcript" /> : null}
            </Group>
          ) : undefined
        }
      >
        {state?.status === "done"
          ? "Nothing that could be understood is said in this recording."
          : "This recording has no transcript."}
      </EmptyState>
      <SupplyDialog isOpen={isSupplying} onClose={supplying.close} />
    </>
  );
}

/** How far the speech model is; nothing when nothing is being made. */
export function TranscriptionStatus() {
  const { view } = useRecording();
  const state = view.transcript.transcription;
  if (state === null || state.status === "done") return null;
  if (state.status === "failed")
    return (
      <Alert
        m="md"
        color="red"
        icon={<IconAlertTriangle aria-hidden />}
        title="The transcript could not be written"
      >
        <Text size="sm" mb="sm">
          {state.last_error ?? "The speech model gave no reason."}
        </Text>
        {view.can.transcribe ? <AskAgain label="Try again" /> : null}
      </Alert>
    );
  const isWaiting = state.last_error !== null;
  return (
    <Alert
      m="md"
      variant="light"
      icon={<IconLoader2 className={classes.turning ?? ""} aria-hidden />}
      title={
        state.status === "running"
          ? `Writing the transcript: ${state.progress} %`
          : "The transcript comes soon"
      }
      role="status"
    >
      {state.status === "running" ? (
        <Progress value={state.progress} aria-label="Progress of the transcript" mb="xs" />
      ) : null}
      <Text size="sm">
        {isWaiting
          ? `The last attempt failed (${state.last_error}). The next one begins by itself.`
          : "It appears here by itself; there is no need to wait."}
      </Text>
    </Alert>
  );
}

function AskAgain({ label }: { label: string }) {
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: () => actions.transcribeAgain(),
    onSuccess: () => refreshRecording(client, id),
    onError: (error) =>
      notifications.show({
        color: "red",
        title: "Not possible",
        message: error instanceof ApiError ? error.message : "Something went wrong.",
      }),
  });
  return (
    <Button size="xs" variant="light" loading={ask.isPending} onClick={() => ask.mutate()}>
      {label}
    </Button>
  );
}
