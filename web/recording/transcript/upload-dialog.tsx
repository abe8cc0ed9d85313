import { plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, FileInput, Text } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client/api-error.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { clock } from "../../common/format/time.ts";
import { Form } from "../../common/forms/form.tsx";
import classes from "../../transcript/transcript.module.css";
import { checkFile, type ShownText } from "../../uploads/file-check/check-file.ts";
import { FileWarnings, transcriptPicker } from "../../uploads/file-check/file-warnings.tsx";
import { useRecording } from "../context.ts";
import { type ManualEdits, ManualEditsRadio } from "./manual-edits.tsx";

/** The content of a file, or why it can't be used. */
type Reading =
  | { readonly segments: readonly Line[]; readonly language: string; readonly warnings: readonly ShownText[] }
  | { readonly error: ShownText; readonly advice: ShownText | null };

interface Line {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Lines of the file to preview. */
const previewLines = 4;

/** Adds a transcript from a file, or replaces the current one. */
export function UploadTranscriptDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { view } = useRecording();
  return (
    <FormDialog
      opened={isOpen}
      onClose={onClose}
      title={view.transcript.segments > 0 ? t`Replace transcript` : t`Add transcript`}
      size="lg"
    >
      <UploadForm onClose={onClose} />
    </FormDialog>
  );
}

function UploadForm({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [reading, setReading] = useState<Reading | null>(null);
  const [edits, setEdits] = useState<ManualEdits>("keep");
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
  const isTranscribing = transcription?.status === "pending" || transcription?.status === "running";
  const choose = async (chosen: File | null): Promise<void> => {
    supply.reset();
    setFile(chosen);
    const { media_type, duration_ms } = view.recording;
    const maxStart = media_type === "transcript" ? Number.POSITIVE_INFINITY : duration_ms;
    setReading(chosen === null ? null : await read(chosen, maxStart));
  };
  const found = reading !== null && "segments" in reading ? reading : null;
  return (
    <Form
      form={{ isPending: supply.isPending, submit: () => found !== null && supply.mutate(found) }}
      label={lines > 0 ? t`Replace transcript` : t`Add transcript`}
      isDisabled={found === null}
      onCancel={onClose}
    >
      <Text size="sm">
        <Trans>
          A transcript file: WebVTT (.vtt), SubRip (.srt), TTML, SBV, SubStation Alpha (.ass), Whisper's JSON,
          or Parley's own text (.txt) or JSON. Speakers are matched to participants by name.
        </Trans>{" "}
        {lines > 0 ? (
          <Plural
            value={lines}
            one="It replaces the current transcript of # line."
            other="It replaces the current transcript of # lines."
          />
        ) : null}{" "}
        {isTranscribing ? <Trans>It also cancels the transcription in progress.</Trans> : null}
      </Text>
      <FileInput
        label={t`Transcript`}
        placeholder={t`Choose a file`}
        accept={transcriptPicker}
        leftSection={<IconFileText size={18} aria-hidden />}
        value={file}
        onChange={choose}
        clearable
        clearButtonProps={{ "aria-label": t`Choose another file` }}
        data-autofocus
        error={reading !== null && "error" in reading ? reading.error() : undefined}
      />
      {reading !== null && "error" in reading && reading.advice !== null ? (
        <Text size="sm">{reading.advice()}</Text>
      ) : null}
      {found === null ? null : <Preview segments={found.segments} />}
      {found === null ? null : <FileWarnings texts={found.warnings.map((text) => text())} />}
      {isEdited ? <ManualEditsRadio value={edits} onChange={setEdits} /> : null}
      {supply.isError ? (
        <Alert color="red" role="alert" title={t`Couldn't use this file`}>
          {inWords(supply.error)}
        </Alert>
      ) : null}
    </Form>
  );
}

function Preview({ segments }: { segments: readonly Line[] }) {
  const speakers = new Set(segments.map(({ speaker_key }) => speaker_key)).size;
  return (
    <div role="status">
      <Text size="sm" fw={500}>
        {lengthText(segments.length, speakers, clock(segments.at(-1)?.end ?? 0))}
      </Text>
      {segments.slice(0, previewLines).map(({ speaker_key, start, text }) => (
        <Text
          key={`${start} ${text}`}
          size="sm"
          c="dimmed"
          truncate
          dir="auto"
          className={classes.preview ?? ""}
        >
          {clock(start)} · {speaker_key}: {text}
        </Text>
      ))}
    </div>
  );
}

function lengthText(lines: number, speakers: number, end: string): string {
  return t`${plural(lines, { one: "# line", other: "# lines" })}, ${plural(speakers, { one: "# speaker", other: "# speakers" })}, up to ${end}`;
}

/** @param maxStart the length of the recording. The lines after its end are left out, unless all are. */
async function read(file: File, maxStart: number): Promise<Reading> {
  const check = await checkFile(file);
  if (check.kind === "transcript") {
    const { segments: all, language } = check.transcript;
    const segments = all.filter(({ start }) => start <= maxStart);
    const late = all.length - segments.length;
    if (segments.length === 0)
      return {
        error: () =>
          t`All of this transcript is after the end of the recording, which is ${{ length: clock(maxStart) }} long.`,
        advice: () => t`Choose the transcript of this recording.`,
      };
    const warning = (): string =>
      plural(late, {
        one: "# line after the end of the recording will be left out.",
        other: "# lines after the end of the recording will be left out.",
      });
    return { segments, language, warnings: late === 0 ? check.warnings : [...check.warnings, warning] };
  }
  return check.kind === "refused"
    ? { error: check.reason, advice: check.advice }
    : { error: () => t`This is a media file, not a transcript.`, advice: null };
}

function inWords(error: Error): string {
  if (!(error instanceof ApiError)) return t`The server can't be reached. Try again.`;
  const [first] = error.violations;
  return first === undefined ? error.message : `${first.pointer.replaceAll("/", " ").trim()} ${first.detail}`;
}
