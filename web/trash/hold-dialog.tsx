import { Trans, useLingui } from "@lingui/react/macro";
import { Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { TrashedRecording } from "../api/library/trash.ts";
import { placeHold } from "../api/settings/retention.ts";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { Form, useForm } from "../common/forms/form.tsx";

export interface HoldDialogProps {
  readonly isOpen: boolean;
  readonly recording: TrashedRecording;
  readonly onClose: () => void;
}

/** Places a legal hold on a recording in the trash, which then stays until the hold is released. */
export function HoldDialog({ isOpen, recording, onClose }: HoldDialogProps) {
  const { t } = useLingui();
  const { title } = recording;
  const [reason, setReason] = useState("");
  const place = useForm({
    run: () => placeHold(recording.id, reason),
    done: t`Hold placed.`,
    refresh: [["trash"], ["legal holds"]],
    onDone: onClose,
  });
  return (
    <FormDialog opened={isOpen} onClose={onClose} title={t`Place hold`} centered>
      <Form form={place} label={t`Place hold`} onCancel={onClose} isDisabled={reason.trim() === ""}>
        <Text size="sm">
          <Trans>
            <b dir="auto">{title}</b> stays in the trash until the hold is released.
          </Trans>
        </Text>
        <Textarea
          label={t`Reason`}
          description={t`Shown to admins before they release the hold.`}
          required
          autosize
          minRows={2}
          maxRows={8}
          maxLength={1000}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={place.errorOf("reason")}
        />
      </Form>
    </FormDialog>
  );
}
