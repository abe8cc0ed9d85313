import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Skeleton, Stack, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconArrowBackUp, IconReplace } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { type RefObject, useMemo, useRef, useState } from "react";
import type { Segment, Transcript } from "../../api/recording/recording.ts";
import { draftNames } from "../../common/drafts/store.ts";
import { useDraftOwner } from "../../common/drafts/use-draft.tsx";
import { lazyPart } from "../../common/load-part.tsx";
import { momentOf } from "../../common/recording-url.ts";
import { segmentAt } from "../../common/segments.ts";
import { ErrorState } from "../../common/states.tsx";
import { FindBar } from "../../transcript/find-bar.tsx";
import { type LineTools, type ListHandle, TranscriptList } from "../../transcript/list.tsx";
import classes from "../../transcript/transcript.module.css";
import { useFind } from "../../transcript/use-find.ts";
import { useRecording } from "../context.ts";
import { ReplaceDialog, SpeakerDialog } from "../dialogs.ts";
import { HistoryButton } from "../history/history-button.tsx";
import { useWords } from "../use-words.ts";
import { LineEditor, lineDraft } from "./line-editor.tsx";
import { useUndo } from "./use-edit.ts";

const page = getRouteApi("/signed-in/recordings/$recordingId");

// Most recordings have a transcript, and need neither.
const NoTranscript = lazyPart(async () => (await import("./status.tsx")).NoTranscript);
const TranscriptionStatus = lazyPart(async () => (await import("./status.tsx")).TranscriptionStatus, null);

/** The transcript with search and editing, or why there is none. */
export function TranscriptPane(props: {
  transcript: Transcript | undefined;
  error: unknown;
  retry: () => void;
  findField: RefObject<HTMLInputElement | null>;
}) {
  const { t } = useLingui();
  const { transcript, error, retry, findField } = props;
  return (
    <section className={classes.pane} aria-label={t`Transcript`}>
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
  const { t } = useLingui();
  const { id, view, createClip } = useRecording();
  const { can } = view;
  const { segments } = transcript;
  const state = view.transcript.transcription;
  const words = useWords(id, transcript);
  const handle = useRef<ListHandle>(null);
  const [speakerOf, setSpeakerOf] = useState<Segment | null>(null);
  const found = useFoundWords(segments);
  const finding = useFind(
    segments,
    () => handle.current?.firstShown() ?? 0,
    (index) => handle.current?.show(index),
    found,
  );
  const [isReplacing, setReplacing] = useState(false);
  const owner = useDraftOwner();
  const [unsaved] = useState(() => firstUnsaved(owner, id));
  const tools = useMemo(
    (): LineTools => ({
      clip: can.add_highlights ? createClip : null,
      speaker: can.edit_transcript ? setSpeakerOf : null,
      Editor: can.edit_transcript ? LineEditor : null,
      unsaved: can.edit_transcript ? unsaved : null,
    }),
    [can.add_highlights, can.edit_transcript, createClip, unsaved],
  );
  if (segments.length === 0) return <NoTranscript />;
  return (
    <>
      <Group className={classes.bar ?? ""} gap="xs" wrap="nowrap">
        <FindBar finding={finding} field={findField} />
        {can.edit_transcript ? (
          <Tooltip label={t`Find and replace`}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={34}
              aria-label={t`Find and replace`}
              onClick={() => setReplacing(true)}
            >
              <IconReplace size={18} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        ) : null}
        {can.edit_transcript && view.transcript.is_edited ? <Undo /> : null}
        {/* Also when all edits were reverted. */}
        {transcript.transcript_version > 0 ? <HistoryButton transcript={transcript} /> : null}
      </Group>
      {state !== null && (state.status !== "done" || state.unclear_passages > 0) ? (
        <TranscriptionStatus />
      ) : null}
      <TranscriptList transcript={transcript} words={words} finding={finding} handle={handle} tools={tools} />
      <ReplaceDialog
        isOpen={isReplacing}
        transcript={transcript}
        // The words of a search are no phrase to replace.
        query={finding.query === found.query ? "" : finding.query}
        onClose={() => setReplacing(false)}
      />
      <SpeakerDialog transcript={transcript} segment={speakerOf} onClose={() => setSpeakerOf(null)} />
    </>
  );
}

/** Words of the URL, which a search found, and the segment to start at. */
function useFoundWords(segments: readonly Segment[]) {
  const search = page.useSearch();
  const [initial] = useState(() => ({
    query: search.find ?? "",
    from: Math.max(0, segmentAt(segments, momentOf(search) ?? 0)),
  }));
  return initial;
}

/** `index` of a segment with unsaved text; null without one. */
function firstUnsaved(owner: string, recordingId: string): number | null {
  if (owner === "") return null;
  const start = lineDraft(recordingId, "");
  const [name] = draftNames(owner, start);
  return name === undefined ? null : Number(name.slice(start.length));
}

function Undo() {
  const { t } = useLingui();
  const { undo, isPending } = useUndo();
  return (
    <Tooltip label={t`Undo last edit`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={34}
        aria-label={t`Undo last edit`}
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
      <VisuallyHidden role="status">
        <Trans>Loading transcript</Trans>
      </VisuallyHidden>
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
