import { Button, Group, Loader, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError } from "../../api/client.ts";
import {
  actionItemsQuery,
  isUnderWay,
  type Understanding,
  understandAgain,
  understandingQuery,
} from "../../api/intelligence.ts";
import { refreshRecording } from "../../api/recording.ts";
import { useRecording } from "../context.ts";

/** How far the language model is with this recording; undefined until that is known. */
export function useUnderstanding(): Understanding | undefined {
  const { id } = useRecording();
  const client = useQueryClient();
  const { data } = useQuery(understandingQuery(id));
  const before = useRef<boolean | null>(null);
  const isBusy = data === undefined ? null : isUnderWay(data);
  useEffect(() => {
    // It has just been finished: what it made is fetched once.
    if (before.current === true && isBusy === false) {
      refreshRecording(client, id);
      client.invalidateQueries({ queryKey: actionItemsQuery(id).queryKey });
    }
    before.current = isBusy;
  }, [isBusy, client, id]);
  return data;
}

/** A line on how the language model stands, and the button that has it begin anew. */
export function UnderstandingLine({ state }: { state: Understanding | undefined }) {
  const { view } = useRecording();
  if (state === undefined || state.status === "none") return null;
  if (isUnderWay(state))
    return (
      <Group gap="xs" wrap="nowrap" role="status">
        <Loader size="xs" aria-hidden />
        <Text size="sm">{state.message}</Text>
      </Group>
    );
  return (
    <Group justify="space-between" gap="xs">
      {state.status === "failed" ? (
        <Group gap={6} wrap="nowrap" role="alert">
          <IconAlertTriangle size={18} stroke={1.6} aria-hidden />
          <Text size="sm">{state.message}</Text>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {state.notes.join(" ")}
        </Text>
      )}
      {view.can.change ? <Again label={state.status === "failed" ? "Try again" : "Write it anew"} /> : null}
    </Group>
  );
}

function Again({ label }: { label: string }) {
  const { id } = useRecording();
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => understandAgain(id),
    onSuccess: (state) => client.setQueryData(understandingQuery(id).queryKey, state),
    onError: (error) =>
      notifications.show({
        color: "red",
        title: "Not possible",
        message: error instanceof ApiError ? error.message : "Something went wrong.",
      }),
  });
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={<IconRefresh size={16} stroke={1.6} aria-hidden />}
      loading={again.isPending}
      onClick={() => again.mutate()}
    >
      {label}
    </Button>
  );
}
