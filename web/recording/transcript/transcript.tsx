import { ActionIcon, Group, Skeleton, Stack, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { type RefObject, useMemo, useRef, useState } from "react";
import type { Segment, Transcript } from "../../api/recording.ts";
import { ErrorState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { SpeakerDialog } from "../dialogs.ts";
import { HistoryButton } from "../history/history-button.tsx";
import { EditText } from "./edit-text.tsx";
import { FindBar } from "./find-bar.tsx";
import { type LineTools, type ListHandle, TranscriptList } from "./list.tsx";
import { NoTranscript, TranscriptionStatus } from "./status.tsx";
import classes from "./transcript.module.css";
import { useUndo } from "./use-edit.ts";
import { useFind } from "./use-find.ts";

/** What was said, with search; or why there is nothing. */
export function TranscriptPane(props: {
  transcript: Transcript | undefined;
  error: unknown;
  retry: () => void;
  findField: RefObject<HTMLInputElement | null>;
}) {
  const { transcript, error, retry, findField } = props;
  return (
    <section className={classes.pane} aria-label="Transcript">
      {transcript !== undefined ? (
        <Words transcript={transcript} findField={findField} />
      ) : error ? (
        <ErrorState error={error} retry={retry} />
      ) : (
        <Loading />
      )}
    </section>
  );
}

function Words({
  transcript,
  findField,
}: {
  transcript: Transcript;
  findField: RefObject<HTMLInputElement | null>;
}) {
  const { view, makeClip } = useRecording();
  const { can } = view;
  const { segments } = transcript;
  const handle = useRef<ListHandle>(null);
  const [speakerOf, setSpeakerOf] = useState<Segment | null>(null);
  const finding = useFind(
    segments,
    () => handle.current?.firstShown() ?? 0,
    (index) => handle.current?.show(index),
  );
  const tools = useMemo(
    (): LineTools => ({
      clip: can.add_highlights ? makeClip : null,
      speaker: can.edit_transcript ? setSpeakerOf : null,
      Editor: can.edit_transcript ? EditText : null,
    }),
    [can.add_highlights, can.edit_transcript, makeClip],
  );
  if (segments.length === 0) return <NoTranscript />;
  return (
    <>
      <Group className={classes.bar ?? ""} gap="xs" wrap="nowrap">
        <FindBar finding={finding} field={findField} />
        {can.edit_transcript && view.transcript.is_edited ? <Undo /> : null}
        {/* Also where all of it was taken back. */}
        {transcript.transcript_version > 0 ? <HistoryButton transcript={transcript} /> : null}
      </Group>
      <TranscriptionStatus />
      <TranscriptList transcript={transcript} finding={finding} handle={handle} tools={tools} />
      <SpeakerDialog transcript={transcript} segment={speakerOf} onClose={() => setSpeakerOf(null)} />
    </>
  );
}

function Undo() {
  const { undo, isPending } = useUndo();
  return (
    <Tooltip label="Take back the last change">
      <ActionIcon
        variant="subtle"
        color="gray"
        size={34}
        aria-label="Take back the last change"
        loading={isPending}
        onClick={undo}
      >
        <IconArrowBackUp size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}

function Loading() {
  return (
    <Stack p="md" gap="lg" aria-busy="true">
      <VisuallyHidden role="status">Loading the transcript</VisuallyHidden>
      {[90, 70, 96, 60, 84].map((width) => (
        <div key={width}>
          <Skeleton height={12} width={120} mb={10} />
          <Skeleton height={14} mb={6} />
          <Skeleton height={14} width={`${width}%`} />
        </div>
      ))}
    </Stack>
  );
}
