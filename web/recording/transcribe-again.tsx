import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { refreshRecording } from "../api/recording.ts";
import { useRecording } from "./context.ts";
import { type ManualEdits, ManualEditsRadio } from "./transcript/manual-edits.tsx";

/** Starts a new transcription, and asks what to do with manual edits. */
export function TranscribeAgainDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [edits, setEdits] = useState<ManualEdits>("keep");
  const ask = useMutation({
    mutationFn: () => actions.transcribeAgain(view.transcript.segments > 0 ? edits : undefined),
    onSuccess: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title="Transcribe again?">
      <Stack>
        <Text size="sm">This replaces the current transcript.</Text>
        {view.transcript.segments > 0 ? <ManualEditsRadio value={edits} onChange={setEdits} /> : null}
        {ask.isError ? (
          <Alert color="red" role="alert">
            {ask.error instanceof ApiError ? ask.error.message : "Something went wrong."}
          </Alert>
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={ask.isPending} onClick={() => ask.mutate()}>
            Transcribe again
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
