import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { namesInSentence } from "../common/format/names.ts";
import { Form, useForm } from "../common/forms/form.tsx";
import type { RecordingNote } from "./outbox/pieces.ts";
import { transfers } from "./outbox/transfers.ts";
import { discardUnfinished, finishUpload } from "./outbox/unfinished.ts";

export interface SignOutDialogProps {
  /** The user's recordings of which a part may be only in this browser; null: closed. */
  readonly recordings: readonly RecordingNote[] | null;
  readonly onClose: () => void;
  readonly onSignOut: () => Promise<void>;
}

/** Asks before signing out what becomes of recordings that aren't uploaded completely. */
export function SignOutDialog({ recordings, onClose, onSignOut }: SignOutDialogProps) {
  const { t } = useLingui();
  const found = recordings ?? [];
  const live = found.find(({ uploadId }) => transfers.isLive(uploadId));
  const liveTitle = live?.title;
  return (
    <Modal opened={recordings !== null} onClose={onClose} title={t`Unfinished recordings`} centered>
      {live === undefined ? (
        <Choices recordings={found} onClose={onClose} onSignOut={onSignOut} />
      ) : (
        <Stack>
          <Text size="sm">
            <Trans>“{liveTitle}” is being recorded. Stop it before you sign out.</Trans>
          </Text>
          <Group justify="flex-end">
            <Button onClick={onClose} data-autofocus>
              <Trans>Back</Trans>
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

type Choice = "finish" | "keep" | "delete";

const labels: Readonly<Record<Choice, MessageDescriptor>> = {
  finish: msg`Finish upload`,
  keep: msg`Keep and sign out`,
  delete: msg`Delete and sign out`,
};

function Choices(props: {
  recordings: readonly RecordingNote[];
  onClose: () => void;
  onSignOut: () => Promise<void>;
}) {
  const { t } = useLingui();
  const { recordings, onClose, onSignOut } = props;
  const titles = namesInSentence(recordings.map(({ title }) => t`“${title}”`));
  const [choice, setChoice] = useState<Choice>("finish");
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const work = useForm({
    run: async () => {
      if (choice === "finish") {
        const sending = new Set(transfers.list().map(({ uploadId }) => uploadId));
        for (const { uploadId } of recordings)
          if (!sending.has(uploadId)) await finishUpload(uploadId, queryClient);
        onClose();
        const [first] = recordings;
        if (first !== undefined)
          await navigate({ to: "/record/$uploadId", params: { uploadId: first.uploadId } });
        return;
      }
      if (choice === "delete") for (const { uploadId } of recordings) await discardUnfinished(uploadId);
      await transfers.stopAll();
      await onSignOut();
    },
  });
  return (
    <Form
      form={work}
      label={t(labels[choice])}
      color={choice === "delete" ? "red.9" : undefined}
      onCancel={onClose}
    >
      <Text size="sm">
        <Trans>A part of {titles} is stored only in this browser.</Trans>
      </Text>
      <Radio.Group
        label={t`Before you sign out`}
        value={choice}
        onChange={(value) => setChoice(value as Choice)}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="finish"
            label={t`Finish the upload first`}
            description={t`You stay signed in. Sign out when the upload is complete.`}
          />
          <Radio
            value="keep"
            label={t`Keep on this device`}
            description={t`You can finish the upload after signing in again in this browser. The recording is stored unencrypted: don't choose this on a computer that you share.`}
          />
          <Radio
            value="delete"
            label={t`Delete`}
            description={t`Removes the recordings from this browser and, unless they are complete, from the server. This can't be undone.`}
          />
        </Stack>
      </Radio.Group>
    </Form>
  );
}
