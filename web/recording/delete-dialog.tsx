import { Alert, Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { z } from "zod";
import type { DeletionReceipt } from "../../contract/recording-management.ts";
import { ApiError } from "../api/client.ts";
import type { View } from "../api/recording.ts";
import { useRecording } from "./context.ts";

type Receipt = z.output<typeof DeletionReceipt>;

/** Says what deleting removes, does it, and shows what was removed. */
export function DeleteDialog(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Once it is gone: what is still shown of it must not be asked for again. */
  onDeleted: () => void;
}) {
  const { isOpen, onClose, onDeleted } = props;
  const { view, actions } = useRecording();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const remove = useMutation({
    mutationFn: actions.remove,
    onSuccess: (result) => {
      setReceipt(result);
      onDeleted();
      client.invalidateQueries({ queryKey: ["recordings"], refetchType: "none" });
    },
  });
  const leave = (): void => {
    if (receipt === null) onClose();
    else navigate({ to: "/" });
  };
  return (
    <Modal
      opened={isOpen}
      onClose={leave}
      title={receipt === null ? "Delete this recording?" : "Deleted"}
      closeOnClickOutside={receipt === null}
    >
      {receipt === null ? (
        <Stack>
          <Text>
            <b dir="auto">{view.recording.title}</b> is removed for good, for everybody. With it go:
          </Text>
          <List spacing={4}>
            {whatGoes(view).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          <Text size="sm" c="dimmed">
            Links to it stop working. This can't be taken back.
          </Text>
          {remove.isError ? (
            <Alert color="red" role="alert">
              {remove.error instanceof ApiError ? remove.error.message : "Something went wrong."}
            </Alert>
          ) : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus>
              Keep it
            </Button>
            <Button
              color="red.9"
              leftSection={<IconTrash size={18} aria-hidden />}
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              Delete for good
            </Button>
          </Group>
        </Stack>
      ) : (
        <Stack role="status">
          <Text>
            <b dir="auto">{view.recording.title}</b> is gone. Removed were:
          </Text>
          <List spacing={4}>
            {whatWent(receipt.removed).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          {receipt.is_complete ? null : (
            <Text size="sm" c="dimmed">
              Some files could not be removed just now. Nothing leads to them any more, and the server removes
              them by itself.
            </Text>
          )}
          <Group justify="flex-end">
            <Button onClick={leave} data-autofocus>
              To the library
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function whatGoes({ recording, media, participants, transcript, upload_id }: View): string[] {
  return [
    ...(media === null
      ? []
      : [`the ${recording.media_type} file with its pictures, and every copy of it on this server`]),
    ...counted(transcript.segments, "line of transcript", "lines of transcript"),
    ...counted(recording.highlights?.length ?? 0, "highlight", "highlights", ", also out of stories"),
    ...counted(participants.length, "participant", "participants"),
    "the private notes of everybody",
    ...(upload_id === null ? [] : ["the upload it came from"]),
    "its events, and deliveries that wait",
  ];
}

function whatWent(removed: Receipt["removed"]): string[] {
  const lines = [
    ...counted(removed.recordings, "recording", "recordings"),
    ...counted(removed.objects, "file", "files"),
    ...counted(removed.transcript_segments, "line of transcript", "lines of transcript"),
    ...counted(removed.highlights, "highlight", "highlights"),
    ...counted(removed.participants, "participant", "participants"),
    ...counted(removed.private_notes, "private note", "private notes"),
    ...counted(removed.uploads, "upload", "uploads"),
    ...counted(removed.events, "event", "events"),
    ...counted(removed.deliveries, "delivery to hooks", "deliveries to hooks"),
  ];
  return lines.length === 0 ? ["nothing"] : lines;
}

function counted(count: number, one: string, many: string, more = ""): string[] {
  return count === 0 ? [] : [`${count.toLocaleString()} ${count === 1 ? one : many}${more}`];
}
