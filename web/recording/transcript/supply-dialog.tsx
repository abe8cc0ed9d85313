import { Alert, Button, FileInput, Group, Modal, Stack, Text } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { refreshRecording } from "../../api/recording.ts";
import { clock } from "../../common/time.ts";
import { checkFile } from "../../uploads/check-file.ts";
import { useRecording } from "../context.ts";
import { type EditsChoice, EditsRadio } from "./edits-choice.tsx";
import classes from "./transcript.module.css";

/** What a file holds, or why it can't be taken. */
type Reading =
  | { readonly segments: readonly Line[]; readonly language: string }
  | { readonly fault: string; readonly advice: string | null };

interface Line {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Lines shown of a file, so that one sees that it is the right one. */
const glimpse = 4;

/** Gives a recording a transcript from a file, in place of the one it has. */
export function SupplyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { view } = useRecording();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={view.transcript.segments > 0 ? "Replace the transcript" : "Add a transcript"}
      size="lg"
    >
      <Supplying onClose={onClose} />
    </Modal>
  );
}

function Supplying({ onClose }: { onClose: () => void }) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [reading, setReading] = useState<Reading | null>(null);
  const [edits, setEdits] = useState<EditsChoice>("keep");
  const { version, is_edited: isEdited, segments: lines, transcription } = view.transcript;
  const supply = useMutation({
    mutationFn: (found: Extract<Reading, { segments: unknown }>) =>
      actions.supplyTranscript({
        transcript_version: version,
        language: found.language,
        segments: found.segments.map(({ speaker_key: speaker, ...rest }) => ({ speaker, ...rest })),
        ...(isEdited ? { edits } : {}),
      }),
    onSuccess: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  const isBeingMade = transcription?.status === "pending" || transcription?.status === "running";
  const choose = async (chosen: File | null): Promise<void> => {
    supply.reset();
    setFile(chosen);
    setReading(chosen === null ? null : await read(chosen));
  };
  return (
    <Stack>
      <Text size="sm">
        A file with what is said and when: WebVTT (.vtt), SubRip (.srt), or text or JSON as Parley writes it.
        Who has the name of a participant becomes that participant.
        {lines > 0 ? ` It takes the place of the ${lines.toLocaleString("en")} lines that are there.` : ""}
        {isBeingMade ? " The speech model then stops writing one." : ""}
      </Text>
      <FileInput
        label="Transcript"
        placeholder="Choose a file"
        accept=".vtt,.srt,.txt,.json"
        leftSection={<IconFileText size={18} aria-hidden />}
        value={file}
        onChange={choose}
        clearable
        clearButtonProps={{ "aria-label": "Choose another file" }}
        data-autofocus
        error={reading !== null && "fault" in reading ? reading.fault : undefined}
      />
      {reading !== null && "fault" in reading && reading.advice !== null ? (
        <Text size="sm">{reading.advice}</Text>
      ) : null}
      {reading !== null && "segments" in reading ? <Glimpse segments={reading.segments} /> : null}
      {isEdited ? <EditsRadio value={edits} onChange={setEdits} /> : null}
      {supply.isError ? (
        <Alert color="red" role="alert" title="Not taken">
          {inWords(supply.error)}
        </Alert>
      ) : null}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          disabled={reading === null || "fault" in reading}
          loading={supply.isPending}
          onClick={() => {
            if (reading !== null && "segments" in reading) supply.mutate(reading);
          }}
        >
          {lines > 0 ? "Replace the transcript" : "Add the transcript"}
        </Button>
      </Group>
    </Stack>
  );
}

function Glimpse({ segments }: { segments: readonly Line[] }) {
  const speakers = new Set(segments.map(({ speaker_key }) => speaker_key)).size;
  return (
    <div role="status">
      <Text size="sm" fw={500}>
        {segments.length.toLocaleString("en")} {segments.length === 1 ? "line" : "lines"}, {speakers}{" "}
        {speakers === 1 ? "speaker" : "speakers"}, up to {clock(segments.at(-1)?.end ?? 0)}
      </Text>
      {segments.slice(0, glimpse).map(({ speaker_key, start, text }) => (
        <Text
          key={`${start} ${text}`}
          size="sm"
          c="dimmed"
          truncate
          dir="auto"
          className={classes.glimpse ?? ""}
        >
          {clock(start)} · {speaker_key}: {text}
        </Text>
      ))}
    </div>
  );
}

async function read(file: File): Promise<Reading> {
  const verdict = await checkFile(file);
  if (verdict.kind === "transcript") return verdict.transcript;
  return verdict.kind === "refused"
    ? { fault: verdict.reason, advice: verdict.advice }
    : { fault: "This file holds sound or pictures, and no transcript.", advice: null };
}

function inWords(error: Error): string {
  if (!(error instanceof ApiError))
    return "The server could not be reached. The file is still chosen: try again.";
  const [first] = error.violations;
  return first === undefined ? error.message : `${first.pointer.replaceAll("/", " ").trim()} ${first.detail}`;
}
