import { Trans, useLingui } from "@lingui/react/macro";
import { Modal, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshRecording } from "../api/recording/recording.ts";
import { Form, useForm } from "../common/forms/form.tsx";
import { LanguageSelect } from "../common/language-select.tsx";
import { useRecording } from "./context.ts";
import { type ManualEdits, ManualEditsRadio } from "./transcript/manual-edits.tsx";

/** Starts a new transcription, and asks what to do with manual edits. */
export function TranscribeAgainDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [edits, setEdits] = useState<ManualEdits>("keep");
  const [language, setLanguage] = useState(view.transcript.transcription?.spoken_language ?? "auto");
  const hasTranscript = view.transcript.segments > 0;
  const ask = useForm({
    run: () =>
      actions.transcribeAgain({
        spoken_language: language,
        ...(hasTranscript ? { edits } : {}),
      }),
    onDone: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title={hasTranscript ? t`Transcribe again?` : t`Transcribe`}>
      <Form form={ask} label={hasTranscript ? t`Transcribe again` : t`Transcribe`} onCancel={onClose}>
        {hasTranscript ? (
          <Text size="sm">
            <Trans>This replaces the current transcript.</Trans>
          </Text>
        ) : null}
        <LanguageSelect
          label={t`Language`}
          automatic={t`From meeting type or workspace`}
          value={language}
          onChange={setLanguage}
        />
        {hasTranscript ? <ManualEditsRadio value={edits} onChange={setEdits} /> : null}
      </Form>
    </Modal>
  );
}
