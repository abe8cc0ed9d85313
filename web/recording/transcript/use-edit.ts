import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type { TranscriptEditResult } from "../../../contract/transcripts/transcript-editing.ts";
import { ApiError } from "../../api/client/api-error.ts";
import {
  refreshRecording,
  refreshTranscript,
  type Transcript,
  transcriptQuery,
} from "../../api/recording/recording.ts";
import { useRecording } from "../context.ts";

type Result = z.output<typeof TranscriptEditResult>;

/** Whether an edit was refused because the transcript has changed. */
export function isEditConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.transcriptVersion !== null;
}

/** The error text of a failed edit. */
export function editErrorText(error: unknown): string {
  if (isEditConflict(error)) return t`Someone else just edited this. We've reloaded it; please try again.`;
  return error instanceof ApiError ? error.message : t`Something went wrong. Nothing was changed.`;
}

interface Edit {
  readonly run: (version: number) => Promise<Result>;
  readonly done: (result: Result) => string;
  /** Says what was changed before it failed. Default: nothing was. */
  readonly failed?: (error: unknown) => string;
}

/** Runs an edit of speakers, or an undo, and shows a notification with the outcome. */
export function useTranscriptEdit() {
  const { t } = useLingui();
  const { id } = useRecording();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (edit: Edit) => {
      const version = client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0;
      return edit.run(version);
    },
    onSuccess: async (result, { done }) => {
      await refreshTranscript(client, id);
      notifications.show({ message: done(result) });
    },
    onError: async (error, { failed = editErrorText }) => {
      const refreshing = refreshTranscript(client, id);
      if (error instanceof ApiError && error.status === 409) await refreshing;
      notifications.show({
        color: "red",
        title: t`Couldn't edit transcript`,
        message: failed(error),
        autoClose: 10_000,
      });
    },
  });
}

/** Undoes the last edit of the transcript. */
export function useUndo() {
  const { t } = useLingui();
  const { actions } = useRecording();
  const edit = useTranscriptEdit();
  return {
    isPending: edit.isPending,
    undo: () => edit.mutate({ run: (version) => actions.undo(version), done: () => t`Last edit undone` }),
  };
}

/** Changes one segment's text. Updates the cached transcript instead of refetching all of it. */
export function useCorrection() {
  const { id, actions } = useRecording();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ version, index, text }: { version: number; index: number; text: string }) =>
      actions.correct(version, [{ index, text }]),
    onSuccess: (result, { index, text }) => {
      client.setQueryData(transcriptQuery(id).queryKey, (before: Transcript | undefined) =>
        before === undefined
          ? before
          : {
              ...before,
              transcript_version: result.transcript_version,
              segments: before.segments.map((segment) =>
                segment.index === index ? { ...segment, text, is_edited: true } : segment,
              ),
            },
      );
      return refreshRecording(client, id);
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.status === 409) await refreshTranscript(client, id);
    },
  });
}
