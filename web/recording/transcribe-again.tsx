import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client/api-error.ts";
import { refreshRecording } from "../api/recording/recording.ts";
import { LanguageSelect } from "../common/language-select.tsx";
import { useRecording } from "./context.ts";
import { type ManualEdits, ManualEditsRadio } from "./transcript/manual-edits.tsx";

/** Starts a new transcription, and asks what to do with manual edits. */
export function TranscribeAgainDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [edits, setEdits] = useState<ManualEdits>("keep");
  const [language, setLanguage] = useState(view.transcript.transcription?.spoken_language ?? "auto");
  const hasTranscript = view.transcript.segments > 0;
  const ask = useMutation({
    mutationFn: () =>
      actions.transcribeAgain({
        spoken_language: language,
        ...(hasTranscript ? { edits } : {}),
      }),
    onSuccess: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title={hasTranscript ? "Transcribe again?" : "Transcribe"}>
      <Stack>
        {hasTranscript ? <Text size="sm">This replaces the current transcript.</Text> : null}
        <LanguageSelect
          label="Language"
          automatic="From meeting type or workspace"
          value={language}
          onChange={setLanguage}
        />
        {hasTranscript ? <ManualEditsRadio value={edits} onChange={setEdits} /> : null}
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
            {hasTranscript ? "Transcribe again" : "Transcribe"}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
