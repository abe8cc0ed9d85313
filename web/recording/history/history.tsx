import { t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Badge, Button, Group, Loader, Stack, Text, VisuallyHidden } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp, IconArrowForwardUp, IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../../api/client/api-error.ts";
import { refreshTranscript, type Transcript, transcriptQuery } from "../../api/recording/recording.ts";
import { type Edit, type EditsPage, editsQuery } from "../../api/recording/transcript-history.ts";
import { errorText } from "../../common/actions.tsx";
import { languageName, namesInLine } from "../../common/format/names.ts";
import { dayAndTime, fullTime } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { EmptyState, ErrorState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { describeEdit, editorName, isUndoable, replacesTranscript } from "./describe-edit.ts";
import { EditChanges } from "./edit-changes.tsx";
import classes from "./history.module.css";

/** The transcript's edits, newest first, each with its changes and a button to revert it. */
export default function History({ transcript, onClose }: { transcript: Transcript; onClose: () => void }) {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const query = useInfiniteQuery(editsQuery(id));
  const undo = useUndoOne();
  const client = useQueryClient();
  // Edited since the page was loaded: only the current transcript's edits can be reverted.
  const isBehind = (query.data?.pages[0]?.edits[0]?.transcript_version ?? 0) > transcript.transcript_version;
  useEffect(() => {
    if (isBehind) void client.invalidateQueries({ queryKey: transcriptQuery(id).queryKey, exact: true });
  }, [client, id, isBehind]);
  if (query.isPending)
    return (
      <Group justify="center" p="xl">
        <Loader role="img" aria-label={t`Loading edits`} />
      </Group>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const edits = query.data.pages.flatMap((page) => page.edits);
  const newest = edits.find(replacesTranscript)?.number ?? 0;
  const used = query.data.pages[0]?.transcribed_with ?? null;
  if (edits.length === 0)
    return (
      <EmptyState title={t`No edits yet`} icon={<IconHistory size={30} stroke={1.5} />}>
        <Trans>Edits to this transcript appear here and can be reverted.</Trans>
        {used === null ? null : <TranscribedWith used={used} />}
      </EmptyState>
    );
  return (
    <Stack gap={0}>
      <VisuallyHidden role="status">{undo.isPending ? t`Reverting` : ""}</VisuallyHidden>
      <ul className={classes.list} aria-label={t`Edits`}>
        {edits.map((edit) => (
          <li key={edit.number}>
            <Row
              edit={edit}
              all={edits}
              isFormer={edit.number < newest}
              transcript={transcript}
              onClose={onClose}
              undoButton={
                view.can.edit_transcript && isUndoable(edit, newest) ? (
                  <UndoButton edit={edit} all={edits} undo={undo} />
                ) : null
              }
            />
            {undo.isError && undo.variables.number === edit.number ? (
              <Alert color="red" variant="light" role="alert" mt={6}>
                {revertErrorText(undo.error)}
              </Alert>
            ) : null}
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
      {used === null ? null : <TranscribedWith used={used} />}
    </Stack>
  );
}

/** What the speech model was given for the current transcript. */
function TranscribedWith({ used }: { used: NonNullable<EditsPage["transcribed_with"]> }) {
  const { t } = useLingui();
  const { model, language, vocabulary } = used;
  return (
    <Text size="sm" c="dimmed" mt="sm" component="div">
      {[
        t`Transcribed with ${model}`,
        language === null ? t`Language detected` : t`Language: ${{ language: languageName(language) }}`,
        ...(vocabulary.length === 0
          ? []
          : [t`Vocabulary: ${{ words: namesInLine(vocabulary, vocabulary.length) }}`]),
      ].join(" · ")}
    </Text>
  );
}

function Row(props: {
  edit: Edit;
  all: readonly Edit[];
  isFormer: boolean;
  transcript: Transcript;
  onClose: () => void;
  /** The button that reverts or restores it, if possible. */
  undoButton: ReactNode;
}) {
  const { t } = useLingui();
  const { edit, all, isFormer, transcript, onClose, undoButton } = props;
  const { goTo } = useRecording();
  const [isOpen, setOpen] = useState(false);
  const { not_reapplied_count: lost = 0 } = edit.details;
  const description = describeEdit(edit, all);
  return (
    <>
      <Group gap={8} justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm" flex={1} className={classes.description ?? ""} dir="auto">
          <InBold name={editorName(edit)} sentence={description} />
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
          <Plural
            value={lost}
            one="# line of manual edits couldn't be reapplied."
            other="# lines of manual edits couldn't be reapplied."
          />
        </Text>
      ) : null}
      <Group gap={8} mt={4}>
        {edit.undone_by === null ? null : <Label>{t`Reverted`}</Label>}
        {isFormer ? <Label>{t`From a previous transcript`}</Label> : null}
        {replacesTranscript(edit) ? null : (
          <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t`Hide changes` : t`Show changes`}
            <VisuallyHidden>: {description}</VisuallyHidden>
          </Button>
        )}
        {undoButton}
      </Group>
      {isOpen ? (
        <EditChanges
          number={edit.number}
          // Positions in a previous transcript don't exist in this one.
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

/** A sentence with the first mention of a name in bold. */
function InBold({ name, sentence }: { name: string; sentence: string }) {
  const start = sentence.indexOf(name);
  if (start < 0) return sentence;
  return (
    <>
      {sentence.slice(0, start)}
      <b>{name}</b>
      {sentence.slice(start + name.length)}
    </>
  );
}

function UndoButton(props: { edit: Edit; all: readonly Edit[]; undo: ReturnType<typeof useUndoOne> }) {
  const { t } = useLingui();
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
      {isBack ? t`Restore` : t`Revert`}
      <VisuallyHidden>: {describeEdit(edit, all)}</VisuallyHidden>
    </Button>
  );
}

function Label({ children }: { children: string }) {
  return (
    <Badge variant="default" size="sm" tt="none" fw={500}>
      {children}
    </Badge>
  );
}

/** Reverts an edit, or restores a reverted one. */
function useUndoOne() {
  const { t } = useLingui();
  const { id, actions } = useRecording();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ number }: Edit) =>
      actions.undo(client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0, number),
    onSuccess: async (_result, { kind }) => {
      await refreshTranscript(client, id);
      notifications.show({
        message: kind === "undo" ? t`Edit restored` : t`Edit reverted`,
      });
    },
    onError: async () => refreshTranscript(client, id),
  });
}

function revertErrorText(error: unknown): string {
  if (!(error instanceof ApiError) || error.status !== 409) return errorText(error);
  if (error.transcriptVersion !== null)
    return t`Someone else just edited this. We've reloaded it; please try again.`;
  return t`These lines were edited again later. Revert the later edits first.`;
}
