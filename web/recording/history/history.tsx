import { Alert, Badge, Button, Group, Loader, Stack, Text, VisuallyHidden } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp, IconArrowForwardUp, IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../../api/client.ts";
import { refreshTranscript, type Transcript, transcriptQuery } from "../../api/recording.ts";
import { type Edit, editsQuery } from "../../api/transcript-history.ts";
import { errorText } from "../../common/actions.tsx";
import { LoadMore } from "../../common/endless.tsx";
import { EmptyState, ErrorState } from "../../common/states.tsx";
import { dayAndTime, fullTime } from "../../common/time.ts";
import { useRecording } from "../context.ts";
import { EditChanges } from "./edit-changes.tsx";
import { deedOf, isRenewal, isUndoable, linesOf, whoOf } from "./edit-words.ts";
import classes from "./history.module.css";

/** Who changed what in the transcript, and when; each with what it changed, and the way back. */
export default function History({ transcript, onClose }: { transcript: Transcript; onClose: () => void }) {
  const { id, view } = useRecording();
  const query = useInfiniteQuery(editsQuery(id));
  const undo = useUndoOne();
  const client = useQueryClient();
  // Somebody edited since the page was loaded: what can be taken back is what stands there now.
  const isBehind = (query.data?.pages[0]?.edits[0]?.transcript_version ?? 0) > transcript.transcript_version;
  useEffect(() => {
    if (isBehind) void client.invalidateQueries({ queryKey: transcriptQuery(id).queryKey, exact: true });
  }, [client, id, isBehind]);
  if (query.isPending)
    return (
      <Group justify="center" p="xl">
        <Loader role="img" aria-label="Loading the changes" />
      </Group>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const edits = query.data.pages.flatMap((page) => page.edits);
  const newest = edits.find(isRenewal)?.number ?? 0;
  if (edits.length === 0)
    return (
      <EmptyState title="No changes yet" icon={<IconHistory size={30} stroke={1.5} />}>
        Whatever people correct in this transcript is listed here, and can be taken back.
      </EmptyState>
    );
  return (
    <Stack gap={0}>
      <VisuallyHidden role="status">{undo.isPending ? "Taking it back" : ""}</VisuallyHidden>
      <ul className={classes.list} aria-label="Changes">
        {edits.map((edit) => (
          <li key={edit.number}>
            <Row
              edit={edit}
              all={edits}
              isFormer={edit.number < newest}
              transcript={transcript}
              onClose={onClose}
              way={
                view.can.edit_transcript && isUndoable(edit, newest) ? (
                  <WayBack edit={edit} all={edits} undo={undo} />
                ) : null
              }
            />
            {undo.isError && undo.variables.number === edit.number ? (
              <Alert color="red" variant="light" role="alert" mt={6}>
                {refusalOf(undo.error)}
              </Alert>
            ) : null}
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </Stack>
  );
}

function Row(props: {
  edit: Edit;
  all: readonly Edit[];
  isFormer: boolean;
  transcript: Transcript;
  onClose: () => void;
  /** What takes it back. */
  way: ReactNode;
}) {
  const { edit, all, isFormer, transcript, onClose, way } = props;
  const { goTo } = useRecording();
  const [isOpen, setOpen] = useState(false);
  const { not_reapplied_count: lost = 0 } = edit.details;
  const deed = deedOf(edit, all);
  return (
    <>
      <Group gap={8} justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm" flex={1} className={classes.deed ?? ""} dir="auto">
          <b>{whoOf(edit)}</b> {deed}
        </Text>
        <Text
          component="time"
          size="xs"
          c="dimmed"
          flex="none"
          dateTime={edit.made_datetime}
          title={fullTime(edit.made_datetime)}
        >
          {dayAndTime(edit.made_datetime)}
        </Text>
      </Group>
      {lost > 0 ? (
        <Text size="sm" c="dimmed">
          {linesOf(lost)} of earlier changes found no place in it.
        </Text>
      ) : null}
      <Group gap={8} mt={4}>
        {edit.undone_by === null ? null : <Mark>Taken back</Mark>}
        {isFormer ? <Mark>Of a former transcript</Mark> : null}
        {isRenewal(edit) ? null : (
          <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide what changed" : "Show what changed"}
            <VisuallyHidden>: {deed}</VisuallyHidden>
          </Button>
        )}
        {way}
      </Group>
      {isOpen ? (
        <EditChanges
          number={edit.number}
          // Places in a former transcript are none in this one.
          segments={isFormer ? [] : transcript.segments}
          onGo={({ start }) => {
            onClose();
            goTo(start);
          }}
        />
      ) : null}
    </>
  );
}

function WayBack(props: { edit: Edit; all: readonly Edit[]; undo: ReturnType<typeof useUndoOne> }) {
  const { edit, all, undo } = props;
  const isBack = edit.kind === "undo";
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={
        isBack ? <IconArrowForwardUp size={14} aria-hidden /> : <IconArrowBackUp size={14} aria-hidden />
      }
      loading={undo.isPending && undo.variables.number === edit.number}
      disabled={undo.isPending}
      onClick={() => undo.mutate(edit)}
    >
      {isBack ? "Bring back" : "Take back"}
      <VisuallyHidden>: {deedOf(edit, all)}</VisuallyHidden>
    </Button>
  );
}

function Mark({ children }: { children: string }) {
  return (
    <Badge variant="default" size="sm" tt="none" fw={500}>
      {children}
    </Badge>
  );
}

/** Takes one edit back, or brings back what it took; the list and the transcript then show it. */
function useUndoOne() {
  const { id, actions } = useRecording();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ number }: Edit) =>
      actions.undo(client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0, number),
    onSuccess: async (_result, { kind }) => {
      await refreshTranscript(client, id);
      notifications.show({
        message: kind === "undo" ? "The change was brought back" : "The change was taken back",
      });
    },
    onError: async () => refreshTranscript(client, id),
  });
}

function refusalOf(error: unknown): string {
  if (!(error instanceof ApiError) || error.status !== 409) return errorText(error);
  if (error.transcriptVersion !== null)
    return "Somebody changed the transcript in the meantime, so nothing was changed. The list is up to date now: please look, and do it again.";
  return "The same places were changed again since, so this can't be taken back alone. Take back the later changes first.";
}
