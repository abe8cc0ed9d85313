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

/** Lists what will be deleted, deletes it, and lists what was deleted. */
export function DeleteDialog(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Called once deleted, so that the page stops refetching it. */
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
    else void navigate({ to: "/" });
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
            Permanently deletes <b dir="auto">{view.recording.title}</b> for everyone, including:
          </Text>
          <List spacing={4}>
            {willBeDeleted(view).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          <Text size="sm" c="dimmed">
            Links to it stop working. This can't be undone.
          </Text>
          {remove.isError ? (
            <Alert color="red" role="alert">
              {remove.error instanceof ApiError ? remove.error.message : "Something went wrong."}
            </Alert>
          ) : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus>
              Cancel
            </Button>
            <Button
              color="red.9"
              leftSection={<IconTrash size={18} aria-hidden />}
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              Delete recording
            </Button>
          </Group>
        </Stack>
      ) : (
        <Stack role="status">
          <Text>
            <b dir="auto">{view.recording.title}</b> deleted. Removed:
          </Text>
          <List spacing={4}>
            {wasDeleted(receipt.removed).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          {receipt.is_complete ? null : (
            <Text size="sm" c="dimmed">
              Some files couldn't be removed yet. They are no longer accessible, and the server will remove
              them automatically.
            </Text>
          )}
          <Group justify="flex-end">
            <Button onClick={leave} data-autofocus>
              Back to library
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function willBeDeleted({ recording, media, participants, transcript, upload_id }: View): string[] {
  return [
    ...(media === null
      ? []
      : [`the ${recording.media_type} file, its images, and every copy on this server`]),
    ...counted(transcript.segments, "transcript line", "transcript lines"),
    ...counted(recording.highlights?.length ?? 0, "highlight", "highlights", ", also removed from stories"),
    ...counted(participants.length, "participant", "participants"),
    "everyone's private notes",
    ...(upload_id === null ? [] : ["the upload it came from"]),
    "its events and pending deliveries",
  ];
}

function wasDeleted(removed: Receipt["removed"]): string[] {
  const lines = [
    ...counted(removed.recordings, "recording", "recordings"),
    ...counted(removed.objects, "file", "files"),
    ...counted(removed.transcript_segments, "transcript line", "transcript lines"),
    ...counted(removed.highlights, "highlight", "highlights"),
    ...counted(removed.participants, "participant", "participants"),
    ...counted(removed.private_notes, "private note", "private notes"),
    ...counted(removed.uploads, "upload", "uploads"),
    ...counted(removed.events, "event", "events"),
    ...counted(removed.deliveries, "webhook delivery", "webhook deliveries"),
  ];
  return lines.length === 0 ? ["nothing"] : lines;
}

function counted(count: number, one: string, many: string, more = ""): string[] {
  return count === 0 ? [] : [`${count.toLocaleString()} ${count === 1 ? one : many}${more}`];
}
