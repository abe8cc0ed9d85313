import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { List, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { markChanged } from "../api/library/pages.ts";
import { deleteRecording } from "../api/library/trash.ts";
import { commentsQuery } from "../api/recording/comments.ts";
import type { View } from "../api/recording/recording.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
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
  const { title } = view.recording;
  const comments = useQuery({ ...commentsQuery(id), enabled: isOpen }).data ?? [];
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
              <Trans>
                Deletes <b dir="auto">{title}</b> for everyone, including:
              </Trans>
            ) : (
              <Trans>
                Moves <b dir="auto">{title}</b> to the trash for everyone, including:
              </Trans>
            )}
          </Text>
          <List spacing={4}>
            {willBeDeleted(view, comments.filter(({ author }) => author !== null).length).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          <WhatDeletingDoes days={days} />
        </Stack>
      </ConfirmForm>
    </Modal>
  );
}

function willBeDeleted(
  { recording, media, participants, transcript, upload_id }: View,
  comments: number,
): string[] {
  const { segments: lines } = transcript;
  const highlights = recording.highlights?.length ?? 0;
  const people = participants.length;
  return [
    ...(media === null
      ? []
      : [
          recording.media_type === "video"
            ? t`the video file and its images`
            : t`the audio file and its images`,
        ]),
    ...(lines === 0 ? [] : [plural(lines, { one: "# transcript line", other: "# transcript lines" })]),
    ...(highlights === 0
      ? []
      : [
          plural(highlights, {
            one: "# highlight, also removed from stories",
            other: "# highlights, also removed from stories",
          }),
        ]),
    ...(comments === 0 ? [] : [plural(comments, { one: "# comment", other: "# comments" })]),
    ...(people === 0 ? [] : [plural(people, { one: "# participant", other: "# participants" })]),
    t`everyone's private notes`,
    ...(upload_id === null ? [] : [t`the upload it came from`]),
    t`its events and pending deliveries`,
  ];
}
