import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type { TranscriptEditResult } from "../../../contract/transcript-editing.ts";
import { ApiError } from "../../api/client.ts";
import {
  refreshRecording,
  refreshTranscript,
  type Transcript,
  transcriptQuery,
} from "../../api/recording.ts";
import { useRecording } from "../context.ts";

type Result = z.output<typeof TranscriptEditResult>;

/** What to say of an edit that was refused. */
export function refusalOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 409 && error.transcriptVersion !== null)
    return "Somebody changed the transcript in the meantime, so nothing was changed. It has been loaded anew: please look, and do it again.";
  return error instanceof ApiError ? error.message : "Something went wrong. Nothing was changed.";
}

/** Edits of the transcript as a whole: speakers, and taking back. Told when done, told in plain words when refused. */
export function useTranscriptEdit() {
  const { id } = useRecording();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (edit: { run: (version: number) => Promise<Result>; done: (result: Result) => string }) => {
      const version = client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0;
      return edit.run(version);
    },
    onSuccess: async (result, { done }) => {
      await refreshTranscript(client, id);
      notifications.show({ message: done(result) });
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.status === 409) await refreshTranscript(client, id);
      notifications.show({
        color: "red",
        title: "Not changed",
        message: refusalOf(error),
        autoClose: 10_000,
      });
    },
  });
}

/** Takes back the last edit of the transcript. */
export function useUndo() {
  const { actions } = useRecording();
  const edit = useTranscriptEdit();
  return {
    isPending: edit.isPending,
    undo: () =>
      edit.mutate({ run: (version) => actions.undo(version), done: () => "The last change was taken back" }),
  };
}

/** Gives one segment another text. What is shown changes at once; the rest is not loaded anew. */
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
