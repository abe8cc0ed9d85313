import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { List, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { markChanged } from "../api/library/pages.ts";
import { deleteRecording } from "../api/library/trash.ts";
import type { View } from "../api/recording/recording.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
import { counted } from "../common/format/count.ts";
import { ConfirmForm } from "../common/forms/confirm.tsx";
import { showDeletedToast } from "../trash/deleted-toast.ts";
import { WhatDeletingDoes } from "../trash/what-deleting-does.tsx";
import { useRecording } from "./context.ts";

/** Lists what will be deleted or moved to the trash, does it, and returns to the library, where a toast can undo it. */
export function DeleteDialog(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Called once deleted, so that the page stops refetching it. */
  onDeleted: () => void;
}) {
  const { t } = useLingui();
  const { isOpen, onClose, onDeleted } = props;
  const { id, view } = useRecording();
  const client = useQueryClient();
  const navigate = useNavigate();
  const days = useQuery({ ...workspaceQuery, enabled: isOpen }).data?.trash_days;
  const showDeleted = (deletion: Awaited<ReturnType<typeof deleteRecording>>): void => {
    onDeleted();
    markChanged(client, [id]);
    void client.invalidateQueries({ queryKey: ["recordings"], refetchType: "none" });
    void client.invalidateQueries({ queryKey: ["trash"] });
    showDeletedToast(client, deletion);
    void navigate({ to: "/" });
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title={t`Delete this recording?`}>
      <ConfirmForm
        label={t`Delete recording`}
        isDisabled={days === undefined}
        run={() => deleteRecording(id)}
        onDone={showDeleted}
        onCancel={onClose}
      >
        <Stack>
          <Text>
            {days === 0 ? (
              <>
                <Trans>
                  Deletes <b dir="auto">{view.recording.title}</b>
                </Trans>
              </>
            ) : (
              <>
                <Trans>
                  Moves <b dir="auto">{view.recording.title}</b> to the trash
                </Trans>
              </>
            )}{" "}
            <Trans>for everyone, including:</Trans>
          </Text>
          <List spacing={4}>
            {willBeDeleted(view).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          <WhatDeletingDoes days={days} />
        </Stack>
      </ConfirmForm>
    </Modal>
  );
}

function willBeDeleted({ recording, media, participants, transcript, upload_id }: View): string[] {
  const highlights = recording.highlights?.length ?? 0;
  return [
    ...(media === null ? [] : [t`the ${recording.media_type} file and its images`]),
    ...some(transcript.segments, t`transcript line`),
    ...some(highlights, "highlight").map((line) => t`${line}, also removed from stories`),
    ...some(participants.length, "participant"),
    "everyone's private notes",
    ...(upload_id === null ? [] : ["the upload it came from"]),
    "its events and pending deliveries",
  ];
}

function some(count: number, one: string): string[] {
  return count === 0 ? [] : [counted(count, one)];
}
